#pragma once

#include <cstddef>

#include "phy/compression/block_float.hpp"
#include "phy/core/format.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"

namespace phy_test {

/// Loads single elements in a kernel on the current device, one thread per element, as ci16.
void load_elements(const phy::BlockFloatConfig& config, phy::gpu::DeviceSpan<const std::byte> compressed,
                   phy::gpu::DeviceSpan<phy::ci16> elements, cudaStream_t stream);

}  // namespace phy_test
