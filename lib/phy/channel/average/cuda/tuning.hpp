#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/channel/average/math/sizes.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/measure/tree.hpp"

namespace phy::gpu::detail {

/// How a call is spread over a device. None of it is seen in a result.
struct AverageTuning {
    std::size_t late;  ///< batches at the end that are averaged while the others are multiplied, or 0
    bool large_tiles;  ///< of the outputs that are multiplied alone: of the late batches, or else of all
};

/// What suits a device with so many multiprocessors. may_be_late: late batches are possible.
AverageTuning average_tuning(const AverageShape& shape, std::size_t bytes_of_component,
                             std::size_t components, bool may_be_late, int multiprocessors);

/// Batches are averaged while others are multiplied only in rows of at most so many elements.
inline constexpr std::size_t most_late_observations = row_tree.block;

/// As gpu::average_matvec(), for tests and benchmarks that tune it. No tuning means the best that is known.
/// late is at most shape.batches, and 0 where there are more than most_late_observations; where rows of the
/// matrix do not lie at multiples of 16 bytes, it is taken for 0.
template <class T>
void average_matvec_tuned(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                          DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                          cudaStream_t stream, const AverageTuning* tuning);

}  // namespace phy::gpu::detail
