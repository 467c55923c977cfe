// The arithmetic of soft bits, in IEEE binary32 with every fma explicit, for the operations of
// simd/ops-inl.h.
//
// A formula says how many segments of an LLR are evaluated. Each segment of |x_k| has its own slope. If the
// soft bit saturates before segment 1 or 2 ends, further segments do not matter. All formulas give the same
// soft bits.
#if defined(PHY_DEMAPPER_SOFT_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_SOFT_BITS_INL_H_
#undef PHY_DEMAPPER_SOFT_BITS_INL_H_
#else
#define PHY_DEMAPPER_SOFT_BITS_INL_H_
#endif

#include <cstdint>

#include "phy/demapper/math/axis.hpp"
#include "phy/demapper/math/formula.hpp"
#include "phy/simd/float_bits.hpp"
#include "phy/simd/math-inl.h"
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

// int8: the soft bit is the low byte of the sum's bits.
template <class Ops>
PHY_INLINE typename Ops::V quantise(typename Ops::V scale, typename Ops::V distance) {
    return Ops::fma(scale, distance, Ops::set(round_to_integer));
}

// fp32 (and fp16 before rounding); adding zero makes -0 a +0. The limit of the distance is rounded, so the
// product may pass the largest LLR.
template <class Ops>
PHY_INLINE typename Ops::V scaled(typename Ops::V scale, typename Ops::V distance) {
    const auto llr = Ops::add(Ops::mul(scale, distance), Ops::set(0.0F));
    return Ops::clamp(llr, Ops::set(largest_llr));
}

/// The gain of a usable N0, one that is finite and positive.
template <class Ops>
PHY_INLINE void gain_of(typename Ops::V noise, const GainRule& formula, typename Ops::V& scale,
                        typename Ops::V& limit) {
    const auto usable = Ops::min(Ops::max(noise, Ops::set(smallest_noise)), Ops::set(largest_noise));
    scale = Ops::mul(reciprocal<Ops>(usable), Ops::set(formula.per_inverse_noise));
    limit = Ops::mul(usable, Ops::set(formula.per_noise));
}

/// The levels of an axis by the value of bit k, so that loops over a group need no test.
template <int m, int k>
struct LevelGroups {
    std::uint8_t level[2][1 << (m - 1)] = {};

    constexpr LevelGroups() {
        int count[2] = {0, 0};
        for (int i = 0; i < (1 << m); ++i) {
            const int bit = axis_label_bit(m, i, k);
            level[bit][count[bit]++] = static_cast<std::uint8_t>(i);
        }
    }
};

// ln of the sum over a group of exp(-metric), plus the smallest metric of the group: from 0 to (m - 1) ln 2.
// So the part that max-log omits is computed without cancellation. The metric is factor * squares.
template <class Ops, int m, int k, int label>
PHY_INLINE typename Ops::V sum_beyond_nearest(const typename Ops::V* squares, typename Ops::V factor) {
    constexpr LevelGroups<m, k> groups;
    constexpr int half = 1 << (m - 1);
    auto nearest = squares[groups.level[label][0]];
    PHY_UNROLL
    for (int i = 1; i < half; ++i)
        nearest = Ops::min(squares[groups.level[label][i]], nearest);
    auto sum = Ops::set(0.0F);
    PHY_UNROLL
    for (int i = 0; i < half; ++i) {
        const auto beyond = Ops::sub(nearest, squares[groups.level[label][i]]);
        sum = Ops::add(sum, exp_negative<Ops>(Ops::mul(factor, beyond)));
    }
    return sum;
}

template <class Ops, int m, int k>
PHY_INLINE void add_beyond_max_log(const typename Ops::V* squares, typename Ops::V factor,
                                   typename Ops::V scale, typename Ops::V* llrs) {
    const auto zero = sum_beyond_nearest<Ops, m, k, 0>(squares, factor);
    const auto one = sum_beyond_nearest<Ops, m, k, 1>(squares, factor);
    llrs[k] = Ops::fma(scale, llrs[k], logarithm<Ops>(Ops::div(zero, one)));
    if constexpr (k + 1 < m) add_beyond_max_log<Ops, m, k + 1>(squares, factor, scale, llrs);
}

