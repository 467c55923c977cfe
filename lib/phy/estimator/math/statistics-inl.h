// The measured values of a slot, from sums, one number at a time. docs/developer/estimator.md explains them.
#if defined(PHY_ESTIMATOR_STATISTICS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_ESTIMATOR_STATISTICS_INL_H_
#undef PHY_ESTIMATOR_STATISTICS_INL_H_
#else
#define PHY_ESTIMATOR_STATISTICS_INL_H_
#endif

#include <cmath>
#include <limits>

#include "phy/estimator/math/formulas-inl.h"
#include "phy/estimator/math/layout.hpp"
#include "phy/estimator/math/slot_state.hpp"
#include "phy/estimator/slot_estimate.hpp"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

// Min mean energy of a slot, and min power of a stream; below, they count as 0.
constexpr float least_energy = 0x1p-100F;
constexpr float least_power = 0x1p-90F;

/// Measured noise is at least this share of a pilot's energy, the size of rounding errors. As N0 it is at
/// least the smallest normal number, so that an equaliser erases a slot without power, and does not throw.
constexpr float min_noise_share = 0x1p-22F;
constexpr float min_noise_variance = 0x1p-126F;

/// Min mean energy of residuals that have a covariance.
constexpr float least_residual = 0x1p-120F;
constexpr float max_covariance_factor = 0x1p100F;
/// The factor of elements of a covariance beside its diagonal, against rounding errors.
constexpr float covariance_margin = 1.0F - 0x1p-18F;

/// Streams are a signal if their power over noise is above this; others have max_noise_over_power.
constexpr float min_power_over_noise = 0x1p-20F;
constexpr float max_noise_over_power = 0x1p20F;
constexpr float min_noise_over_power = 0x1p-23F;

/// The mean correlation of neighbours over the mean energy.
template <class Ops>
PHY_INLINE float measured_coherence(const EstimatorConstants& constants, const float* sums) {
    const float energy = Ops::mul(sums[0], constants.energy_share);
    const float over_energy = energy > least_energy ? Ops::div(1.0F, energy) : 0.0F;
    const float share = Ops::mul(over_energy, constants.neighbour_share);
    const float re = Ops::mul(sums[1], share);
    const float im = Ops::mul(sums[2], share);
    return Ops::min(square_root(Ops::fma(re, re, Ops::mul(im, im))), 1.0F);
}

template <class Ops>
PHY_INLINE float measured_frequency(const EstimatorConstants& constants, const float* sums) {
    if (constants.corrects_frequency == 0) return 0.0F;
    float above = 0.0F;
    float below = 0.0F;
    for (int pair = 0; pair < constants.pairs; ++pair) {
        const float re = sums[3 + 2 * pair];
        const float im = sums[4 + 2 * pair];
        const float gap = constants.gaps[static_cast<std::size_t>(pair)];
        const float weight = Ops::mul(Ops::add(Ops::abs(re), Ops::abs(im)), gap);
        above = Ops::fma(weight, turns_of<Ops>(re, im), above);
        below = Ops::fma(weight, gap, below);
    }
    return below > least_energy ? Ops::div(above, below) : 0.0F;
}

/// How much pilots change from one DM-RS to the next, beside the rotation.
template <class Ops>
PHY_INLINE float measured_change(const EstimatorConstants& constants, const float* sums, float frequency) {
    const float* const energies = sums + 3 + 2 * constants.pairs;
    float change = 0.0F;
    for (int pair = 0; pair < constants.pairs; ++pair) {
        const ComplexOf<Ops> turn = phasor<Ops>(constants.gaps[static_cast<std::size_t>(pair)], frequency);
        const float common = Ops::fma(sums[4 + 2 * pair], turn.im, Ops::mul(sums[3 + 2 * pair], turn.re));
        change = Ops::add(change, Ops::fma(-2.0F, common, Ops::add(energies[pair], energies[pair + 1])));
    }
    return Ops::mul(change, constants.change_share);
}

/// The phase of one symbol.
template <class Ops>
PHY_INLINE void set_phase(const EstimatorConstants& constants, std::size_t l, float frequency,
                          SlotState& state) {
    const ComplexOf<Ops> phase = phasor<Ops>(constants.times[l], frequency);
    state.phase_re[l] = phase.re;
    state.phase_im[l] = phase.im;
}

