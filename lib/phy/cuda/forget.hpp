#pragma once

#include <cuda_runtime_api.h>

namespace phy::gpu::detail {

/// For an error that nobody is told of, or the next launch would be blamed for it.
inline void forget(int code) noexcept {
    if (code != cudaSuccess) cudaGetLastError();
}

}  // namespace phy::gpu::detail
