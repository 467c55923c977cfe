// The matrix that whitens noise and errors of the estimates: W = L^-1 with L L^H = R', row by row. If R' has
// no such matrix, W is NaN.
#if defined(PHY_EQUALIZER_WHITENING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_EQUALIZER_WHITENING_INL_H_
#undef PHY_EQUALIZER_WHITENING_INL_H_
#else
#define PHY_EQUALIZER_WHITENING_INL_H_
#endif

#include "phy/simd/complex-inl.h"
#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// R' = factor R + floor I: the errors have the covariance of the noise that they come from. Without noise
/// they are those of independent antennas.
template <class Ops>
struct NoiseAndErrors {
    /// trace: of R; errors: their mean over antennas.
    PHY_INLINE NoiseAndErrors(float trace, int antennas, float errors) {
        constexpr float independent = 0x1p-16F;
        const float mean = Ops::div(trace, static_cast<float>(antennas));
        const float share =
            errors == 0.0F ? 0.0F : Ops::div(errors, Ops::fma(independent, errors, mean));  // NaN stays
        factor_ = Ops::add(1.0F, share);
        floor_ = Ops::mul(share, Ops::mul(independent, errors));
    }

    PHY_INLINE ComplexOf<Ops> operator()(ComplexOf<Ops> entry, bool on_diagonal) const {
        return {on_diagonal ? Ops::fma(factor_, entry.re, floor_) : Ops::mul(factor_, entry.re),
                Ops::mul(factor_, entry.im)};
    }

private:
    float factor_;
    float floor_;
};

/// Entry r of row i of R', minus the columns before `column`. l is (size, size).
template <class Ops>
PHY_INLINE ComplexOf<Ops> rest_of_entry(const ComplexOf<Ops>* l, int size, int row, int column,
                                        ComplexOf<Ops> r) {
    for (int k = 0; k < column; ++k) {
        const ComplexOf<Ops> a = l[row * size + k];
        const ComplexOf<Ops> b = l[column * size + k];
        r.re = Ops::nfma(a.im, b.im, Ops::nfma(a.re, b.re, r.re));
        r.im = Ops::fma(a.re, b.im, Ops::nfma(a.im, b.re, r.im));
    }
    return r;
}

/// Column `column` of L^-1. The diagonal of L holds its reciprocals.
template <class Ops>
PHY_INLINE void invert_column(const ComplexOf<Ops>* l, int size, int column, ComplexOf<Ops>* inverse) {
    for (int i = 0; i < column; ++i)
        inverse[i * size + column] = {0.0F, 0.0F};
    inverse[column * size + column] = {l[column * size + column].re, 0.0F};
    for (int i = column + 1; i < size; ++i) {
        ComplexOf<Ops> sum = {0.0F, 0.0F};
        for (int k = column; k < i; ++k) {
            const ComplexOf<Ops> a = l[i * size + k];
            const ComplexOf<Ops> b = inverse[k * size + column];
            sum.re = Ops::fma(a.im, b.im, Ops::nfma(a.re, b.re, sum.re));
            sum.im = Ops::nfma(a.im, b.re, Ops::nfma(a.re, b.im, sum.im));
        }
        const float scale = l[i * size + i].re;
        inverse[i * size + column] = {Ops::mul(sum.re, scale), Ops::mul(sum.im, scale)};
    }
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