/// Coherence, frequency and change from a slot's sums, but for the phases.
template <class Ops>
PHY_INLINE void set_offsets(const EstimatorConstants& constants, const float* sums, float frequency,
                            SlotState& state) {
    state.coherence = measured_coherence<Ops>(constants, sums);
    state.frequency_offset = frequency;
    state.energy = Ops::mul(sums[0], constants.energy_share);
    state.change = measured_change<Ops>(constants, sums, frequency);
}

/// The same with phases.
template <class Ops>
PHY_INLINE void set_offsets(const EstimatorConstants& constants, const float* sums, SlotState& state) {
    set_offsets<Ops>(constants, sums, measured_frequency<Ops>(constants, sums), state);
    for (std::size_t l = 0; l < symbols_per_slot; ++l)
        set_phase<Ops>(constants, l, state.frequency_offset, state);
}

/// The noise of a pilot of a stream, as residuals show it, which weak modes are part of, and as changes from
/// DM-RS to DM-RS do, which those of the channel are part of.
template <class Ops>
PHY_INLINE float joined_noise(const EstimatorConstants& constants, const EstimatorFacts& facts,
                              const SlotState& state, float residual) {
    if (facts.change_weight == 0.0F) return residual;
    const float change = Ops::div(Ops::mul(0.5F, state.change), constants.symbols_averaged);
    if (change > residual) return residual;
    if (residual > Ops::mul(change, facts.max_residual)) return change;
    return Ops::fma(facts.change_weight, Ops::sub(change, residual), residual);
}

/// Noise and the power of each stream's channel, from the energies and residuals of streams. The noise of a
/// spoiled slot is infinite.
template <class Ops>
PHY_INLINE void set_noise(const EstimatorConstants& constants, const EstimatorFacts& facts,
                          const float* energies, const float* residuals, SlotState& state) {
    float residual = 0.0F;
    float freedom = 0.0F;
    float energy = 0.0F;
    for (int s = 0; s < constants.streams; ++s) {
        const auto stream = static_cast<std::size_t>(s);
        const auto kind = static_cast<std::size_t>(constants.joint[stream]);
        const float mean = Ops::div(energies[s], facts.pilots[kind]);
        residual = Ops::add(residual, residuals[s]);
        freedom = Ops::add(freedom, facts.freedom[kind]);
        energy = Ops::max(energy, mean);
    }
    if (constants.noise_variance > 0.0F) {
        state.noise_variance = constants.noise_variance;
        state.noise = Ops::div(constants.noise_variance, constants.noise_scale);
    } else {
        const float noise = joined_noise<Ops>(constants, facts, state, Ops::div(residual, freedom));
        state.noise = Ops::max(noise, Ops::mul(energy, min_noise_share));
        state.noise_variance = Ops::max(Ops::mul(state.noise, constants.noise_scale), min_noise_variance);
    }
    PHY_UNROLL for (int kind = 0; kind < 2; ++kind) {
        float power = 0.0F;
        float count = 0.0F;
        for (int s = 0; s < constants.streams; ++s) {
            const auto stream = static_cast<std::size_t>(s);
            if (constants.joint[stream] != kind) continue;
            const float of_pilot =
                Ops::sub(Ops::div(energies[s], facts.pilots[static_cast<std::size_t>(kind)]), state.noise);
            state.power[stream] = Ops::max(Ops::div(of_pilot, constants.ports[stream]), 0.0F);
            power = Ops::add(power, of_pilot);
            count = Ops::add(count, 1.0F);
        }
        power = Ops::div(power, Ops::max(count, 1.0F));
        const bool is_signal = power > Ops::mul(state.noise, min_power_over_noise) && power > least_power;
        const float ratio = is_signal ? Ops::div(state.noise, power) : max_noise_over_power;
        state.noise_over_power[static_cast<std::size_t>(kind)] = Ops::max(ratio, min_noise_over_power);
    }
    if (state.is_spoiled != 0) state.noise_variance = std::numeric_limits<float>::infinity();
    state.is_spoiled = 0;
}

