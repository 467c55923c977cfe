// Matrix times means in panels: neighbouring lanes are neighbouring batches.
#if defined(PHY_REDUCE_AVERAGE_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_REDUCE_AVERAGE_KERNELS_INL_H_
#undef PHY_REDUCE_AVERAGE_KERNELS_INL_H_
#else
#define PHY_REDUCE_AVERAGE_KERNELS_INL_H_
#endif

#include <algorithm>

#include "phy/reduce/average/layout.hpp"
#include "phy/reduce/average/math-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

// A float or double, or a vector of them.
#ifdef HWY_TARGET_INCLUDE
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t registers = HWY_TARGET == HWY_AVX2 ? 16 : 32;

template <class R>
struct Numbers {
    using V = hn::Vec<hn::ScalableTag<R>>;
    static constexpr std::size_t count = HWY_LANES(R);
    static HWY_INLINE V set(R number) { return hn::Set(hn::ScalableTag<R>(), number); }
    static HWY_INLINE V load(const R* from) { return hn::Load(hn::ScalableTag<R>(), from); }
    static HWY_INLINE void store(V numbers, R* to) { hn::Store(numbers, hn::ScalableTag<R>(), to); }
};
#else
constexpr std::size_t registers = 16;

template <class R>
struct Numbers {
    using V = R;
    static constexpr std::size_t count = 1;
    static V set(R number) { return number; }
    static V load(const R* from) { return *from; }
    static void store(V number, R* to) { *to = number; }
};
#endif

/// Vectors of neighbouring batches, and max number of outputs, whose sums are in registers at a time.
constexpr std::size_t vectors = 2;
template <class T>
constexpr std::size_t max_rows = registers / 4 * sizeof(typename ComponentOfNumber<T>::Type) / sizeof(T);

template <class R>
using Vector = typename Numbers<R>::V;

/// Sums for some rows of the matrix and some vectors of batches.
template <class R, std::size_t rows>
struct RealRows {
    RealSum<Vector<R>> sums[rows][vectors];

    PHY_INLINE void run(const R* matrix, std::size_t length, const R* means) {
        constexpr std::size_t width = Numbers<R>::count;
        for (auto& row : sums)
            for (auto& sum : row)
                sum.value = Numbers<R>::set(0);
        for (std::size_t k = 0; k < length; ++k) {
            const R* const at = means + k * Multiplication<R>::step;
            const auto first = Numbers<R>::load(at);
            const auto second = Numbers<R>::load(at + width);
#pragma GCC unroll 8
            for (std::size_t i = 0; i < rows; ++i) {
                const auto m = Numbers<R>::set(matrix[i * length + k]);
                sums[i][0].add(m, first);
                sums[i][1].add(m, second);
            }
        }
    }

    PHY_INLINE void store(std::size_t i, R* re, R* /*im*/) const {
        Numbers<R>::store(sums[i][0].value, re);
        Numbers<R>::store(sums[i][1].value, re + Numbers<R>::count);
    }
};

template <class R, std::size_t rows>
struct ComplexRows {
    ComplexSum<Vector<R>> sums[rows][vectors];

    PHY_INLINE void run(const std::complex<R>* matrix, std::size_t length, const R* means) {
        constexpr std::size_t width = Numbers<R>::count;
        constexpr std::size_t batches = panel_batches<std::complex<R>>();
        for (auto& row : sums)
            for (auto& sum : row)
                sum = {Numbers<R>::set(0), Numbers<R>::set(0)};
        for (std::size_t k = 0; k < length; ++k) {
            const R* const re = means + k * Multiplication<std::complex<R>>::step;
            const R* const im = re + batches;
            const Vector<R> v_re[vectors] = {Numbers<R>::load(re), Numbers<R>::load(re + width)};
            const Vector<R> v_im[vectors] = {Numbers<R>::load(im), Numbers<R>::load(im + width)};
#pragma GCC unroll 8
            for (std::size_t i = 0; i < rows; ++i) {
                const auto& m = reinterpret_cast<const R(&)[2]>(matrix[i * length + k]);
                const auto m_re = Numbers<R>::set(m[0]);
                const auto m_im = Numbers<R>::set(m[1]);
                sums[i][0].add(m_re, m_im, v_re[0], v_im[0]);
                sums[i][1].add(m_re, m_im, v_re[1], v_im[1]);
            }
        }
    }

    PHY_INLINE void store(std::size_t i, R* re, R* im) const {
        Numbers<R>::store(sums[i][0].re, re);
        Numbers<R>::store(sums[i][1].re, re + Numbers<R>::count);
        Numbers<R>::store(sums[i][0].im, im);
        Numbers<R>::store(sums[i][1].im, im + Numbers<R>::count);
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

/// Computes outputs l to l + rows - 1 of all batches of a panel.
template <std::size_t rows, class T>
PHY_INLINE void multiply_rows(const Multiplication<T>& job, std::size_t panel, std::size_t l) {
    using R = typename Multiplication<T>::Component;
    constexpr std::size_t together = vectors * Numbers<R>::count;
    const std::size_t used = job.used(panel);
    for (std::size_t first = 0; first < used; first += together) {
        typename RowsOf<T, rows>::Type sums;
        sums.run(job.matrix + l * job.length, job.length, job.panel(panel) + first);
        alignas(64) R re[rows][together];
        alignas(64) R im[rows][together];
        for (std::size_t i = 0; i < rows; ++i)
            sums.store(i, re[i], im[i]);
        const std::size_t count = std::min(together, used - first);
        for (std::size_t batch = 0; batch < count; ++batch) {
            T* const to = &job.result(panel, first + batch, l);
            for (std::size_t i = 0; i < rows; ++i) {
                if constexpr (is_complex<T>)
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

constexpr AverageKernels kernels = {&multiply<float>, &multiply<double>, &multiply<std::complex<float>>,
                                    &multiply<std::complex<double>>};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
