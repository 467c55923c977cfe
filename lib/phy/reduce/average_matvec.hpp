#pragma once

#include <complex>
#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// The sizes of a call of average_matvec().
struct AverageShape {
    std::size_t batches = 0;       ///< N: number of matrix-vector products
    std::size_t length = 0;        ///< L: elements of a vector, rows and columns of the matrix; at least 1
    std::size_t observations = 0;  ///< M: observations averaged per element of a vector; at least 1

    friend bool operator==(const AverageShape&, const AverageShape&) = default;
};

/// Bytes of workspace that average_matvec() needs, on the host and on a device: about as many as the output.
/// Throws ArgumentError if length or observations is 0, or if an array would exceed PTRDIFF_MAX bytes.
template <class T>
PHY_EXPORT std::size_t average_matvec_workspace_bytes(const AverageShape& shape);

/// Averages M observations of a vector and multiplies the mean by a matrix, for N batches: for example
/// averaged pilots through a Wiener filter.
///
///     v[n][k] = (in[n][k][0] + ... + in[n][k][M - 1]) / M
///     out[n][l] = matrix[l][0] v[n][0] + ... + matrix[l][L - 1] v[n][L - 1]
///
/// Shapes: in (N, L, M), matrix (L, L), out (N, L); the last index runs fastest. T is float, double or
/// std::complex of either. Nothing is conjugated. Arrays must not overlap. The workspace needs no alignment
/// and its content does not matter. With N = 0 the call does nothing.
///
/// The order of operations is fixed, so every backend, number of threads, alignment and split of batches into
/// calls gives the same bytes. A mean is that of reduce_rows<Mean<T>>(): a sum in the order of row_tree,
/// divided by M. An output starts as +0 and adds its products by fma in the order of k. At the end +0 is
/// added, so no output is -0. A complex product of m = matrix[l][k] and v = v[n][k] is four fmas:
///
///     re = fma(m.re, v.re, re);  re = fma(-m.im, v.im, re);
///     im = fma(m.re, v.im, im);  im = fma(m.im, v.re, im)
///
/// NaN outputs have the bits that reduce_rows() gives them.
///
/// Precision: let u be the unit roundoff of the format (float: 2^-24, double: 2^-53), and D the number that
/// reduce/tree.hpp defines for rows of M elements (39 for M up to 4096). To first order in u, the error of an
/// output is at most (D + 1 + L) u times the sum over k of |matrix[l][k]| times the mean of |in[n][k]|. For a
/// component of a complex output the factor is (D + 1 + 2 L) u, and |.| is the sum of the magnitudes of both
/// components. This holds unless a result overflows or underflows.
///
/// Throws ArgumentError, before it writes anything, as average_matvec_workspace_bytes() does, and unless in,
/// matrix and out have N L M, L L and N L elements and the workspace has at least
/// average_matvec_workspace_bytes<T>() bytes.
///
/// The threads of the host share a call. Allocates nothing. Calls may run at the same time if each has its
/// own workspace and output.
template <class T>
PHY_EXPORT void average_matvec(const Host& host, std::span<const T> in, const AverageShape& shape,
                               std::span<const T> matrix, std::span<T> out, std::span<std::byte> workspace);

#define PHY_DECLARE_AVERAGE_MATVEC(T)                                                            \
    extern template std::size_t average_matvec_workspace_bytes<T>(const AverageShape& shape);    \
    extern template void average_matvec<T>(const Host& host, std::span<const T> in,              \
                                           const AverageShape& shape, std::span<const T> matrix, \
                                           std::span<T> out, std::span<std::byte> workspace);
PHY_DECLARE_AVERAGE_MATVEC(float)
PHY_DECLARE_AVERAGE_MATVEC(double)
PHY_DECLARE_AVERAGE_MATVEC(std::complex<float>)
PHY_DECLARE_AVERAGE_MATVEC(std::complex<double>)
#undef PHY_DECLARE_AVERAGE_MATVEC

}  // namespace phy

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
