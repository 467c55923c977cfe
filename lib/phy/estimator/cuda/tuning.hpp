#pragma once

/// The numbers that decide how fast the CUDA estimator is, and nothing else.
namespace phy::gpu::detail {

constexpr int estimator_threads = 256;  ///< of a block, where nothing else is said
constexpr int projection_modes = 48;    ///< of a block of the projection
constexpr int projection_column_lanes = 8;
constexpr int modes_of_thread = 4;
constexpr int projection_threads = projection_modes / modes_of_thread * projection_column_lanes;
constexpr int columns_of_thread = 4;         ///< real ones
constexpr int columns_of_thread_if_few = 1;  ///< where the GPU would not be full otherwise
constexpr int few_column_blocks = 16;        ///< of all slots: what is few, as tiles may be as few as one
constexpr int synthesis_threads = 192;
constexpr int synthesis_group = 8;         ///< columns of antennas and estimates of a block
constexpr int synthesis_group_if_few = 2;  ///< where the GPU would not be full otherwise
constexpr int synthesis_columns = 8;       ///< of ports, antennas and estimates of a thread
constexpr int synthesis_columns_if_few = 2;
constexpr int synthesis_units_if_few = 48;    ///< blocks that share the tiles of some columns, at least
constexpr int synthesis_blocks_of_all = 512;  ///< from so many on a tile is not shared
constexpr int few_blocks = 256;

/// Kernels of so many slots leave a GPU partly idle, and are got ready early. Of more they fill it, and one
/// that is got ready would take room from what runs beside.
constexpr bool starts_early(unsigned slots) {
    return slots <= 16;
}

}  // namespace phy::gpu::detail