/// How many limits the value is not below.
template <class Limits>
PHY_INLINE int reached(const Limits& limits, int count, float value) {
    int result = 0;
    for (int i = 0; i < count; ++i)
        if (value >= limits[static_cast<std::size_t>(i)]) ++result;
    return result;
}

/// The set of weights in time. Chance and interference, which do not change with the channel, are taken out.
template <class Ops>
PHY_INLINE int time_set(const EstimatorConstants& constants, const SlotState& state, float error,
                        float power) {
    const EstimatorTimeSets& sets = constants.time;
    const float noise = Ops::mul(state.noise, constants.symbols_averaged);
    const float signal = Ops::sub(state.energy, noise);
    const float change = Ops::fma(0.5F, state.change, -noise);
    const int of_change =
        signal > 0.0F ? reached(sets.least_change, sets.changes - 1, Ops::div(change, signal)) : 0;
    const int of_error =
        power > 0.0F ? reached(sets.least_error, sets.errors - 1, Ops::div(error, power)) : sets.errors - 1;
    return of_change * sets.errors + of_error;
}

/// The estimate of a slot, except for its phases; nothing is tracked yet. errors: (filters, kinds), for
/// coefficients of power 1.
template <class Ops>
PHY_INLINE void set_estimate(const EstimatorConstants& constants, const SlotState& state, int filters,
                             const float* shares, const float* errors, SlotEstimate& out) {
    float error = 0.0F;
    float power = 0.0F;
    float ports = 0.0F;
    for (int s = 0; s < constants.streams; ++s) {
        const auto stream = static_cast<std::size_t>(s);
        float of_stream = 0.0F;
        for (int f = 0; f < filters; ++f)
            of_stream = Ops::fma(shares[f], errors[2 * f + constants.joint[stream]], of_stream);
        const float of_ports = Ops::mul(constants.ports[stream], state.power[stream]);
        error = Ops::fma(of_ports, of_stream, error);
        power = Ops::add(power, of_ports);
        ports = Ops::add(ports, constants.ports[stream]);
    }
    out.noise_variance = state.noise_variance;
    out.channel_power = Ops::div(power, ports);
    const float of_estimate = Ops::div(error, ports);
    out.time_set = time_set<Ops>(constants, state, of_estimate, out.channel_power);
    const auto set = static_cast<std::size_t>(out.time_set);
    out.channel_error = Ops::fma(constants.time.error_share[set], out.channel_power,
                                 Ops::mul(constants.time.noise_share[set], of_estimate));
    out.timing_offset = Ops::div(state.timing, constants.subcarrier_spacing);
    out.frequency_offset = Ops::mul(state.frequency_offset, constants.subcarrier_spacing);
    out.delay_spread = Ops::div(state.delay_spread, constants.subcarrier_spacing);
    out.coherence = state.coherence;
    out.phase_error = 0.0F;
    out.tracked_symbols = 0;
    for (std::size_t l = 0; l < symbols_per_slot; ++l)
        out.excess_noise[l] = 1.0F;
}

/// How products of residuals of pilots become a covariance.
struct CovarianceScale {
    float factor;   ///< from the mean product of a pilot; 0: there are no residuals
    float freedom;  ///< independent residuals per pilot
};

/// The estimate takes a part of the noise out of the residuals, so that the mean over antennas is that of the
/// slot. trace: of the sum over all pilots.
template <class Ops>
PHY_INLINE CovarianceScale covariance_scale(const SlotState& state, float trace, int antennas, int pilots) {
    const float residual = Ops::div(trace, static_cast<float>(antennas * pilots));
    const float factor = Ops::div(state.noise_variance, residual);
    if (!(residual > least_residual) || !(factor < max_covariance_factor)) return {0.0F, 0.0F};
    return {factor, Ops::min(Ops::div(residual, state.noise_variance), 1.0F)};
}

/// The factor from a sum of products over so many pilots, above 0, to an element.
template <class Ops>
PHY_INLINE float covariance_factor(const CovarianceScale& scale, int pilots) {
    return Ops::div(scale.factor, static_cast<float>(pilots));
}

