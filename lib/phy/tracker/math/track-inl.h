// The arithmetic of PhaseTracker, with the same bits on every backend.
#if defined(PHY_TRACKER_TRACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_TRACKER_TRACK_INL_H_
#undef PHY_TRACKER_TRACK_INL_H_
#else
#define PHY_TRACKER_TRACK_INL_H_
#endif

#include <cstdint>

#include "phy/equalizer/math/solve-inl.h"
#include "phy/measure/math/symbol_step-inl.h"
#include "phy/simd/complex-inl.h"
#include "phy/simd/math-inl.h"
#include "phy/tracker/math/plan.hpp"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// Of a measured phase: a standard deviation of 1/8.
inline constexpr float min_information = 32.0F;

/// Of a phase that data say from that of PT-RS.
inline constexpr float max_deviations = 7.0F;

/// Sums over symbols x and the means d of their points.
template <class Ops>
struct PhaseSums {
    typename Ops::V score;      ///< Im(x d*) / n
    typename Ops::V agreement;  ///< Re(x d*) / n
    typename Ops::V lost;       ///< 2 Var[Im(x d*) | x] / n^2
    typename Ops::V misfit;     ///< |x - nearest point|^2 / n
    typename Ops::V used;       ///< 1
};

/// A component of d, in units of the distance between levels, and its variance, given x.
template <class Ops>
struct AxisMean {
    typename Ops::V mean;
    typename Ops::V variance;
};

/// From the nearest level and the distance of x from it. weight: 1 / n.
template <class Ops>
PHY_INLINE AxisMean<Ops> axis_mean(typename Ops::V point, typename Ops::V error, typename Ops::V weight,
                                   const LaneScale<Ops>& scale) {
    const auto one = Ops::set(1.0F);
    const auto zero = Ops::set(0.0F);
    const auto distance = Ops::max(Ops::nfma(Ops::set(2.0F), Ops::abs(error), one), zero);
    const auto odds = exp_negative<Ops>(Ops::sub(zero, Ops::mul(distance, weight)));
    const auto next = Ops::add(point, Ops::flip(one, error));
    const auto room = Ops::sub(Ops::add(scale.last_step, one), Ops::abs(next));
    const auto share = Ops::where_positive(room, Ops::div(odds, Ops::add(one, odds)));
    return {Ops::add(point, Ops::flip(share, error)), Ops::nfma(share, share, share)};
}

/// 1 / n, with n in units of the distance between levels, squared. 0 if the nearest two of more levels say
/// too little.
template <class Ops>
PHY_INLINE typename Ops::V weight_of(typename Ops::V noise_variance, const LaneScale<Ops>& scale) {
    constexpr float min_noise = 0x1p-30F;  // so that no sum overflows
    constexpr float max_noise = 0.5F;
    const auto noise = Ops::mul(Ops::mul(noise_variance, scale.per_step), scale.per_step);
    const auto weight = Ops::div(Ops::set(1.0F), Ops::max(noise, Ops::set(min_noise)));
    const auto of_many_levels = Ops::where_positive(scale.last_step, noise);
    return Ops::where_positive(noise_variance,
                               Ops::where_positive(Ops::sub(Ops::set(max_noise), of_many_levels), weight));
}

/// What symbols add to PhaseSums, without their weights.
template <class Ops>
struct SymbolTerms {
    typename Ops::V score;
    typename Ops::V agreement;
    typename Ops::V variance;  ///< of score, given x
    typename Ops::V misfit;
};

template <class Ops>
PHY_INLINE void add_terms(const SymbolTerms<Ops>& terms, typename Ops::V weight, PhaseSums<Ops>& sums) {
    sums.score = Ops::fma(terms.score, weight, sums.score);
    sums.agreement = Ops::fma(terms.agreement, weight, sums.agreement);
    const auto twice = Ops::add(terms.variance, terms.variance);
    sums.lost = Ops::fma(Ops::mul(twice, weight), weight, sums.lost);
    sums.misfit = Ops::fma(terms.misfit, weight, sums.misfit);
    sums.used = Ops::add(sums.used, Ops::where_positive(weight, Ops::set(1.0F)));
}

/// The misfit of symbols, rotated back by the phase, without their weight.
template <class Ops, bool diagonal>
PHY_INLINE typename Ops::V misfit_of(typename Ops::V i, typename Ops::V q, const ComplexOf<Ops>& phase,
                                     const LaneScale<Ops>& scale) {
    rotate_back<Ops>(phase.re, phase.im, i, q);
    const Decision<Ops> made = decide<Ops, diagonal>(i, q, scale);
    return power_of<Ops>(made.error_i, made.error_q);
}

