// Matrices of binary64, which are solved once per slot.
#if defined(PHY_ESTIMATOR_MATRIX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_ESTIMATOR_MATRIX_INL_H_
#undef PHY_ESTIMATOR_MATRIX_INL_H_
#else
#define PHY_ESTIMATOR_MATRIX_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

#ifdef HWY_TARGET_INCLUDE
struct Doubles {
    static constexpr hn::ScalableTag<double> tag{};
    using V = hn::Vec<hn::ScalableTag<double>>;
    static constexpr int count = HWY_LANES(double);
    static HWY_INLINE V set(double x) { return hn::Set(tag, x); }
    static HWY_INLINE V load(const double* from) { return hn::LoadU(tag, from); }
    static HWY_INLINE void store(V x, double* to) { hn::StoreU(x, tag, to); }
    static HWY_INLINE double first(V x) { return hn::GetLane(x); }
    static HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
    static HWY_INLINE V fma(V a, V b, V c) { return hn::MulAdd(a, b, c); }
    static HWY_INLINE V nfma(V a, V b, V c) { return hn::NegMulAdd(a, b, c); }
};
#else
struct Doubles {
    using V = double;
    static constexpr int count = 1;
    static V set(double x) { return x; }
    static V load(const double* from) { return *from; }
    static void store(V x, double* to) { *to = x; }
    static double first(V x) { return x; }
    static V mul(V a, V b) { return a * b; }
    static V fma(V a, V b, V c) { return std::fma(a, b, c); }
    static V nfma(V a, V b, V c) { return std::fma(-a, b, c); }
};
#endif

/// Keeps `wide` vectors of `deep` rows of y in registers.
template <int wide, int deep>
PHY_INLINE void multiply_block(const double* a, std::ptrdiff_t a_stride, int k_count, const double* x,
                               std::ptrdiff_t x_stride, double* y, std::ptrdiff_t y_stride) {
    Doubles::V sums[deep][wide];
    for (int r = 0; r < deep; ++r)
        for (int n = 0; n < wide; ++n)
            sums[r][n] = Doubles::set(0.0);
    for (int k = 0; k < k_count; ++k, a += a_stride) {
        Doubles::V row[wide];
        for (int n = 0; n < wide; ++n)
            row[n] = Doubles::load(a + n * Doubles::count);
        for (int r = 0; r < deep; ++r) {
            const Doubles::V factor = Doubles::set(x[r * x_stride + k]);
            for (int n = 0; n < wide; ++n)
                sums[r][n] = Doubles::fma(row[n], factor, sums[r][n]);
        }
    }
    for (int r = 0; r < deep; ++r)
        for (int n = 0; n < wide; ++n)
            Doubles::store(sums[r][n], y + r * y_stride + n * Doubles::count);
}

template <int wide>
PHY_INLINE void multiply_rows(const double* a, std::ptrdiff_t a_stride, int k_count, const double* x,
                              std::ptrdiff_t x_stride, double* y, std::ptrdiff_t y_stride, int rows) {
    constexpr int deep = Doubles::count >= 8 ? 8 : Doubles::count > 1 ? 4 : 1;
    int r = 0;
    for (; r + deep <= rows; r += deep)
        multiply_block<wide, deep>(a, a_stride, k_count, x + r * x_stride, x_stride, y + r * y_stride,
                                   y_stride);
    for (; r < rows; ++r)
        multiply_block<wide, 1>(a, a_stride, k_count, x + r * x_stride, x_stride, y + r * y_stride, y_stride);
}

void multiply_exactly(const double* a, int a_stride, int k_count, const double* x, int x_stride, double* y,
                      int y_stride, int rows, int n_count) {
    constexpr int widest = Doubles::count > 1 ? 3 : 1;
    int n = 0;
    for (; n + widest * Doubles::count <= n_count; n += widest * Doubles::count)
        multiply_rows<widest>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, rows);
    for (; n < n_count; n += Doubles::count)
        multiply_rows<1>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, rows);
}

