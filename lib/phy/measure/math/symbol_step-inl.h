// What a symbol adds to the sums of its virtual lane, the same bits whatever computes them.
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

template <class Ops>
struct SymbolAccumulators {
    typename Ops::V sums[summed_of_symbols];  ///< by SummedOfSymbols
    typename Ops::V peak;
    typename Ops::V error_peak;
};

/// A point, and how far the symbol is from it; by axes whose signs may be those of the symbol.
template <class Ops>
struct Decision {
    typename Ops::V point_i;
    typename Ops::V point_q;
    typename Ops::V error_i;
    typename Ops::V error_q;
};

/// The nearest level of an axis: its magnitude, half an odd integer, and how much further out the symbol is.
template <class Ops>
PHY_INLINE void decide_axis(typename Ops::V y, typename Ops::V per_step, typename Ops::V last_step,
                            typename Ops::V& point, typename Ops::V& error) {
    const auto half = Ops::set(0.5F);
    const auto magic = Ops::set(round_to_integer);
    const auto w = Ops::fms(Ops::abs(y), per_step, half);
    const auto step = Ops::sub(Ops::add(Ops::min(w, last_step), magic), magic);
    error = Ops::sub(w, step);
    point = Ops::flip(Ops::add(step, half), y);
}

/// turn: pi/2-BPSK: negative where the index of the symbol is odd, else not negative.
template <class Ops, bool diagonal>
PHY_INLINE Decision<Ops> decide(typename Ops::V i, typename Ops::V q, typename Ops::V per_step,
                                typename Ops::V last_step, typename Ops::V turn) {
    Decision<Ops> made;
    if constexpr (diagonal) {
        const auto half = Ops::set(0.5F);
        const auto straight = Ops::flip(i, turn);
        const auto along = Ops::add(straight, q);
        made.error_i = Ops::fms(Ops::flip(straight, along), per_step, half);
        made.error_q = Ops::fms(Ops::flip(q, along), per_step, half);
        made.point_q = Ops::flip(half, along);
        made.point_i = Ops::flip(made.point_q, turn);
    } else {
        decide_axis<Ops>(i, per_step, last_step, made.point_i, made.error_i);
        decide_axis<Ops>(q, per_step, last_step, made.point_q, made.error_q);
    }
    return made;
}

/// Against a point that is known; per_point turns it into steps.
template <class Ops>
PHY_INLINE Decision<Ops> compare(typename Ops::V i, typename Ops::V q, typename Ops::V sent_i,
                                 typename Ops::V sent_q, typename Ops::V per_step,
                                 typename Ops::V per_point) {
    Decision<Ops> made;
    made.point_i = Ops::mul(sent_i, per_point);
    made.point_q = Ops::mul(sent_q, per_point);
    made.error_i = Ops::fms(i, per_step, made.point_i);
    made.error_q = Ops::fms(q, per_step, made.point_q);
    return made;
}

template <class Ops>
PHY_INLINE typename Ops::V power_of(typename Ops::V i, typename Ops::V q) {
    return Ops::fma(q, q, Ops::mul(i, i));
}

template <class Ops>
PHY_INLINE void add_symbol(SymbolAccumulators<Ops>& to, typename Ops::V i, typename Ops::V q,
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
    sums[sum_turned] = Ops::fma(q, made.point_i, sums[sum_turned]);
    sums[sum_turned] = Ops::nfma(i, made.point_q, sums[sum_turned]);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
