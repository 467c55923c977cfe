// Adds a symbol to the sums of its virtual lane, with the same bits on every backend.
#if defined(PHY_MEASURE_SYMBOL_STEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_MEASURE_SYMBOL_STEP_INL_H_
#undef PHY_MEASURE_SYMBOL_STEP_INL_H_
#else
#define PHY_MEASURE_SYMBOL_STEP_INL_H_
#endif

#include "phy/measure/math/symbol_scale.hpp"
#include "phy/simd/float_bits.hpp"
#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// count: summed_of_symbols or summed_with_noise.
template <class Ops, unsigned count>
struct SymbolAccumulators {
    typename Ops::V sums[count];  ///< by SummedOfSymbols
    typename Ops::V peak;
    typename Ops::V error_peak;
};

/// SymbolScale in every lane.
template <class Ops>
struct LaneScale {
    typename Ops::V per_step;
    typename Ops::V per_point;
    typename Ops::V first_step;
    typename Ops::V last_step;
    typename Ops::V bias;
    typename Ops::V turn;  ///< pi/2-BPSK: negative for symbols with an odd index
};

/// turn is that of LaneScale.
template <class Ops>
PHY_INLINE LaneScale<Ops> lane_scale(const SymbolScale& scale, typename Ops::V turn) {
    return {Ops::set(scale.per_step),  Ops::set(scale.per_point), Ops::set(-1.0F - scale.last_step),
            Ops::set(scale.last_step), Ops::set(scale.bias),      turn};
}

/// A point, and the distance of the symbol from it.
template <class Ops>
struct Decision {
    typename Ops::V point_i;
    typename Ops::V point_q;
    typename Ops::V error_i;
    typename Ops::V error_q;
};

/// The nearest level of an axis, half an odd integer, and the distance of the symbol from it. Level 0 is the
/// first above 0, so that rounding finds levels.
template <class Ops>
PHY_INLINE void decide_axis(typename Ops::V y, const LaneScale<Ops>& scale, typename Ops::V& point,
                            typename Ops::V& error) {
    const auto half = Ops::set(0.5F);
    const auto magic = Ops::set(round_to_integer);
    const auto w = Ops::fms(y, scale.per_step, half);
    const auto inside = Ops::max(Ops::min(w, scale.last_step), scale.first_step);
    const auto step = Ops::sub(Ops::add(inside, magic), magic);
    error = Ops::sub(w, step);
    point = Ops::add(step, half);
}

template <class Ops, bool diagonal>
PHY_INLINE Decision<Ops> decide(typename Ops::V i, typename Ops::V q, const LaneScale<Ops>& scale) {
    Decision<Ops> made;
    if constexpr (diagonal) {
        const auto half = Ops::set(0.5F);
        const auto along = Ops::add(Ops::flip(i, scale.turn), q);
        made.point_q = Ops::flip(half, along);
        made.point_i = Ops::flip(made.point_q, scale.turn);
        made.error_i = Ops::fms(i, scale.per_step, made.point_i);
        made.error_q = Ops::fms(q, scale.per_step, made.point_q);
    } else {
        decide_axis<Ops>(i, scale, made.point_i, made.error_i);
        decide_axis<Ops>(q, scale, made.point_q, made.error_q);
    }
    return made;
}

/// Compares with a known point.
template <class Ops>
PHY_INLINE Decision<Ops> compare(typename Ops::V i, typename Ops::V q, typename Ops::V sent_i,
                                 typename Ops::V sent_q, const LaneScale<Ops>& scale) {
    Decision<Ops> made;
    made.point_i = Ops::mul(sent_i, scale.per_point);
    made.point_q = Ops::mul(sent_q, scale.per_point);
    made.error_i = Ops::fms(i, scale.per_step, made.point_i);
    made.error_q = Ops::fms(q, scale.per_step, made.point_q);
    return made;
}

template <class Ops>
PHY_INLINE typename Ops::V power_of(typename Ops::V i, typename Ops::V q) {
    return Ops::fma(q, q, Ops::mul(i, i));
}

template <class Ops, unsigned count>
PHY_INLINE void add_symbol(SymbolAccumulators<Ops, count>& to, typename Ops::V i, typename Ops::V q,
                           typename Ops::V power, const Decision<Ops>& made) {
    auto* const sums = to.sums;
    sums[sum_i] = Ops::add(sums[sum_i], i);
    sums[sum_q] = Ops::add(sums[sum_q], q);
    sums[sum_ii] = Ops::fma(i, i, sums[sum_ii]);
    sums[sum_qq] = Ops::fma(q, q, sums[sum_qq]);
    sums[sum_iq] = Ops::fma(i, q, sums[sum_iq]);
    to.peak = Ops::max(to.peak, power);
    const auto error = power_of<Ops>(made.error_i, made.error_q);
    sums[sum_error] = Ops::add(sums[sum_error], error);
    to.error_peak = Ops::max(to.error_peak, error);
    sums[sum_decided] = Ops::fma(made.point_i, made.point_i, sums[sum_decided]);
    sums[sum_decided] = Ops::fma(made.point_q, made.point_q, sums[sum_decided]);
    sums[sum_rotated] = Ops::fma(q, made.point_i, sums[sum_rotated]);
    sums[sum_rotated] = Ops::nfma(i, made.point_q, sums[sum_rotated]);
}

/// 1 for a level on the edge of the constellation, else 0.
template <class Ops>
PHY_INLINE typename Ops::V is_outermost(typename Ops::V point, const LaneScale<Ops>& scale) {
    const auto second = Ops::sub(scale.last_step, Ops::set(0.5F));
    return Ops::max(Ops::sub(Ops::abs(point), second), Ops::set(0.0F));
}

/// Adds a clear symbol also to the sums that compare it with its noise variance.
template <class Ops>
PHY_INLINE void add_noise(SymbolAccumulators<Ops, summed_with_noise>& to, typename Ops::V noise_variance,
                          const Decision<Ops>& made, const LaneScale<Ops>& scale) {
    auto* const sums = to.sums;
    const auto one = Ops::set(1.0F);
    const auto noise = Ops::mul(Ops::mul(noise_variance, scale.per_step), scale.per_step);
    const auto room = Ops::sub(Ops::set(max_clear_noise), noise);
    const auto if_clear = [&](typename Ops::V value) {
        return Ops::where_positive(noise_variance, Ops::where_positive(room, value));
    };
    const auto error = power_of<Ops>(made.error_i, made.error_q);
    const auto quotient = Ops::div(error, Ops::max(noise, Ops::set(min_noise_divisor)));
    const auto beyond = Ops::max(Ops::sub(noise, Ops::set(decision_bias_offset)), Ops::set(0.0F));
    const auto expected = Ops::nfma(Ops::mul(beyond, beyond), scale.bias, one);
    const auto outer =
        Ops::add(is_outermost<Ops>(made.point_i, scale), is_outermost<Ops>(made.point_q, scale));
    sums[sum_clear] = Ops::add(sums[sum_clear], if_clear(one));
    sums[sum_outer] = Ops::add(sums[sum_outer], if_clear(outer));
    sums[sum_clear_error] =
        Ops::add(sums[sum_clear_error], if_clear(Ops::min(quotient, Ops::set(max_error_quotient))));
    sums[sum_expected_error] = Ops::add(sums[sum_expected_error], if_clear(expected));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