/// An element of the covariance matrix of noise and interference, on the diagonal or below, from a sum of
/// products. That of a spoiled slot is infinite noise.
template <class Ops>
PHY_INLINE ComplexOf<Ops> covariance_of(const SlotState& state, ComplexOf<Ops> sum, float factor,
                                        bool on_diagonal) {
    if (state.noise_variance == std::numeric_limits<float>::infinity() || factor == 0.0F)
        return {on_diagonal ? state.noise_variance : 0.0F, 0.0F};
    return {Ops::mul(sum.re, factor), on_diagonal ? 0.0F : Ops::mul(sum.im, factor)};
}

/// 1 over the variance of an antenna; 0 of one without noise, which is not compared.
template <class Ops>
PHY_INLINE float weight_of_variance(float variance) {
    return variance > 0.0F ? Ops::div(1.0F, variance) : 0.0F;
}

/// The squared correlation of two antennas with these weights.
template <class Ops>
PHY_INLINE float squared_correlation(ComplexOf<Ops> element, float a, float b) {
    return Ops::fma(Ops::mul(element.re, a), Ops::mul(element.re, b),
                    Ops::mul(Ops::mul(element.im, a), Ops::mul(element.im, b)));
}

/// |x - y|^2, as squared_correlation().
template <class Ops>
PHY_INLINE float squared_difference(ComplexOf<Ops> x, ComplexOf<Ops> y, float a, float b) {
    return squared_correlation<Ops>({Ops::sub(x.re, y.re), Ops::sub(x.im, y.im)}, a, b);
}

/// sum: over subbands and pairs of antennas, of squared_difference() times the pilots of the subband. 1 on
/// average for equal subbands.
template <class Ops>
PHY_INLINE float chance_of_subbands(float sum, float freedom, int subbands, int pairs) {
    if (subbands < 2) return 0.0F;
    return Ops::div(Ops::mul(sum, freedom), static_cast<float>((subbands - 1) * pairs));
}

/// The share of the slot's matrix in that of a subband, if subbands differ by `chance` times what chance
/// makes of equal ones. All of it up to what is usual in white noise.
template <class Ops>
PHY_INLINE float slot_share(float chance) {
    constexpr float usual = 1.25F;
    if (!(chance > usual)) return 1.0F;
    const float share = Ops::div(usual, chance);
    return Ops::mul(share, share);
}

/// The same in a subband with so many pilots, which few of them would whiten too well: their matrix has no
/// power in some directions.
template <class Ops>
PHY_INLINE float subband_share(float share, int antennas, int pilots) {
    if (pilots <= antennas) return 1.0F;
    const float ratio = Ops::div(static_cast<float>(antennas), static_cast<float>(pilots));
    return Ops::max(share, Ops::mul(ratio, ratio));
}

/// An element of a subband's matrix from those of the slot and of its own pilots. Elements beside the
/// diagonal keep a margin for rounding, so that the matrix stays positive definite.
template <class Ops>
PHY_INLINE ComplexOf<Ops> subband_element(ComplexOf<Ops> of_slot, ComplexOf<Ops> own, float share,
                                          bool on_diagonal) {
    const float rest = Ops::mul(Ops::sub(1.0F, share), on_diagonal ? 1.0F : covariance_margin);
    return {Ops::fma(share, of_slot.re, Ops::mul(rest, own.re)),
            Ops::fma(share, of_slot.im, Ops::mul(rest, own.im))};
}

/// The factor of the elements beside the diagonal that leaves little of what chance makes of independent
/// noise, and nearly all of an interferer that is clearly there. correlation: the mean squared_correlation();
/// independent noise has 1 / freedom on average.
template <class Ops>
PHY_INLINE float kept_share(float correlation, float freedom) {
    const float chance = Ops::mul(correlation, freedom);
    if (!(chance > 1.0F)) return 0.0F;
    // The weight of the diagonal alone: the square of Ledoit's and Wolf's, which strong interference would
    // still leave as noise of its own power.
    const float weight = Ops::div(1.0F, chance);
    const float independent = Ops::max(Ops::sub(1.0F, correlation), 0.0F);
    return Ops::mul(covariance_margin, Ops::sub(1.0F, Ops::mul(Ops::mul(weight, weight), independent)));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
