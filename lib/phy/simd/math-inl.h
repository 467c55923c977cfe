// Functions of binary32 with the same bits on every backend.
#if defined(PHY_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_MATH_INL_H_
#undef PHY_SIMD_MATH_INL_H_
#else
#define PHY_SIMD_MATH_INL_H_
#endif

#include <cmath>

#include "phy/simd/float_bits.hpp"
#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

PHY_INLINE float square_root(float x) {
#if defined(__CUDACC__)
    return __fsqrt_rn(x);
#else
    return std::sqrt(x);
#endif
}

/// 1 / v for positive normal v, to 2^-12. The seed is accurate to 6 %; the step cubes that error.
template <class Ops>
PHY_INLINE typename Ops::V rough_reciprocal(typename Ops::V v) {
    const auto r = Ops::reciprocal_seed(v);
    const auto error = Ops::nfma(v, r, Ops::set(1.0F));
    return Ops::fma(Ops::fma(error, error, error), r, r);
}

/// The same to about one unit in the last place: cheaper than a division. The last step squares the error.
template <class Ops>
PHY_INLINE typename Ops::V reciprocal(typename Ops::V v) {
    const auto r = rough_reciprocal<Ops>(v);
    return Ops::fma(Ops::nfma(v, r, Ops::set(1.0F)), r, r);
}

// e^t for t <= 0 (below `least`: e^least), to 2^-14 relative.
template <class Ops>
PHY_INLINE typename Ops::V exp_negative(typename Ops::V t, float least = -80.0F) {
    t = Ops::max(t, Ops::set(least));
    const auto shifted = Ops::fma(t, Ops::set(0x1.715476p+0F), Ops::set(round_to_integer));
    const auto exponent = Ops::sub(shifted, Ops::set(round_to_integer));
    const auto r = Ops::nfma(exponent, Ops::set(0x1.62e430p-1F), t);
    auto e = Ops::fma(r, Ops::set(0x1.555556p-5F), Ops::set(0x1.555556p-3F));
    e = Ops::fma(e, r, Ops::set(0.5F));
    e = Ops::fma(e, r, Ops::set(1.0F));
    e = Ops::fma(e, r, Ops::set(1.0F));
    return Ops::times_power_of_two(e, shifted);
}

// ln v + more for positive normal v, to 2^-18: ln v = e ln 2 + ln (1 + t) with t from sqrt(1/2) - 1 to
// sqrt(2) - 1, and t times the polynomial whose largest error is least.
template <class Ops>
PHY_INLINE typename Ops::V logarithm(typename Ops::V v, typename Ops::V more) {
    typename Ops::V fraction;
    const auto exponent = Ops::split_exponent(v, fraction);
    const auto t = Ops::sub(fraction, Ops::set(1.0F));
    auto series = Ops::fma(t, Ops::set(-0.14319728F), Ops::set(0.22330038F));
    series = Ops::fma(series, t, Ops::set(-0.25472482F));
    series = Ops::fma(series, t, Ops::set(0.33225876F));
    series = Ops::fma(series, t, Ops::set(-0.49985051F));
    series = Ops::fma(series, t, Ops::set(1.00001278F));
    return Ops::fma(exponent, Ops::set(0x1.62e430p-1F), Ops::fma(t, series, more));
}

/// ln(a / b) for positive normal numbers: of ln(a r) - ln(b r) with r near 1 / b, the second is b r - 1,
/// small.
template <class Ops>
PHY_INLINE typename Ops::V log_of_quotient(typename Ops::V a, typename Ops::V b) {
    const auto r = rough_reciprocal<Ops>(b);
    return logarithm<Ops>(Ops::mul(a, r), Ops::nfma(b, r, Ops::set(1.0F)));
}

/// The fraction of index * step turns after whole turns are removed, from -1/2 to 1/2. The product is not
/// rounded.
template <class Ops>
PHY_INLINE typename Ops::V turn_fraction(typename Ops::V index, typename Ops::V step) {
    return Ops::fms(index, step, Ops::floor(Ops::fma(index, step, Ops::set(0.5F))));
}

/// cos and sin of r turns for r from -1/2 to 1/2, to 2^-21, from those of half the angle, pi r, whose series
/// are short.
template <class Ops>
PHY_INLINE void cos_sin_of_turns(typename Ops::V r, typename Ops::V& cosine, typename Ops::V& sine) {
    const auto one = Ops::set(1.0F);
    const auto a = Ops::mul(r, Ops::set(0x1.921fb6p+1F));
    const auto a2 = Ops::mul(a, a);
    auto s = Ops::fma(a2, Ops::set(-1.0F / 39916800.0F), Ops::set(1.0F / 362880.0F));
    s = Ops::fma(s, a2, Ops::set(-1.0F / 5040.0F));
    s = Ops::fma(s, a2, Ops::set(1.0F / 120.0F));
    s = Ops::fma(s, a2, Ops::set(-1.0F / 6.0F));
    s = Ops::mul(Ops::fma(s, a2, one), a);
    auto c = Ops::fma(a2, Ops::set(1.0F / 479001600.0F), Ops::set(-1.0F / 3628800.0F));
    c = Ops::fma(c, a2, Ops::set(1.0F / 40320.0F));
    c = Ops::fma(c, a2, Ops::set(-1.0F / 720.0F));
    c = Ops::fma(c, a2, Ops::set(1.0F / 24.0F));
    c = Ops::fma(c, a2, Ops::set(-0.5F));
    c = Ops::fma(c, a2, one);
    const auto twice = Ops::add(s, s);
    cosine = Ops::nfma(twice, s, one);
    sine = Ops::mul(twice, c);
}

/// The angle of (x, y) in turns, from -1/2 to 1/2, to 2^-22; 0 at the origin. For one number, not vectors.
template <class Ops>
PHY_INLINE float turns_of(float x, float y) {
    const float wide = Ops::max(Ops::abs(x), Ops::abs(y));
    if (!(wide > 0.0F)) return 0.0F;
    const float ratio = Ops::div(Ops::min(Ops::abs(x), Ops::abs(y)), wide);
    // atan q = pi / 4 + atan((q - 1) / (q + 1)).
    const bool beyond = ratio > 0.41421356F;
    const float q = beyond ? Ops::div(Ops::sub(ratio, 1.0F), Ops::add(ratio, 1.0F)) : ratio;
    const float q2 = Ops::mul(q, q);
    float series = Ops::fma(q2, -1.0F / 15.0F, 1.0F / 13.0F);
    series = Ops::fma(series, q2, -1.0F / 11.0F);
    series = Ops::fma(series, q2, 1.0F / 9.0F);
    series = Ops::fma(series, q2, -1.0F / 7.0F);
    series = Ops::fma(series, q2, 1.0F / 5.0F);
    series = Ops::fma(series, q2, -1.0F / 3.0F);
    series = Ops::fma(series, q2, 1.0F);
    float turns = Ops::fma(Ops::mul(series, q), 0.15915494F, beyond ? 0.125F : 0.0F);
    if (Ops::abs(y) > Ops::abs(x)) turns = Ops::sub(0.25F, turns);
    if (x < 0.0F) turns = Ops::sub(0.5F, turns);
    return y < 0.0F ? -turns : turns;
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();

#endif
