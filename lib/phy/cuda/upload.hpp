#pragma once

#include <ranges>

#include "phy/cuda/buffer.hpp"

namespace phy::gpu::detail {

/// Values in new device memory. Waits for the copy.
template <std::ranges::contiguous_range Range>
auto upload(const Device& device, const Range& values) {
    DeviceBuffer<std::ranges::range_value_t<Range>> there(device, std::ranges::size(values));
    const Stream stream(device);
    copy_async(there, values, stream);
    stream.synchronize();
    return there;
}

}  // namespace phy::gpu::detail
