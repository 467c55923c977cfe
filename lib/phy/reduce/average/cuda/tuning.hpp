#pragma once

#include <cstddef>
#include <optional>

#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/reduce/average_matvec.hpp"

namespace phy::gpu::detail {

/// Of the outputs that a block makes at a time. It is not seen in a result.
enum class TileSize { small, large };

/// What suits a device with so many multiprocessors.
TileSize suitable_tiles(const AverageShape& shape, int multiprocessors);

/// As gpu::average_matvec(), for tests that choose the tiles; without a choice, they are suitable_tiles().
template <class T>
void average_matvec_tuned(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                          DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                          cudaStream_t stream, std::optional<TileSize> tiles);

}  // namespace phy::gpu::detail