/// Some pivots: numbers that all rows need.
template <int count>
struct Pivots {
    const double* rows;
    int width;
    const int* columns;
    Doubles::V over[count];           ///< 1 / pivot
    Doubles::V across[count][count];  ///< of each row, in the columns of all

    PHY_INLINE Pivots(const double* from, int row_width, const int* at)
        : rows(from), width(row_width), columns(at) {
        for (int p = 0; p < count; ++p) {
            const double* const row = rows + static_cast<std::ptrdiff_t>(p) * width;
            over[p] = Doubles::set(1.0 / row[columns[p]]);
            for (int q = 0; q < count; ++q)
                across[p][q] = Doubles::set(row[columns[q]]);
        }
    }

    /// Eliminates them one after the other from each of `deep` rows.
    template <int deep>
    PHY_INLINE void eliminate(double* row) const {
        Doubles::V factors[deep][count];
        Doubles::V kept[deep][count];
        for (int r = 0; r < deep; ++r) {
            for (int q = 0; q < count; ++q) {
                Doubles::V x = Doubles::set(row[r * width + columns[q]]);
                for (int p = 0; p < q; ++p)
                    x = Doubles::nfma(factors[r][p], across[p][q], x);
                factors[r][q] = Doubles::mul(x, over[q]);
            }
            for (int q = 0; q < count; ++q) {
                kept[r][q] = factors[r][q];
                for (int p = q + 1; p < count; ++p)
                    kept[r][q] = Doubles::nfma(factors[r][p], across[p][q], kept[r][q]);
            }
        }
        for (int n = 0; n < width; n += Doubles::count) {
            Doubles::V x[deep];
            for (int r = 0; r < deep; ++r)
                x[r] = Doubles::load(row + r * width + n);
            for (int p = 0; p < count; ++p) {
                const Doubles::V pivot = Doubles::load(rows + p * width + n);
                for (int r = 0; r < deep; ++r)
                    x[r] = Doubles::nfma(factors[r][p], pivot, x[r]);
            }
            for (int r = 0; r < deep; ++r)
                Doubles::store(x[r], row + r * width + n);
        }
        for (int r = 0; r < deep; ++r)
            for (int q = 0; q < count; ++q)
                row[r * width + columns[q]] = Doubles::first(kept[r][q]);
    }
};

template <int count>
PHY_INLINE void eliminate_some(const double* pivots, int width, const int* columns, double* row, int rows) {
    const Pivots<count> some(pivots, width, columns);
    constexpr int deep = Doubles::count > 1 ? 2 : 1;
    int r = 0;
    for (; r + deep <= rows; r += deep, row += static_cast<std::ptrdiff_t>(deep) * width)
        some.template eliminate<deep>(row);
    for (; r < rows; ++r, row += width)
        some.template eliminate<1>(row);
}

void eliminate(double* rows, int width, int count, const int* columns, int pivots) {
    constexpr int at_once = 4;
    const auto row = [=](int r) { return rows + static_cast<std::ptrdiff_t>(r) * width; };
    int p = 0;
    for (; p + at_once <= pivots; p += at_once) {
        const int next = p + at_once;
        for (int q = p; q + 1 < next; ++q)
            eliminate_some<1>(row(q), width, columns + q, row(q + 1), next - q - 1);
        eliminate_some<at_once>(row(p), width, columns + p, row(next), count - next);
    }
    for (; p < pivots; ++p)
        eliminate_some<1>(row(p), width, columns + p, row(p + 1), count - p - 1);
}

void scale_delays(const double* x, const double* factors, int count, double* out) {
    int i = 0;
    for (; i + Doubles::count <= count; i += Doubles::count)
        Doubles::store(Doubles::mul(Doubles::load(x + i), Doubles::load(factors + i)), out + i);
    for (; i < count; ++i)
        out[i] = x[i] * factors[i];
}

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
