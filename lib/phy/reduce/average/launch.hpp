#pragma once

#include <complex>
#include <cstddef>
#include <optional>

#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/reduce/average_matvec.hpp"

/// The interface between the host side of gpu::average_matvec() and its kernel.
namespace phy::gpu::detail {

/// Size of the tile of outputs that a block computes. Results do not depend on it.
enum class TileSize { small, large };

/// Types of the elements.
template <class R>
using RealNumber = R;
template <class R>
using ComplexNumber = std::complex<R>;

/// Matrix times means, for all batches.
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

/// As gpu::average_matvec(), for tests that choose the tiles. None: those that suit the device.
template <class T>
void average_matvec_tuned(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                          DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                          cudaStream_t stream, std::optional<TileSize> tiles);

}  // namespace phy::gpu::detail