/// The log-MAP LLRs of an axis in nats: max-log, plus ln of the quotient of the two sums, which max-log takes
/// as 1. nats is the gain of one nat per unit.
template <class Ops, int m>
PHY_INLINE void axis_log_map(typename Ops::V y, typename Ops::V scale, typename Ops::V limit,
                             typename Ops::V* llrs) {
    using A = Axis<m>;
    constexpr int levels = 1 << m;
    axis_distances<Ops, m, Formula::all_segments>(y, limit, llrs);

    typename Ops::V squares[levels];
    const auto x = Ops::clamp(Ops::mul(y, Ops::set(A::p)), Ops::set(0x1p60F));
    PHY_UNROLL
    for (int i = 0; i < levels; ++i) {
        const auto offset = Ops::sub(x, Ops::set(static_cast<float>(2 * i - (levels - 1)) * A::q));
        squares[i] = Ops::mul(offset, offset);
    }
    add_beyond_max_log<Ops, m, 0>(squares, Ops::mul(scale, Ops::set(0.25F / A::q)), scale, llrs);
}

/// An output value is out_scale * distances[k], where out_scale is 0 for erased components.
template <class Ops, int m, Formula formula>
PHY_INLINE void evaluate_axis(typename Ops::V y, typename Ops::V scale, typename Ops::V limit,
                              const Gain& nats, typename Ops::V* distances, typename Ops::V& out_scale) {
    if constexpr (formula == Formula::log_sum && m > 1) {
        axis_log_map<Ops, m>(y, scale, limit, distances);
        PHY_UNROLL
        for (int k = 0; k < m; ++k)
            distances[k] = Ops::clamp(distances[k], Ops::set(nats.limit));
        // An unusable N0 has the scale 0.
        out_scale = Ops::keep(y, Ops::where_positive(scale, Ops::set(nats.scale)));
    } else {
        axis_distances<Ops, m, formula>(y, limit, distances);
        out_scale = Ops::keep(y, scale);
    }
}

/// BPSK lies on the diagonal: the axis value is the sum of the components, which must both be finite.
template <class Ops, Formula formula>
PHY_INLINE void evaluate_diagonal(typename Ops::V i, typename Ops::V q, typename Ops::V scale,
                                  typename Ops::V limit, typename Ops::V* distances,
                                  typename Ops::V& out_scale) {
    axis_distances<Ops, 1, formula>(Ops::add(i, q), limit, distances);
    out_scale = Ops::keep(i, Ops::keep(q, scale));
}

/// Entries of a table are the low bits of a number.
inline constexpr std::uint32_t entry_bits = 0x3FFFFF;

/// The nearest entry, plus round_to_integer; last + 1 for a component that is not finite.
template <class Ops>
PHY_INLINE typename Ops::V nearest_entry(typename Ops::V y, const TableScale& table) {
    const auto position = Ops::fma(y, Ops::set(table.per_unit), Ops::set(table.centre));
    const auto inside = Ops::min(Ops::max(position, Ops::set(0.0F)), Ops::set(table.last));
    return Ops::add(Ops::select_finite(y, inside, Ops::set(table.last + 1.0F)), Ops::set(round_to_integer));
}

/// The same for the entry below |y|, where entry 0 is at y = 0, and the distance from there to |y| in steps,
/// with the sign of y.
template <class Ops>
PHY_INLINE typename Ops::V entry_below(typename Ops::V y, const TableScale& table,
                                       typename Ops::V& fraction) {
    const auto position = Ops::min(Ops::mul(Ops::abs(y), Ops::set(table.per_unit)), Ops::set(0x1p60F));
    const auto below = Ops::min(Ops::floor(position), Ops::set(table.last));
    fraction = Ops::flip(Ops::keep(y, Ops::sub(position, below)), y);
    return Ops::add(Ops::select_finite(y, below, Ops::set(table.last + 1.0F)), Ops::set(round_to_integer));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();

#endif
