#pragma once

#include <complex>
#include <cstddef>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/reduce/average_matvec.hpp"

namespace phy::gpu {

using phy::average_matvec_workspace;

/// Averages observations and multiplies by a matrix in device memory. The bytes are those of
/// phy::average_matvec(), which also says what the sizes are and which of them are errors.
///
/// A call only starts kernels on the stream, which belongs to the device: it returns at once, allocates
/// nothing, does not wait, and can be captured in a graph. All arrays are in memory that the device can
/// reach, do not overlap, and stay there until the work is done; calls that run at the same time need a
/// workspace and an output each. Any alignment will do; it is fastest where the arrays and all rows of L and
/// of M elements lie at multiples of 16 bytes.
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
