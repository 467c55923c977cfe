// The arithmetic of the estimator on one element, the same on every backend.
#if defined(PHY_ESTIMATOR_FORMULAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_ESTIMATOR_FORMULAS_INL_H_
#undef PHY_ESTIMATOR_FORMULAS_INL_H_
#else
#define PHY_ESTIMATOR_FORMULAS_INL_H_
#endif

#include <cstddef>

#include "phy/simd/complex-inl.h"
#include "phy/simd/math-inl.h"
#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// The largest |re| + |im| of an element that sums can represent.
constexpr float max_element = 0x1p40F;

/// Positive unless a part is not finite or the element is beyond max_element.
template <class Ops>
PHY_INLINE typename Ops::V room_of(ComplexOf<Ops> x) {
    return Ops::sub(Ops::set(max_element), Ops::add(Ops::abs(x.re), Ops::abs(x.im)));
}

/// 0 unless room is positive.
template <class Ops>
PHY_INLINE ComplexOf<Ops> least_squares(ComplexOf<Ops> received, ComplexOf<Ops> pilot, typename Ops::V scale,
                                        typename Ops::V& room) {
    const ComplexOf<Ops> p = times_conjugate(received, pilot);
    const ComplexOf<Ops> scaled = {Ops::mul(p.re, scale), Ops::mul(p.im, scale)};
    room = room_of(scaled);
    return {Ops::where_positive(room, scaled.re), Ops::where_positive(room, scaled.im)};
}

/// A received resource element times the conjugate of its pilot, minus what was expected; 0 if the pilot is
/// 0.
template <class Ops>
PHY_INLINE ComplexOf<Ops> residual_of(ComplexOf<Ops> received, ComplexOf<Ops> pilot,
                                      ComplexOf<Ops> expected) {
    const ComplexOf<Ops> p = times_conjugate(received, pilot);
    const auto energy = Ops::fma(pilot.re, pilot.re, Ops::mul(pilot.im, pilot.im));
    return {Ops::where_positive(energy, Ops::sub(p.re, expected.re)),
            Ops::where_positive(energy, Ops::sub(p.im, expected.im))};
}

/// An erased pilot, from `count` others of its comb: the parts of a row are `stride` floats apart. Those of
/// weight 0 are not read.
template <class Ops, class Weights>
PHY_INLINE ComplexOf<Ops> filled_pilot(const float* row, int stride, const Weights& weights, int count) {
    ComplexOf<Ops> sum = {Ops::set(0.0F), Ops::set(0.0F)};
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
        const ComplexOf<Ops> weight = {Ops::set(weights[0][i]), Ops::set(weights[1][i])};
        if (weights[0][i] == 0.0F && weights[1][i] == 0.0F) continue;
        sum = add_product<Ops>(sum, weight, {Ops::set(row[i]), Ops::set((row + stride)[i])});
    }
    return sum;
}

/// exp(2 pi j index step).
template <class Ops>
PHY_INLINE ComplexOf<Ops> phasor(typename Ops::V index, typename Ops::V step) {
    ComplexOf<Ops> result;
    cos_sin_of_turns<Ops>(turn_fraction<Ops>(index, step), result.re, result.im);
    return result;
}

/// Pilots that mirror each other: the sum, and the difference divided by j.
template <class Ops>
PHY_INLINE ComplexOf<Ops> folded_sum(ComplexOf<Ops> x, ComplexOf<Ops> mirror) {
    return {Ops::add(x.re, mirror.re), Ops::add(x.im, mirror.im)};
}
template <class Ops>
PHY_INLINE ComplexOf<Ops> folded_difference(ComplexOf<Ops> x, ComplexOf<Ops> mirror) {
    return {Ops::sub(x.im, mirror.im), Ops::sub(mirror.re, x.re)};
}
/// A pilot that mirrors itself.
template <class Ops>
PHY_INLINE ComplexOf<Ops> folded_middle(ComplexOf<Ops> x) {
    const auto scale = Ops::set(0x1.6a09e6p+0F);
    return {Ops::mul(x.re, scale), Ops::mul(x.im, scale)};
}

/// Inverse: an element and its mirror from a + j b, where a and b are complex.
template <class Ops>
PHY_INLINE ComplexOf<Ops> unfolded(ComplexOf<Ops> a, ComplexOf<Ops> b) {
    return {Ops::sub(a.re, b.im), Ops::add(a.im, b.re)};
}
template <class Ops>
PHY_INLINE ComplexOf<Ops> unfolded_mirror(ComplexOf<Ops> a, ComplexOf<Ops> b) {
    return {Ops::add(a.re, b.im), Ops::sub(a.im, b.re)};
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
