#pragma once

/// Tuning of the CUDA equaliser: these numbers change the speed alone.
namespace phy::gpu::detail {

constexpr unsigned equalizer_threads = 128;  ///< per block
constexpr unsigned whitening_threads = 128;

/// Max blocks per multiprocessor that share the symbols of a group. Each makes the filters again, so only as
/// many as can be resident at once.
constexpr unsigned equalizer_blocks_wanted = 4;

}  // namespace phy::gpu::detail
