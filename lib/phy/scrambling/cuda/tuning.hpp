#pragma once

/// The numbers that decide how fast CUDA scrambling is, and nothing else.
namespace phy::gpu::detail {

constexpr unsigned scrambling_threads = 128;  ///< a block

/// Words of c that a lane makes in a row: the more, the fewer jumps; the fewer, the more warps share a
/// codeword.
constexpr unsigned words_of_lane = 4;

/// Pieces of 16 bytes that a lane has in flight.
constexpr unsigned scrambling_groups = 8;

}  // namespace phy::gpu::detail
