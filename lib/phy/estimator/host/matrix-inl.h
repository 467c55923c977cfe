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

void eliminate(double* rows, int width, int count, int column) {
    const double over_pivot = 1.0 / rows[column];
    for (int r = 1; r < count; ++r) {
        double* const row = rows + static_cast<std::ptrdiff_t>(r) * width;
        const double factor = row[column] * over_pivot;
        const Doubles::V factors = Doubles::set(factor);
        for (int n = 0; n < width; n += Doubles::count)
            Doubles::store(Doubles::nfma(factors, Doubles::load(rows + n), Doubles::load(row + n)), row + n);
        row[column] = factor;
    }
}

void scale_delays(const double* x, const double* factors, int count, double* out) {
    for (int i = 0; i < count; ++i)
        out[i] = x[i] * factors[i];
}

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
