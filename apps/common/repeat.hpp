#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "phy/cuda/buffer.hpp"

namespace phy::apps {

/// Fills device memory with the host's values, repeated, and waits.
template <typename T>
void fill_repeating(const gpu::Device& device, gpu::DeviceSpan<T> target, std::span<const T> values) {
    const gpu::Stream stream(device);
    std::size_t filled = std::min(target.size(), values.size());
    gpu::copy_async(target.first(filled), values.first(filled), stream);
    while (filled < target.size()) {
        const std::size_t count = std::min(filled, target.size() - filled);
        gpu::copy_async(target.subspan(filled, count), target.first(count), stream);
        filled += count;
    }
    stream.synchronize();
}

}  // namespace phy::apps
