// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include <cstddef>
#include <cstring>

#include "phy/estimator/host/kernels.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/estimator/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/estimator/host/arrays-inl.h"
#include "phy/simd/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

struct Memory {
    static constexpr int width = static_cast<int>(lanes);
    using V = Ops::V;

    static HWY_INLINE V load(const float* from, int left) {
        if (left >= width) return hn::LoadU(d, from);
        return load_up_to(d, from, static_cast<std::size_t>(left));
    }
    static HWY_INLINE V load_reversed(const float* from, int left) {
        if (left >= width) return hn::Reverse(d, hn::LoadU(d, from - (width - 1)));
        HWY_ALIGN float some[lanes] = {};
        for (int i = 0; i < left; ++i)
            some[i] = from[-i];
        return hn::Load(d, some);
    }
    static HWY_INLINE void store(V v, float* to, int left) {
        if (left >= width) {
            hn::StoreU(v, d, to);
            return;
        }
        HWY_ALIGN float some[lanes];
        hn::Store(v, d, some);
        std::memcpy(to, some, static_cast<std::size_t>(left) * sizeof(float));
    }
    static HWY_INLINE void store_reversed(V v, float* to, int left) {
        if (left >= width) {
            hn::StoreU(hn::Reverse(d, v), d, to - (width - 1));
            return;
        }
        HWY_ALIGN float some[lanes];
        hn::Store(v, d, some);
        for (int i = 0; i < left; ++i)
            to[-i] = some[i];
    }
};

/// Keeps `wide` vectors of rows times `deep` columns in registers.
template <int wide, int deep>
HWY_INLINE void multiply_block(const float* HWY_RESTRICT a, std::ptrdiff_t a_stride, int k_count,
                               const float* HWY_RESTRICT x, std::ptrdiff_t x_stride, float* HWY_RESTRICT y,
                               std::ptrdiff_t y_stride, bool accumulates) {
    constexpr std::ptrdiff_t width = Memory::width;
    Ops::V sums[deep][wide];
    for (int c = 0; c < deep; ++c)
        for (int n = 0; n < wide; ++n)
            sums[c][n] = accumulates ? hn::LoadU(d, y + c * y_stride + n * width) : hn::Zero(d);
    for (int k = 0; k < k_count; ++k, a += a_stride) {
        Ops::V row[wide];
        for (int n = 0; n < wide; ++n)
            row[n] = hn::LoadU(d, a + n * width);
        for (int c = 0; c < deep; ++c) {
            const auto factor = hn::Set(d, x[c * x_stride + k]);
            for (int n = 0; n < wide; ++n)
                sums[c][n] = hn::MulAdd(row[n], factor, sums[c][n]);
        }
    }
    for (int c = 0; c < deep; ++c)
        for (int n = 0; n < wide; ++n)
            hn::StoreU(sums[c][n], d, y + c * y_stride + n * width);
}

template <int wide>
HWY_INLINE void multiply_rows(const float* a, std::ptrdiff_t a_stride, int k_count, const float* x,
                              std::ptrdiff_t x_stride, float* y, std::ptrdiff_t y_stride, int columns,
                              bool accumulates) {
    constexpr int deep = lanes >= 16 ? 8 : 4;
    int c = 0;
    for (; c + deep <= columns; c += deep)
        multiply_block<wide, deep>(a, a_stride, k_count, x + c * x_stride, x_stride, y + c * y_stride,
                                   y_stride, accumulates);
    for (; c + 2 <= columns; c += 2)
        multiply_block<wide, 2>(a, a_stride, k_count, x + c * x_stride, x_stride, y + c * y_stride, y_stride,
                                accumulates);
    if (c < columns)
        multiply_block<wide, 1>(a, a_stride, k_count, x + c * x_stride, x_stride, y + c * y_stride, y_stride,
                                accumulates);
}

void multiply(const float* a, int a_stride, int k_count, const float* x, int x_stride, float* y, int y_stride,
              int columns, int n_count, bool accumulates) {
    constexpr int width = Memory::width;
    int n = 0;
    for (; n + 3 * width <= n_count; n += 3 * width)
        multiply_rows<3>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, columns, accumulates);
    for (; n + 2 * width <= n_count; n += 2 * width)
        multiply_rows<2>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, columns, accumulates);
    for (; n < n_count; n += width)
        multiply_rows<1>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, columns, accumulates);
}

}  // namespace

extern constinit const EstimatorKernels estimator_kernels_of_target;
constinit const EstimatorKernels estimator_kernels_of_target =
    EstimatorArrays<Ops, Memory>::kernels(&multiply);

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const EstimatorKernels& estimator_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<EstimatorKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(estimator_kernels_of_target);
    return kernels_of(backend, scalar_estimator_kernels, by_target);
}

}  // namespace phy::detail
#endif
