#pragma once

#include <cuda_runtime_api.h>

#include "phy/cuda/device.hpp"

namespace phy::gpu::detail {

/// For an error that nobody is told of, or the next launch would be blamed for it.
inline void clear_error(int code) noexcept {
    if (code != cudaSuccess) cudaGetLastError();
}

/// Calls release() with the device current. If there is none any more, there is nothing to give back.
template <typename Release>
void give_back(int device, Release release) noexcept {
    try {
        const CurrentDevice current(device);
        clear_error(release());
    } catch (...) {
        // The device was given up, and what belongs to it.
    }
}

}  // namespace phy::gpu::detail