/// A misfit with its weight, at most the limit.
template <class Ops>
PHY_INLINE typename Ops::V limited(typename Ops::V misfit, typename Ops::V weight, typename Ops::V limit) {
    return Ops::where_positive(weight, Ops::min(Ops::mul(misfit, weight), limit));
}

/// The terms of symbols, rotated back by the phase. weight: that of weight_of().
template <class Ops, bool diagonal>
PHY_INLINE SymbolTerms<Ops> terms_of(typename Ops::V i, typename Ops::V q, typename Ops::V weight,
                                     const ComplexOf<Ops>& phase, const LaneScale<Ops>& scale) {
    rotate_back<Ops>(phase.re, phase.im, i, q);
    const Decision<Ops> made = decide<Ops, diagonal>(i, q, scale);
    const auto x = Ops::mul(i, scale.per_step);
    const auto y = Ops::mul(q, scale.per_step);
    const auto misfit = power_of<Ops>(made.error_i, made.error_q);
    if constexpr (diagonal) {
        const auto along = Ops::max(Ops::fma(x, made.point_i, Ops::mul(y, made.point_q)), Ops::set(0.0F));
        const auto across = Ops::fms(y, made.point_i, Ops::mul(x, made.point_q));
        const auto one = Ops::set(1.0F);
        const auto odds = exp_negative<Ops>(Ops::mul(Ops::mul(along, weight), Ops::set(-4.0F)));
        const auto share = Ops::div(odds, Ops::add(one, odds));
        const auto sure = Ops::nfma(Ops::set(2.0F), share, one);
        const auto twice = Ops::add(across, across);
        return {Ops::mul(across, sure), Ops::mul(along, sure),
                Ops::mul(Ops::mul(twice, twice), Ops::nfma(share, share, share)), misfit};
    } else {
        const AxisMean<Ops> of_i = axis_mean<Ops>(made.point_i, made.error_i, weight, scale);
        const AxisMean<Ops> of_q = axis_mean<Ops>(made.point_q, made.error_q, weight, scale);
        return {Ops::fms(y, of_i.mean, Ops::mul(x, of_q.mean)),
                Ops::fma(x, of_i.mean, Ops::mul(y, of_q.mean)),
                Ops::fma(Ops::mul(y, y), of_i.variance, Ops::mul(Ops::mul(x, x), of_q.variance)), misfit};
    }
}

/// Sums over PT-RS x, sent as d, with noise variance n.
struct PtrsSums {
    float re;  ///< of x d* / n
    float im;
    float sent;      ///< |d|^2 / n
    float received;  ///< |x|^2 / n
    float used;      ///< 1
};

template <class Ops>
PHY_INLINE void add_ptrs(PtrsSums& sums, float x, float y, float noise_variance, float pilot_re,
                         float pilot_im, float amplitude) {
    constexpr float min_noise = 0x1p-30F;  // so that no sum overflows
    const float weight = noise_variance > 0.0F ? Ops::div(1.0F, Ops::max(noise_variance, min_noise)) : 0.0F;
    const float re = Ops::mul(pilot_re, amplitude);
    const float im = Ops::mul(pilot_im, amplitude);
    const ComplexOf<Ops> turned = times_conjugate<Ops>({x, y}, {re, im});
    sums.re = Ops::fma(turned.re, weight, sums.re);
    sums.im = Ops::fma(turned.im, weight, sums.im);
    sums.sent = Ops::fma(power_of<Ops>(re, im), weight, sums.sent);
    sums.received = Ops::fma(power_of<Ops>(x, y), weight, sums.received);
    if (weight > 0.0F) sums.used = Ops::add(sums.used, 1.0F);
}

/// What the PT-RS of an OFDM symbol say about its phase. n is made larger where they show more noise.
struct PtrsPhase {
    float re;  ///< sum of x d* / n
    float im;
    float length;  ///< of that: its information
    float misfit;  ///< sum of |x - d|^2 / n, with the phase and amplitude of d that make it least
    float used;    ///< PT-RS
};

/// Whether they say enough to be followed against the data. Of fewer than 6 nothing shows that they fit.
PHY_INLINE bool are_clear(const PtrsPhase& ptrs) {
    return ptrs.used >= 6.0F && ptrs.length >= min_information;
}

