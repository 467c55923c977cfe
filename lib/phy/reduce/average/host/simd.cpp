// Whole vectors at a time, compiled by Highway for every instruction set of the list: neighbouring lanes are
// neighbouring batches.

#include <algorithm>

#include "phy/reduce/average/host/kernels.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/reduce/average/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/reduce/average/math/products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors whose sums are in registers at a time, of neighbouring batches and so many outputs.
constexpr std::size_t vectors = 2;
constexpr std::size_t registers = HWY_TARGET == HWY_AVX2 ? 16 : 32;
template <class T>
constexpr std::size_t max_rows = registers / 4 * sizeof(typename ComponentOfNumber<T>::Type) / sizeof(T);

template <class R>
using Vector = hn::Vec<hn::ScalableTag<R>>;

/// The sums of outputs of a matrix's rows, for vectors of batches.
template <class R, std::size_t rows>
struct RealRows {
    RealSum<Vector<R>> sums[rows][vectors];

    HWY_INLINE void run(const R* matrix, std::size_t length, const R* means) {
        constexpr hn::ScalableTag<R> tag;
        constexpr std::size_t width = HWY_LANES(R);
        for (auto& row : sums)
            for (auto& sum : row)
                sum.value = hn::Zero(tag);
        for (std::size_t k = 0; k < length; ++k) {
            const R* const at = means + k * Multiplication<R>::step;
            const auto first = hn::Load(tag, at);
            const auto second = hn::Load(tag, at + width);
#pragma GCC unroll 8
            for (std::size_t i = 0; i < rows; ++i) {
                const auto m = hn::Set(tag, matrix[i * length + k]);
                sums[i][0].add(m, first);
                sums[i][1].add(m, second);
            }
        }
    }

    HWY_INLINE void store(std::size_t i, R* re, R* /*im*/) const {
        constexpr hn::ScalableTag<R> tag;
        hn::Store(sums[i][0].value, tag, re);
        hn::Store(sums[i][1].value, tag, re + HWY_LANES(R));
    }
};

template <class R, std::size_t rows>
struct ComplexRows {
    ComplexSum<Vector<R>> sums[rows][vectors];

    HWY_INLINE void run(const std::complex<R>* matrix, std::size_t length, const R* means) {
        constexpr hn::ScalableTag<R> tag;
        constexpr std::size_t width = HWY_LANES(R);
        constexpr std::size_t batches = panel_batches<std::complex<R>>();
        for (auto& row : sums)
            for (auto& sum : row)
                sum = {hn::Zero(tag), hn::Zero(tag)};
        for (std::size_t k = 0; k < length; ++k) {
            const R* const re = means + k * Multiplication<std::complex<R>>::step;
            const R* const im = re + batches;
            const Vector<R> v_re[vectors] = {hn::Load(tag, re), hn::Load(tag, re + width)};
            const Vector<R> v_im[vectors] = {hn::Load(tag, im), hn::Load(tag, im + width)};
#pragma GCC unroll 8
            for (std::size_t i = 0; i < rows; ++i) {
                const auto& m = reinterpret_cast<const R(&)[2]>(matrix[i * length + k]);
                const auto m_re = hn::Set(tag, m[0]);
                const auto m_im = hn::Set(tag, m[1]);
                sums[i][0].add(m_re, m_im, v_re[0], v_im[0]);
                sums[i][1].add(m_re, m_im, v_re[1], v_im[1]);
            }
        }
    }

    HWY_INLINE void store(std::size_t i, R* re, R* im) const {
        constexpr hn::ScalableTag<R> tag;
        hn::Store(sums[i][0].re, tag, re);
        hn::Store(sums[i][1].re, tag, re + HWY_LANES(R));
        hn::Store(sums[i][0].im, tag, im);
        hn::Store(sums[i][1].im, tag, im + HWY_LANES(R));
    }
};

template <class T, std::size_t rows>
struct RowsOf {
    using Type = RealRows<T, rows>;
};
template <class R, std::size_t rows>
struct RowsOf<std::complex<R>, rows> {
    using Type = ComplexRows<R, rows>;
};

/// The outputs l to l + rows - 1 of all batches of a panel.
template <std::size_t rows, class T>
HWY_INLINE void multiply_rows(const Multiplication<T>& job, std::size_t panel, std::size_t l) {
    using R = typename Multiplication<T>::Component;
    constexpr std::size_t together = vectors * HWY_LANES(R);
    const std::size_t used = job.used(panel);
    for (std::size_t first = 0; first < used; first += together) {
        typename RowsOf<T, rows>::Type sums;
        sums.run(job.matrix + l * job.length, job.length, job.panel(panel) + first);
        HWY_ALIGN R re[rows][together];
        HWY_ALIGN R im[rows][together];
        for (std::size_t i = 0; i < rows; ++i)
            sums.store(i, re[i], im[i]);
        const std::size_t count = std::min(together, used - first);
        for (std::size_t batch = 0; batch < count; ++batch) {
            T* const to = &job.result(panel, first + batch, l);
            for (std::size_t i = 0; i < rows; ++i) {
                if constexpr (ComponentOfNumber<T>::is_complex)
                    to[i] = {finished(re[i][batch]), finished(im[i][batch])};
                else
                    to[i] = finished(re[i][batch]);
            }
        }
    }
}

template <class T>
void multiply(const Multiplication<T>& job, std::size_t panel, std::size_t first, std::size_t end) {
    constexpr std::size_t rows = max_rows<T>;
    std::size_t l = first;
    for (; l + rows <= end; l += rows)
        multiply_rows<rows>(job, panel, l);
    for (; l < end; ++l)
        multiply_rows<1>(job, panel, l);
}

}  // namespace

extern constinit const AverageKernels average_kernels_of_target;
constinit const AverageKernels average_kernels_of_target = {
    &multiply<float>, &multiply<double>, &multiply<std::complex<float>>, &multiply<std::complex<double>>};

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const AverageKernels& average_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<AverageKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(average_kernels_of_target);
    return kernels_of(backend, scalar_average_kernels, by_target);
}

}  // namespace phy::detail
#endif
