#pragma once

/// The numbers that decide how fast CUDA Gold sequences are, and nothing else.
namespace phy::gpu::detail {

constexpr unsigned gold_threads = 128;  ///< a block

/// Words of c that a lane makes in a row: the more, the fewer jumps; the fewer, the more warps share a
/// codeword.
constexpr unsigned words_of_lane = 8;

}  // namespace phy::gpu::detail