/// Nothing if they are not what was sent, not even half of it: there may be none where the link has them.
template <class Ops>
PHY_INLINE PtrsPhase phase_of(const PtrsSums& sums) {
    constexpr float max_power = 0x1p60F;
    const float square = power_of<Ops>(sums.re, sums.im);
    const bool is_sent = sums.sent > 0.0F && sums.received <= max_power &&
                         Ops::mul(4.0F, square) >= Ops::mul(sums.sent, sums.sent);
    if (!is_sent) return {};
    const float misfit = Ops::max(Ops::sub(sums.received, Ops::div(square, sums.sent)), 0.0F);
    const float free = Ops::max(Ops::sub(sums.used, 1.0F), 1.0F);
    const float share = Ops::div(1.0F, Ops::max(Ops::div(misfit, free), 1.0F));
    return {Ops::mul(sums.re, share), Ops::mul(sums.im, share), Ops::mul(square_root(square), share),
            Ops::mul(misfit, share), sums.used};
}

/// The sum of |x - d|^2 / n with another phase.
template <class Ops>
PHY_INLINE float misfit_at(const PtrsPhase& ptrs, const TrackedPhase& phase) {
    const float along = Ops::fma(ptrs.re, phase.re, Ops::mul(ptrs.im, phase.im));
    return Ops::fma(2.0F, Ops::sub(ptrs.length, along), ptrs.misfit);
}

/// Whether a phase is within so many standard deviations of what PT-RS say, or these say too little.
template <class Ops>
PHY_INLINE bool agrees(const PtrsPhase& ptrs, const TrackedPhase& phase, float deviations) {
    const float distance = Ops::sub(misfit_at<Ops>(ptrs, phase), ptrs.misfit);  // half a square of deviations
    return !(are_clear(ptrs) && Ops::mul(2.0F, distance) > Ops::mul(deviations, deviations));
}

/// The phase that PT-RS alone say for an OFDM symbol, and its information. If its own say too little, the
/// phase between that of the step before and the next one that PT-RS say, without information; that of the
/// step before, if there is none. ptrs: of this step and the later ones of its chain.
template <class Ops>
PHY_INLINE TrackedPhase ptrs_alone(const TrackedPhase& before, const PtrsPhase* ptrs, std::uint32_t steps) {
    std::uint32_t away = 0;
    while (away < steps && !are_clear(ptrs[away]))
        ++away;
    const TrackedPhase same = {before.re, before.im, 0.0F};
    if (away == steps) return same;
    const PtrsPhase& next = ptrs[away];
    const float re = Ops::div(next.re, next.length);
    const float im = Ops::div(next.im, next.length);
    if (away == 0) return {re, im, next.length};
    const auto weight = static_cast<float>(away);
    const float sum_re = Ops::fma(weight, before.re, re);
    const float sum_im = Ops::fma(weight, before.im, im);
    const float length = square_root(power_of<Ops>(sum_re, sum_im));
    if (!(length > 0.5F)) return same;
    return {Ops::div(sum_re, length), Ops::div(sum_im, length), 0.0F};
}

/// The sums of data and PT-RS, rotated back by the phase.
template <class Ops>
PHY_INLINE PhaseSums<Ops> with_ptrs(PhaseSums<Ops> sums, const PtrsPhase& ptrs, const TrackedPhase& phase) {
    if (!(ptrs.used > 0.0F)) return sums;
    float along = ptrs.re;
    float across = ptrs.im;
    rotate_back<Ops>(phase.re, phase.im, along, across);
    sums.score = Ops::add(sums.score, across);
    sums.agreement = Ops::add(sums.agreement, along);
    sums.misfit = Ops::add(sums.misfit, misfit_at<Ops>(ptrs, phase));
    sums.used = Ops::add(sums.used, ptrs.used);
    return sums;
}

/// How much more noise symbols have than their n say, at least 1.
template <class Ops>
PHY_INLINE float excess_noise(const PhaseSums<Ops>& sums) {
    return Ops::max(Ops::div(sums.misfit, Ops::max(sums.used, 1.0F)), 1.0F);
}

template <class Ops>
PHY_INLINE TrackedPhase tried_phase(const TrackedPhase& before, const TriedStep& step) {
    const ComplexOf<Ops> phase = times<Ops>({before.re, before.im}, {step.re, step.im});
    return {phase.re, phase.im, 0.0F};
}

