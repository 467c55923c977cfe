#pragma once

#include <complex>
#include <cstddef>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/reduce/average_matvec.hpp"

namespace phy::gpu {

using phy::average_matvec_workspace_bytes;

/// Averages observations and multiplies by a matrix in device memory. Sizes, errors and output bytes are
/// those of phy::average_matvec().
///
/// A call starts kernels on the stream, which belongs to the device. It returns at once, does not allocate or
/// wait, and can be captured in a graph. All arrays must be accessible to the device, must not overlap, and
/// must stay valid until the work is done. Calls that run at the same time need their own workspace and
/// output. Any alignment works; the fastest is 16 bytes for arrays, rows of L elements and rows of M
/// elements.
template <class T>
PHY_EXPORT void average_matvec(const Device& device, DeviceSpan<const T> in, const AverageShape& shape,
                               DeviceSpan<const T> matrix, DeviceSpan<T> out, DeviceSpan<std::byte> workspace,
                               cudaStream_t stream);

#define PHY_DECLARE_AVERAGE_MATVEC(T)                                                                        \
    extern template void average_matvec<T>(                                                                  \
        const Device& device, DeviceSpan<const T> in, const AverageShape& shape, DeviceSpan<const T> matrix, \
        DeviceSpan<T> out, DeviceSpan<std::byte> workspace, cudaStream_t stream);
PHY_DECLARE_AVERAGE_MATVEC(float)
PHY_DECLARE_AVERAGE_MATVEC(double)
PHY_DECLARE_AVERAGE_MATVEC(std::complex<float>)
PHY_DECLARE_AVERAGE_MATVEC(std::complex<double>)
#undef PHY_DECLARE_AVERAGE_MATVEC

}  // namespace phy::gpu
