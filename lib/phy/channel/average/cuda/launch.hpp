#pragma once

#include <cstddef>

#include "phy/channel/average_matvec.hpp"
#include "phy/cuda/stream.hpp"

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

/// Means of rows of at most most_late_observations.
template <class T>
struct MeansCall {
    const T* in;
    T* means;
    std::size_t rows;
    std::size_t observations;
};

/// Starts a kernel on the current device.
template <class T>
void start_multiply(const MultiplyCall<T>& call, bool large_tiles, cudaStream_t stream);

/// One that does both at the same time.
template <class T>
void start_both(const MultiplyCall<T>& multiply, const MeansCall<T>& means, cudaStream_t stream);

}  // namespace phy::gpu::detail
