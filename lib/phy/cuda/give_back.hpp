#pragma once

#include <cuda_runtime_api.h>

#include "phy/cuda/device.hpp"

namespace phy::gpu::detail {

/// Clears an error that is not reported: otherwise the next launch would report it.
inline void clear_error(int code) noexcept {
    if (code != cudaSuccess) cudaGetLastError();
}

/// Calls release() with the device current. Does nothing if the device is lost.
template <typename Release>
void give_back(int device, Release release) noexcept {
    try {
        const CurrentDevice current(device);
        clear_error(release());
    } catch (...) {
        // CUDA has lost the device and everything on it.
    }
}

}  // namespace phy::gpu::detail
