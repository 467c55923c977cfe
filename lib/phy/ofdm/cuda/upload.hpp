#pragma once

#include <span>

#include "phy/cuda/buffer.hpp"

namespace phy::gpu::detail {

/// Copies numbers to device memory, on the stream.
template <typename T>
DeviceBuffer<T> upload(const Device& device, std::span<const T> numbers, cudaStream_t stream) {
    DeviceBuffer<T> there(device, numbers.size());
    copy_async(there, numbers, stream);
    return there;
}

}  // namespace phy::gpu::detail
