#pragma once

/// The numbers that decide how fast the CUDA scaler is, and nothing else.
namespace phy::gpu::detail {

constexpr unsigned scaler_threads = 256;  ///< a block
constexpr unsigned scaler_groups = 4;     ///< pieces of 16 bytes of output a thread has in flight
constexpr unsigned scaler_blocks_per_multiprocessor = 8;  ///< at most; with yet more to do, blocks loop

}  // namespace phy::gpu::detail
