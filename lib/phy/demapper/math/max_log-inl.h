// Max-log LLRs of an axis by their closed form.
//
// A formula says how many segments of an LLR are evaluated. Each segment of |x_k| has its own slope. If the
// soft bit saturates before segment 1 or 2 ends, further segments do not matter. All formulas give the same
// soft bits.
#if defined(PHY_DEMAPPER_MAX_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_MAX_LOG_INL_H_
#undef PHY_DEMAPPER_MAX_LOG_INL_H_
#else
#define PHY_DEMAPPER_MAX_LOG_INL_H_
#endif

#include "phy/demapper/math/axis.hpp"
#include "phy/demapper/math/formula.hpp"
#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// One slope of bit k's LLR within the limit, or two.
template <int m, int k, Formula formula>
inline constexpr bool has_one_segment = k == m - 1 || formula == Formula::one_segment;
template <int m, int k, Formula formula>
inline constexpr bool has_two_segments = k == m - 2 || formula == Formula::two_segments;

/// min(floor(|x| / 2q), N_0); see finds_segments. Operations may define a faster version.
template <class Ops, int m>
PHY_INLINE typename Ops::V first_segment(typename Ops::V magnitude) {
    const auto last = Ops::set(Axis<m>::last_segment(0));
    if constexpr (requires { Ops::template segment<m>(magnitude, last); }) {
        return Ops::template segment<m>(magnitude, last);
    } else {
        return Ops::min(Ops::floor(Ops::mul(magnitude, Ops::set(Axis<m>::inverse_segment))), last);
    }
}

/// n_k = min(floor(|x_k| / 2q), N_k), the segment of |x_k|; before is n_{k-1}, for k > 0. Folding x_{k-1}
/// into x_k also folds its segments: those from c on count up from c, those below c count down. (Next to a
/// breakpoint x_{k-1} and x_k, which are rounded, may be in different segments; there both have the same
/// distance, to rounding.)
template <class Ops, int m, int k>
PHY_INLINE typename Ops::V segment_of(typename Ops::V magnitude, typename Ops::V before) {
    if constexpr (k == 0) {
        return first_segment<Ops, m>(magnitude);
    } else {
        const auto centre = Ops::set(Axis<m>::last_segment(k) + 0.5F);
        return Ops::sub(Ops::abs(Ops::sub(before, centre)), Ops::set(0.5F));
    }
}

/// Bit k's distance d_k of an axis, signed as the LLR and limited to +-limit: L_k = (4 A^2 / (N0 q)) * d_k.
/// Unlimited, |d_k| = (n_k + 1) (|x_k| - n_k q), where the product is rounded once; the difference is exact
/// on the grid of numbers of x_k. This is the exact max-log LLR of x_k. magnitude is |x_k|; with several
/// segments only the sign of x is used; segment changes from n_{k-1} to n_k.
template <class Ops, int m, int k, Formula formula>
PHY_INLINE typename Ops::V limited_distance(typename Ops::V x, typename Ops::V magnitude,
                                            typename Ops::V limit, typename Ops::V& segment) {
    using A = Axis<m>;
    if constexpr (has_one_segment<m, k, formula>) {
        return Ops::clamp(x, limit);
    } else if constexpr (has_two_segments<m, k, formula>) {
        const auto second = Ops::fms(Ops::set(2.0F), magnitude, Ops::set(2.0F * A::q));
        return Ops::flip(Ops::min(Ops::max(second, magnitude), limit), x);
    } else {
        segment = segment_of<Ops, m, k>(magnitude, segment);
        const auto rest = Ops::nfma(segment, Ops::set(A::q), magnitude);
        return Ops::flip(Ops::min(Ops::fma(segment, rest, rest), limit), x);
    }
}

template <class Ops, int m, Formula formula, int k>
PHY_INLINE void limited_distances(typename Ops::V x, typename Ops::V segment, typename Ops::V limit,
                                  typename Ops::V* distances) {
    const auto magnitude = Ops::abs(x);
    distances[k] = limited_distance<Ops, m, k, formula>(x, magnitude, limit, segment);
    if constexpr (k + 1 < m) {
        const auto next = Ops::sub(Ops::set(Axis<m>::fold(k)), magnitude);
        limited_distances<Ops, m, formula, k + 1>(next, segment, limit, distances);
    }
}

/// The m distances of an axis with value y (in symbols of unit mean power). x_1 follows from y with one
/// rounding.
template <class Ops, int m, Formula formula>
PHY_INLINE void axis_distances(typename Ops::V y, typename Ops::V limit, typename Ops::V* distances) {
    using A = Axis<m>;
    const auto p = Ops::set(A::p);
    const auto magnitude = Ops::abs(y);
    auto segment = Ops::set(0.0F);
    const auto x = has_one_segment<m, 0, formula> ? Ops::mul(y, p) : y;
    distances[0] = limited_distance<Ops, m, 0, formula>(x, Ops::mul(magnitude, p), limit, segment);
    if constexpr (m > 1) {
        const auto next = Ops::nfma(magnitude, p, Ops::set(A::fold(0)));
        limited_distances<Ops, m, formula, 1>(next, segment, limit, distances);
    }
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();

#endif
