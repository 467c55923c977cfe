#pragma once

/// The numbers that decide how fast the CUDA equaliser is, and nothing else.
namespace phy::gpu::detail {

constexpr unsigned equalizer_threads = 128;  ///< a block
constexpr unsigned whitening_threads = 128;

/// Blocks a multiprocessor up to which the symbols of a group are dealt to more of them, each of which makes
/// the filters again: as many as there is room for at once.
constexpr unsigned equalizer_blocks_wanted = 4;

}  // namespace phy::gpu::detail