/// The tried step from a phase that has the least misfit; 0 unless that is less by more than chance explains:
/// than without a step, and than with the same step to the other side. Points of a wrong modulation have the
/// same misfit to both sides, because constellations are their own mirror images. misfits: of data, of steps
/// from 1 on.
template <class Ops>
PHY_INLINE std::uint32_t best_step(const TrackPlan& plan, const PhaseSums<Ops>& sums, const float* misfits,
                                   const TrackedPhase& from, const PtrsPhase& ptrs) {
    const auto misfit = [&](std::uint32_t k) {
        if (!(ptrs.used > 0.0F)) return misfits[k];
        return Ops::add(misfits[k], misfit_at<Ops>(ptrs, tried_phase<Ops>(from, plan.tried[k])));
    };
    const float gain = Ops::mul(Ops::mul(4.0F, square_root(sums.used)), excess_noise<Ops>(sums));
    float least = Ops::sub(sums.misfit, gain);
    std::uint32_t best = 0;
    for (std::uint32_t k = 1; k < plan.tried_count; ++k) {
        const std::uint32_t other_side = ((k - 1) ^ 1U) + 1;
        if (!agrees<Ops>(ptrs, tried_phase<Ops>(from, plan.tried[k]), max_deviations)) continue;
        const float here = misfit(k);
        if (!(here < least && here < Ops::sub(misfit(other_side), gain))) continue;
        least = here;
        best = k;
    }
    return best;
}

/// The phase after a step of Newton's method, whose information is 0 if it is not clear. The step, r = S / F,
/// is an angle of 2 atan(t) with t = r / (2 + r^2 / 2): arctan r to 0.2 % for r up to 1/2.
template <class Ops>
PHY_INLINE TrackedPhase followed_phase(const TrackedPhase& before, const PhaseSums<Ops>& sums) {
    constexpr float min_used = 20.0F;
    const float information = Ops::sub(sums.agreement, sums.lost);
    const float usable = Ops::div(information, excess_noise<Ops>(sums));
    const bool is_clear = sums.used >= min_used && usable >= min_information &&
                          information >= Ops::mul(0.25F, sums.agreement) &&
                          Ops::abs(sums.score) <= Ops::mul(0.5F, information);
    if (!is_clear) return {before.re, before.im, 0.0F};
    const float r = Ops::div(sums.score, information);
    const float t = Ops::div(r, Ops::fma(Ops::mul(0.5F, r), r, 2.0F));
    const float t2 = Ops::mul(t, t);
    const float whole = Ops::add(1.0F, t2);
    const ComplexOf<Ops> step = {Ops::div(Ops::sub(1.0F, t2), whole), Ops::div(Ops::add(t, t), whole)};
    const ComplexOf<Ops> phase = times<Ops>({before.re, before.im}, step);
    return {phase.re, phase.im, Ops::mul(usable, Ops::div(information, sums.agreement))};
}

/// Times how much symbols have more noise than their n say, if chance does not explain it, else 1. By Huber's
/// method: the g at which the mean of min(|x - nearest point|^2 / n, 4 g) is what noise of g n makes of it,
/// 1 - exp(-4) times g, so that the few symbols that something else spoils count little. Wrong decisions make
/// g smaller. symbols has limited_misfit(phase, limit); `used` of them have a weight.
template <class Ops, class Symbols>
PHY_INLINE float noise_factor(Symbols& symbols, const TrackedPhase& phase, float used) {
    constexpr float min_used = 50.0F;
    constexpr int max_steps = 12;  // up to 4^12
    if (!(used >= min_used)) return 1.0F;
    const float scale = Ops::div(1.0F, Ops::mul(0.98168436F, used));
    const float chance = Ops::div(5.0F, square_root(used));
    float factor = 1.0F;
    for (int i = 0; i < max_steps; ++i) {
        const float next = Ops::mul(symbols.limited_misfit(phase, Ops::mul(4.0F, factor)), scale);
        const bool is_more = next > Ops::fma(i == 0 ? chance : 0.05F, factor, factor);
        if (i == 0 && !is_more) return 1.0F;
        factor = next;
        if (!is_more) break;
    }
    return factor;
}

