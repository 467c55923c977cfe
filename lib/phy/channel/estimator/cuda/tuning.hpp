#pragma once

/// The numbers that decide how fast the CUDA estimator is, and nothing else.
namespace phy::gpu::detail {

constexpr int estimator_threads = 256;  ///< of a block, where nothing else is said
constexpr int projection_modes = 48;    ///< of a block of the projection
constexpr int projection_columns = 32;  ///< complex ones
constexpr int modes_of_thread = 4;
constexpr int columns_of_thread = 4;  ///< real ones
constexpr int projection_threads =
    projection_modes / modes_of_thread * 2 * projection_columns / columns_of_thread;
constexpr int synthesis_group = 8;    ///< columns of antennas and estimates of a block
constexpr int synthesis_columns = 4;  ///< of a thread

}  // namespace phy::gpu::detail
