#pragma once

#include <cstddef>

#include "phy/compression/block_float.hpp"
#include "phy/core/format.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"

namespace phy_test {

/// What a kernel that loads single elements gets: a thread for each, in ci16. On the current device.
void load_elements(const phy::BlockFloatConfig& config, phy::gpu::DeviceSpan<const std::byte> compressed,
                   phy::gpu::DeviceSpan<phy::ci16> elements, cudaStream_t stream);

}  // namespace phy_test
