// Functions of numbers, the same bits whatever computes them.
#if defined(PHY_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_MATH_INL_H_
#undef PHY_SIMD_MATH_INL_H_
#else
#define PHY_SIMD_MATH_INL_H_
#endif

#include "phy/simd/float_bits.hpp"
#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// 1 / v for a positive normal v, to about one unit in the last place: cheaper than a division, and the same
/// everywhere. The seed is right to 6 %; the first step cubes that error, the second squares it.
template <class Ops>
PHY_INLINE typename Ops::V reciprocal(typename Ops::V v) {
    const auto one = Ops::set(1.0F);
    auto r = Ops::reciprocal_seed(v);
    const auto error = Ops::nfma(v, r, one);
    r = Ops::fma(Ops::fma(error, error, error), r, r);
    return Ops::fma(Ops::nfma(v, r, one), r, r);
}

// e^t for t from -80 (below: as -80) to 0, to 2^-17 relative.
template <class Ops>
PHY_INLINE typename Ops::V exp_negative(typename Ops::V t) {
    t = Ops::max(t, Ops::set(-80.0F));
    const auto shifted = Ops::fma(t, Ops::set(0x1.715476p+0F), Ops::set(round_to_integer));
    const auto exponent = Ops::sub(shifted, Ops::set(round_to_integer));
    const auto r = Ops::nfma(exponent, Ops::set(0x1.62e430p-1F), t);
    auto e = Ops::fma(r, Ops::set(0x1.555556p-5F), Ops::set(0x1.555556p-3F));
    e = Ops::fma(e, r, Ops::set(0.5F));
    e = Ops::fma(e, r, Ops::set(1.0F));
    e = Ops::fma(e, r, Ops::set(1.0F));
    return Ops::times_power_of_two(e, shifted);
}

// ln v for positive normal v, to 2^-17: ln v = e ln 2 + 2 artanh((f - 1) / (f + 1)) with f from sqrt(1/2) to
// sqrt(2).
template <class Ops>
PHY_INLINE typename Ops::V logarithm(typename Ops::V v) {
    typename Ops::V f;
    const auto exponent = Ops::split_exponent(v, f);
    const auto s = Ops::div(Ops::sub(f, Ops::set(1.0F)), Ops::add(f, Ops::set(1.0F)));
    const auto s2 = Ops::mul(s, s);
    auto series = Ops::fma(s2, Ops::set(2.0F / 5.0F), Ops::set(2.0F / 3.0F));
    series = Ops::fma(series, s2, Ops::set(2.0F));
    return Ops::fma(exponent, Ops::set(0x1.62e430p-1F), Ops::mul(s, series));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();

#endif
