#pragma once

#include <vector>

#include "phy/cuda/buffer.hpp"

namespace phy::gpu::detail {

/// The numbers in device memory, when the stream has got there.
template <typename T>
DeviceBuffer<T> upload(const Device& device, const std::vector<T>& numbers, cudaStream_t stream) {
    DeviceBuffer<T> there(device, numbers.size());
    copy_async(there, numbers, stream);
    return there;
}

}  // namespace phy::gpu::detail