/// An OFDM symbol, from the phase of the one before. symbols has sums(phase), misfits(plan, phase) of the
/// tried steps from that phase on, and what noise_factor() needs, of data alone. ptrs: as for ptrs_alone().
template <class Ops, class Symbols>
PHY_INLINE TrackedSymbol follow_symbol(const TrackPlan& plan, const TrackedPhase& before, Symbols& symbols,
                                       const PtrsPhase* ptrs, std::uint32_t steps) {
    constexpr float max_misfit = 0x1p100F;  // not so if a symbol is not finite
    const PtrsPhase& own = ptrs[0];
    const TrackedPhase alone = ptrs_alone<Ops>(before, ptrs, steps);
    const bool is_near = alone.information > 0.0F && agrees<Ops>(own, before, 4.0F);
    const TrackedPhase first = is_near ? before : alone;
    const PhaseSums<Ops> data = symbols.sums(first);
    PhaseSums<Ops> sums = with_ptrs<Ops>(data, own, first);
    const std::uint32_t best = best_step<Ops>(plan, sums, symbols.misfits(plan, first), first, own);
    TrackedPhase phase = tried_phase<Ops>(first, plan.tried[best]);
    if (best != 0) sums = with_ptrs<Ops>(symbols.sums(phase), own, phase);
    phase = followed_phase<Ops>(phase, sums);
    if (phase.information > 0.0F)
        phase = followed_phase<Ops>(phase, with_ptrs<Ops>(symbols.sums(phase), own, phase));
    if (!(phase.information > 0.0F && agrees<Ops>(own, phase, max_deviations))) phase = alone;
    const float used = data.misfit <= max_misfit ? data.used : 0.0F;
    const TrackedPhase still = {1.0F, 0.0F, 0.0F};
    return {phase, noise_factor<Ops>(symbols, phase, used), noise_factor<Ops>(symbols, still, used)};
}

/// Makes the noise of a pair larger: share is 1 over the factor.
PHY_INLINE void weaken(LayerPair& pair, float share) {
    auto* const numbers = reinterpret_cast<float*>(&pair);
    for (std::size_t i = 0; i < sizeof(LayerPair) / sizeof(float); ++i)
        numbers[i] *= share;
}

/// Whether a slot's phases are more than chance explains.
template <class Ops>
PHY_INLINE bool is_rotated(const TrackedSymbol* symbols, std::uint32_t count) {
    float sum = 0.0F;
    float measured = 0.0F;
    for (std::uint32_t i = 0; i < count; ++i) {
        const TrackedPhase& phase = symbols[i].phase;
        const float missing = Ops::sub(1.0F, phase.re);
        const float square = Ops::fma(phase.im, phase.im, Ops::mul(missing, missing));
        sum = Ops::fma(Ops::mul(2.0F, phase.information), square, sum);
        if (phase.information > 0.0F) measured = Ops::add(measured, 1.0F);
    }
    return sum > Ops::mul(4.0F, Ops::add(measured, 2.0F));
}

/// Adds what is_rotated() slots report to a slot's estimate.
template <class Ops>
PHY_INLINE void report_phases(const TrackPlan& plan, const TrackedSymbol* symbols, SlotEstimate& slot) {
    constexpr float two_pi = 0x1.921fb6p+2F;
    auto* const of_slot = reinterpret_cast<float*>(slot.phase.data());
    const std::uint32_t count = plan.step_count();
    float sum = 0.0F;
    std::int32_t measured = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const TrackedPhase& phase = symbols[i].phase;
        float* const of_symbol = of_slot + 2 * plan.steps[i].symbol;
        const ComplexOf<Ops> both = times<Ops>({of_symbol[0], of_symbol[1]}, {phase.re, phase.im});
        of_symbol[0] = Ops::select_finite(both.re, both.re, of_symbol[0]);
        of_symbol[1] = Ops::select_finite(both.im, both.im, of_symbol[1]);
        const float angle = Ops::mul(two_pi, turns_of<Ops>(phase.re, phase.im));
        sum = Ops::fma(angle, angle, sum);
        if (phase.information > 0.0F) ++measured;
    }
    slot.tracked_symbols = measured;
    slot.phase_error = square_root(Ops::div(sum, static_cast<float>(count)));
}

/// Adds to a slot's estimate what noise its OFDM symbols have.
PHY_INLINE void report_noise(const TrackPlan& plan, const TrackedSymbol* symbols, bool is_rotated,
                             SlotEstimate& slot) {
    for (std::uint32_t i = 0; i < plan.step_count(); ++i)
        slot.excess_noise[plan.steps[i].symbol] = is_rotated ? symbols[i].noise : symbols[i].noise_still;
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
