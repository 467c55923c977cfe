#pragma once

#include <complex>
#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// What average_matvec() works on.
struct AverageShape {
    std::size_t batches = 0;       ///< N: matrix times vector so many times
    std::size_t length = 0;        ///< L of a vector, and of both sides of the matrix: at least 1
    std::size_t observations = 0;  ///< M: what is averaged for each element of a vector: at least 1

    friend bool operator==(const AverageShape&, const AverageShape&) = default;
};

/// How many bytes of workspace average_matvec() needs, on the host and on a device: about those of the
/// output. Throws ArgumentError if length or observations is 0, or if an array would have more bytes than
/// PTRDIFF_MAX.
template <class T>
PHY_EXPORT std::size_t average_matvec_workspace(const AverageShape& shape);

/// Averages M observations of a vector, and multiplies the mean by a matrix, for N batches: averaged pilots
/// through a Wiener filter.
///
///     v[n][k] = (in[n][k][0] + ... + in[n][k][M - 1]) / M
///     out[n][l] = matrix[l][0] v[n][0] + ... + matrix[l][L - 1] v[n][L - 1]
///
/// in: (N, L, M), matrix: (L, L), out: (N, L), all with the last index running fastest. T is float, double or
/// std::complex of one of them. Nothing is conjugated.
///
/// The order of the operations is part of the result, so that it has the same bits for every backend, number
/// of threads, alignment and way to cut the batches into calls. A mean is that of reduce_rows<Mean<T>>(): a
/// sum in the order of row_tree, divided by M. An output begins as +0, takes its products by fma in the order
/// of k, one after another, and ends with the addition of +0, so that no output is -0. A product of complex
/// numbers is four fmas, of m = matrix[l][k] and v = v[n][k]:
///
///     re = fma(m.re, v.re, re);  re = fma(-m.im, v.im, re);  im = fma(m.re, v.im, im);  im = fma(m.im, v.re,
///     im)
///
/// What is not a number has the bits that reduce_rows() gives it.
///
/// Precision: with the unit roundoff u of the format (float: 2^-24, double: 2^-53) and the D that
/// reduce/tree.hpp has for rows of M elements (39 where M is at most 4096), the error of an output is at
/// most (D + 1 + L) u, to first order in u, times the sum over k of |matrix[l][k]| times the mean of
/// |in[n][k]|. For a component of a complex output it is (D + 1 + 2 L) u, and |.| the sum of the magnitudes
/// of both components. This holds as long as nothing overflows or underflows.
///
/// The threads of the host share a call. Nothing is allocated. Calls may run at the same time with a
/// workspace and an output each. Spans do not overlap; neither what the workspace holds nor its alignment
/// matters. No batches: nothing is done.
///
/// Throws ArgumentError, before anything is written, as average_matvec_workspace() does, or unless in, matrix
/// and out have N L M, L L and N L elements and the workspace at least average_matvec_workspace<T>() bytes.
template <class T>
PHY_EXPORT void average_matvec(const Host& host, std::span<const T> in, const AverageShape& shape,
                               std::span<const T> matrix, std::span<T> out, std::span<std::byte> workspace);

#define PHY_DECLARE_AVERAGE_MATVEC(T)                                                            \
    extern template std::size_t average_matvec_workspace<T>(const AverageShape& shape);          \
    extern template void average_matvec<T>(const Host& host, std::span<const T> in,              \
                                           const AverageShape& shape, std::span<const T> matrix, \
                                           std::span<T> out, std::span<std::byte> workspace);
PHY_DECLARE_AVERAGE_MATVEC(float)
PHY_DECLARE_AVERAGE_MATVEC(double)
PHY_DECLARE_AVERAGE_MATVEC(std::complex<float>)
PHY_DECLARE_AVERAGE_MATVEC(std::complex<double>)
#undef PHY_DECLARE_AVERAGE_MATVEC

}  // namespace phy
