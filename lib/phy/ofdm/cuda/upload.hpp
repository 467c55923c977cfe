#pragma once

#include <span>

#include "phy/cuda/buffer.hpp"

namespace phy::gpu::detail {

/// The numbers in device memory, when the stream has got there.
template <typename T>
DeviceBuffer<T> upload(const Device& device, std::span<const T> numbers, cudaStream_t stream) {
    DeviceBuffer<T> there(device, numbers.size());
    copy_async(there, numbers, stream);
    return there;
}

}  // namespace phy::gpu::detail
