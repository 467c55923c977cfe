#pragma once

#include <cstddef>

#include "phy/cuda/stream.hpp"
#include "phy/reduce/average/cuda/tuning.hpp"

/// The interface between the host's side of average_matvec() on a device and its kernels.
namespace phy::gpu::detail {

/// Matrix times means, for batches.
template <class T>
struct MultiplyCall {
    const T* matrix;
    const T* means;  ///< at a multiple of 16 bytes
    T* out;
    std::size_t batches;
    std::size_t length;
};

/// Starts a kernel on the current device.
template <class T>
void start_multiply(const MultiplyCall<T>& call, TileSize tiles, cudaStream_t stream);

}  // namespace phy::gpu::detail
