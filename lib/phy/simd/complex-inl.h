// Arithmetic of complex numbers.
#if defined(PHY_SIMD_COMPLEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_COMPLEX_INL_H_
#undef PHY_SIMD_COMPLEX_INL_H_
#else
#define PHY_SIMD_COMPLEX_INL_H_
#endif

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// A complex number, or a vector of them.
template <class Ops>
struct ComplexOf {
    typename Ops::V re;
    typename Ops::V im;
};

/// x times the conjugate of y.
template <class Ops>
PHY_INLINE ComplexOf<Ops> times_conjugate(ComplexOf<Ops> x, ComplexOf<Ops> y) {
    return {Ops::fma(x.re, y.re, Ops::mul(x.im, y.im)), Ops::fms(x.im, y.re, Ops::mul(x.re, y.im))};
}

template <class Ops>
PHY_INLINE ComplexOf<Ops> times(ComplexOf<Ops> x, ComplexOf<Ops> y) {
    return {Ops::fms(x.re, y.re, Ops::mul(x.im, y.im)), Ops::fma(x.im, y.re, Ops::mul(x.re, y.im))};
}

/// sum + x y.
template <class Ops>
PHY_INLINE ComplexOf<Ops> add_product(ComplexOf<Ops> sum, ComplexOf<Ops> x, ComplexOf<Ops> y) {
    return {Ops::nfma(x.im, y.im, Ops::fma(x.re, y.re, sum.re)),
            Ops::fma(x.im, y.re, Ops::fma(x.re, y.im, sum.im))};
}

/// sum + conj(x) y.
template <class Ops>
PHY_INLINE ComplexOf<Ops> add_correlation(ComplexOf<Ops> sum, ComplexOf<Ops> x, ComplexOf<Ops> y) {
    return {Ops::fma(x.im, y.im, Ops::fma(x.re, y.re, sum.re)),
            Ops::nfma(x.im, y.re, Ops::fma(x.re, y.im, sum.im))};
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
