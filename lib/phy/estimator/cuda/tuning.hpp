#pragma once

/// Tuning of the CUDA estimator: these numbers change the speed alone.
namespace phy::gpu::detail {

constexpr int estimator_threads = 256;   ///< per block, unless stated otherwise
constexpr int transform_threads = 96;    ///< per window of pilots
constexpr int placement_threads = 1024;  ///< at least estimator_max_bins
constexpr int filter_threads = 256;      ///< per block that makes matrices M
constexpr int projection_modes = 32;     ///< per block of the projection
constexpr int projection_column_lanes = 8;
constexpr int modes_of_thread = 4;
constexpr int projection_threads = projection_modes / modes_of_thread * projection_column_lanes;
constexpr int columns_of_thread = 4;         ///< real ones
constexpr int columns_of_thread_if_few = 1;  ///< if the GPU would not be full otherwise
constexpr int few_column_blocks = 16;        ///< max blocks of all slots that count as few
constexpr int synthesis_threads = 192;
constexpr int synthesis_group = 8;         ///< columns of antennas and estimates per block
constexpr int synthesis_group_if_few = 2;  ///< if the GPU would not be full otherwise
constexpr int synthesis_columns = 8;       ///< ports, antennas and estimates per thread
constexpr int synthesis_columns_if_few = 2;
constexpr int synthesis_units_if_few = 48;    ///< min blocks that share the tiles of some columns
constexpr int synthesis_blocks_of_all = 512;  ///< from this many blocks on, tiles are not shared
constexpr int few_blocks = 256;
constexpr int residual_threads = 192;    ///< per subband
constexpr int covariance_threads = 320;  ///< per slot, at least antennas x antennas

/// Kernels of few slots leave a GPU partly idle, so the next one is launched early. Kernels of more slots
/// fill it, and an early launch would take space from other work.
constexpr bool starts_early(unsigned slots) {
    return slots <= 16;
}

}  // namespace phy::gpu::detail
