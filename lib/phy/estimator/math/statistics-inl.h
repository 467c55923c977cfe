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

// Correctly rounded to binary32.
constexpr float two_pi = 6.2831853F;
constexpr float over_two_pi = 0.15915494F;
constexpr float root_of_two = 0x1.6a09e6p+0F;

// Min mean energy of a slot, and min power of a stream; below, they count as 0.
constexpr float least_energy = 0x1p-100F;
constexpr float least_power = 0x1p-90F;

/// Range of (2 pi spacing delay_spread)^2; below min_squared_x lag 3 measures it better than lag 1.
constexpr float max_squared_x = 100.0F;
constexpr float min_squared_x = 0.0015F;

/// Min squared correlation as a divisor.
constexpr float min_correlation = 1e-6F;

/// A longer lag is used if its squared correlation, over that at lag 1, is above this.
constexpr float sure_correlation = 0.25F;

/// A timing offset is corrected if it is more than this many standard deviations.
constexpr float sure_timing = 2.0F;

/// Given spreads: a filter serves measured spreads of up to (least_over_given + margin_of_given x
/// share_of_fading()) times its own. Measured spreads: that of a filter is at least (least_over_measured +
/// margin_of_measured x share_of_fading()) times the measured one.
constexpr float least_over_given = 1.05F;
constexpr float margin_of_given = 0.4F;
constexpr float least_over_measured = 1.2F;
constexpr float margin_of_measured = 0.8F;

/// Measured noise is at least this share of a pilot's energy, the size of rounding errors. As N0 it is at
/// least the smallest normal number, so that an equaliser erases a slot without power, and does not throw.
constexpr float min_noise_share = 0x1p-22F;
constexpr float min_noise_variance = 0x1p-126F;

/// A stream is a signal if its power over noise is above this; others have max_noise_over_power.
constexpr float min_power_over_noise = 0x1p-20F;
constexpr float max_noise_over_power = 0x1p20F;
constexpr float min_noise_over_power = 0x1p-23F;

PHY_INLINE float square_root(float x) {
#if defined(__CUDACC__)
    return __fsqrt_rn(x);
#else
    return std::sqrt(x);
#endif
}

template <std::size_t index>
PHY_INLINE float lag_at() {
    constexpr auto lag = static_cast<float>(estimator_lags[index]);
    return lag;
}

/// The delay spread of the exponential profile whose correlation falls as measured from lag 1 to another lag:
/// |R(lag)|^2 = 1 / (1 + (lag x)^2), where x = 2 pi spacing delay_spread.
template <class Ops>
PHY_INLINE float squared_x(float power_at_1, float power_at_lag, float lag) {
    const float lag2 = Ops::mul(lag, lag);
    const float above = Ops::sub(power_at_1, power_at_lag);
    const float below = Ops::fms(lag2, power_at_lag, power_at_1);
    if (!(above > 0.0F)) return 0.0F;
    if (!(below > Ops::mul(above, 1.0F / max_squared_x))) return max_squared_x;
    return Ops::div(above, below);
}

/// Mean correlations at the lags over the mean energy.
struct Correlations {
    float re[3];
    float im[3];
    float power[3];
};

template <class Ops>
PHY_INLINE Correlations correlations_of(const EstimatorConstants& constants, const float* sums) {
    Correlations result;
    const float energy = Ops::mul(sums[0], constants.energy_share);
    const float over_energy = energy > least_energy ? Ops::div(1.0F, energy) : 0.0F;
    PHY_UNROLL for (int lag = 0; lag < 3; ++lag) {
        const float share = Ops::mul(over_energy, constants.pair_share[static_cast<std::size_t>(lag)]);
        result.re[lag] = Ops::mul(sums[1 + 2 * lag], share);
        result.im[lag] = Ops::mul(sums[2 + 2 * lag], share);
        result.power[lag] =
            Ops::fma(result.re[lag], result.re[lag], Ops::mul(result.im[lag], result.im[lag]));
    }
    return result;
}

/// Other profiles differ most from the exponential one at delays beyond its spread. Short lags show these
/// delays, so they are used while the fall of correlation there is clear of noise.
template <class Ops>
PHY_INLINE float measured_delay_spread(const EstimatorConstants& constants, const Correlations& mean) {
    float x2 = squared_x<Ops>(mean.power[0], mean.power[1], lag_at<1>());
    if (constants.pair_share[2] > 0.0F && x2 < min_squared_x)
        x2 = squared_x<Ops>(mean.power[0], mean.power[2], lag_at<2>());
    const float spread = Ops::div(square_root(x2), Ops::mul(two_pi, constants.spacing));
    return Ops::max(Ops::min(spread, constants.max_delay_spread), constants.shortest_delay_spread);
}

/// The phase at a lag, minus that of the profile itself, in turns.
template <class Ops>
PHY_INLINE float turns_beyond_profile(const Correlations& mean, int lag, float subcarriers,
                                      float delay_spread) {
    const float of_profile = turns_of<Ops>(1.0F, Ops::mul(two_pi, Ops::mul(subcarriers, delay_spread)));
    return Ops::add(turns_of<Ops>(mean.re[lag], mean.im[lag]), of_profile);
}

/// The approximate difference of a fading profile from its mean, over the delay spread.
template <class Ops>
PHY_INLINE float share_of_fading(const EstimatorConstants& constants, float delay_spread) {
    const float independent = Ops::mul(constants.freedom, Ops::fma(constants.band, delay_spread, 1.0F));
    return Ops::div(1.0F, square_root(independent));
}

/// The standard deviation of a phase due to noise, in turns.
template <class Ops>
PHY_INLINE float phase_deviation(const EstimatorConstants& constants, const Correlations& mean, int lag) {
    const float power = Ops::max(Ops::min(mean.power[lag], 1.0F), min_correlation);
    const float share = constants.pair_share[static_cast<std::size_t>(lag)];
    const float variance = Ops::div(Ops::mul(Ops::mul(0.5F, Ops::sub(1.0F, power)), share), power);
    return Ops::mul(over_two_pi, square_root(variance));
}

/// The beginning of the profile. Longer lags refine the result of lag 1 if they are reliable.
template <class Ops>
PHY_INLINE float measured_timing(const EstimatorConstants& constants, const Correlations& mean,
                                 float delay_spread) {
    float timing = 0.0F;
    float noise = 0.0F;
    PHY_UNROLL for (int lag = 0; lag < 3; ++lag) {
        const bool is_sure = lag == 0 || (constants.pair_share[static_cast<std::size_t>(lag)] > 0.0F &&
                                          mean.power[lag] > Ops::mul(sure_correlation, mean.power[0]));
        if (!is_sure) continue;
        const float distance = lag == 0 ? lag_at<0>() : lag == 1 ? lag_at<1>() : lag_at<2>();
        const float subcarriers = Ops::mul(constants.spacing, distance);
        const float turns = turns_beyond_profile<Ops>(mean, lag, subcarriers, delay_spread);
        const float left = Ops::fma(subcarriers, timing, turns);
        const float nearest = Ops::sub(left, Ops::floor(Ops::add(left, 0.5F)));
        timing = Ops::sub(timing, Ops::div(nearest, subcarriers));
        noise = Ops::div(phase_deviation<Ops>(constants, mean, lag), subcarriers);
    }
    if (!(Ops::abs(timing) > Ops::mul(sure_timing, noise))) return 0.0F;
    // A fading profile does not begin where its mean does. Too early costs little, too late much: a filter
    // takes paths before the beginning for noise.
    const float share = share_of_fading<Ops>(constants, delay_spread);
    const float fading = Ops::mul(delay_spread, Ops::fma(share, share, share));
    const float uncertainty = square_root(Ops::fma(noise, noise, Ops::mul(fading, fading)));
    return Ops::sub(timing, uncertainty);
}

template <class Ops>
PHY_INLINE float measured_frequency(const EstimatorConstants& constants, const float* sums) {
    float above = 0.0F;
    float below = 0.0F;
    for (int pair = 0; pair < constants.pairs; ++pair) {
        const float re = sums[7 + 2 * pair];
        const float im = sums[8 + 2 * pair];
        const float gap = constants.gaps[static_cast<std::size_t>(pair)];
        const float weight = Ops::mul(Ops::add(Ops::abs(re), Ops::abs(im)), gap);
        above = Ops::fma(weight, turns_of<Ops>(re, im), above);
        below = Ops::fma(weight, gap, below);
    }
    return below > least_energy ? Ops::div(above, below) : 0.0F;
}

/// Timing and delay spread from a slot's sums.
template <class Ops>
PHY_INLINE void set_delays(const EstimatorConstants& constants, const float* sums, SlotState& state) {
    const Correlations mean = correlations_of<Ops>(constants, sums);
    const bool is_given = constants.delay_spread > 0.0F;
    const bool can_measure = constants.pair_share[1] > 0.0F;
    const float measured = can_measure ? measured_delay_spread<Ops>(constants, mean) : 0.0F;
    // A profile that is too long costs little; one that is too short cuts off paths. So a given spread is
    // replaced only if more was measured. A measured one gets a margin, which is larger if the slot shows
    // less.
    const float uncertainty = share_of_fading<Ops>(constants, measured);
    const float least =
        is_given ? Ops::div(measured, Ops::fma(margin_of_given, uncertainty, least_over_given))
                 : Ops::mul(measured, Ops::fma(margin_of_measured, uncertainty, least_over_measured));
    float spread = constants.first_delay_spread;
    int table = 0;
    for (; table + 1 < constants.tables && spread < least; ++table)
        spread = Ops::mul(spread, root_of_two);
    const float delay_spread = is_given ? spread : measured;
    state.coherence = Ops::min(square_root(mean.power[0]), 1.0F);
    state.table = table;
    state.delay_spread = delay_spread;
    state.step = constants.corrects_timing != 0 ? measured_timing<Ops>(constants, mean, delay_spread) : 0.0F;
}

/// The phase of one symbol.
template <class Ops>
PHY_INLINE void set_phase(const EstimatorConstants& constants, std::size_t l, float frequency,
                          SlotState& state) {
    const ComplexOf<Ops> phase = phasor<Ops>(constants.times[l], frequency);
    state.phase_re[l] = phase.re;
    state.phase_im[l] = phase.im;
}

/// Timing, frequency and delay spread from a slot's sums.
template <class Ops>
PHY_INLINE void set_offsets(const EstimatorConstants& constants, const float* sums, SlotState& state) {
    set_delays<Ops>(constants, sums, state);
    state.frequency_offset = measured_frequency<Ops>(constants, sums);
    for (std::size_t l = 0; l < symbols_per_slot; ++l)
        set_phase<Ops>(constants, l, state.frequency_offset, state);
}

/// Noise and the power of each stream's channel, from the energies and residuals of streams. The noise of a
/// spoiled slot is infinite.
template <class Ops>
PHY_INLINE void set_noise(const EstimatorConstants& constants, const EstimatorTable& table,
                          const float* energies, const float* residuals, SlotState& state) {
    float residual = 0.0F;
    float freedom = 0.0F;
    float energy = 0.0F;
    for (int s = 0; s < constants.streams; ++s) {
        const auto stream = static_cast<std::size_t>(s);
        const auto kind = static_cast<std::size_t>(constants.joint[stream]);
        const float mean = Ops::div(energies[s], table.pilots[kind]);
        const float of_port = Ops::div(mean, constants.ports[stream]);
        const float tail = Ops::mul(Ops::mul(of_port, table.tail[kind]), table.freedom[kind]);
        residual = Ops::add(residual, Ops::sub(residuals[s], tail));
        freedom = Ops::add(freedom, table.freedom[kind]);
        energy = Ops::max(energy, mean);
    }
    if (constants.noise_variance > 0.0F) {
        state.noise_variance = constants.noise_variance;
        state.noise = Ops::div(constants.noise_variance, constants.noise_scale);
    } else {
        state.noise = Ops::max(Ops::div(residual, freedom), Ops::mul(energy, min_noise_share));
        state.noise_variance = Ops::max(Ops::mul(state.noise, constants.noise_scale), min_noise_variance);
    }
    for (int s = 0; s < constants.streams; ++s) {
        const auto stream = static_cast<std::size_t>(s);
        const auto kind = static_cast<std::size_t>(constants.joint[stream]);
        const float mean = Ops::div(energies[s], table.pilots[kind]);
        const float power = Ops::div(Ops::sub(mean, state.noise), constants.ports[stream]);
        state.power[stream] = Ops::max(power, 0.0F);
        const bool is_signal = power > Ops::mul(state.noise, min_power_over_noise) && power > least_power;
        const float ratio = is_signal ? Ops::div(state.noise, power) : max_noise_over_power;
        state.noise_over_power[stream] = Ops::max(ratio, min_noise_over_power);
    }
    if (state.is_spoiled != 0) state.noise_variance = std::numeric_limits<float>::infinity();
    state.is_spoiled = 0;
}

/// The parts of the error of a stream's estimate, in ranges that share one filter.
struct FilterError {
    float share;
    float of_noise;
    float unresolved;
};

/// The estimate of a slot, except for its phases. error_of(filter, stream) returns a FilterError.
template <class Ops, class ErrorOf>
PHY_INLINE void set_estimate(const EstimatorConstants& constants, const SlotState& state, int filters,
                             const ErrorOf& error_of, SlotEstimate& out) {
    float error = 0.0F;
    float power = 0.0F;
    float ports = 0.0F;
    for (int s = 0; s < constants.streams; ++s) {
        const auto stream = static_cast<std::size_t>(s);
        float of_stream = 0.0F;
        for (int f = 0; f < filters; ++f) {
            const FilterError each = error_of(f, s);
            const float of_filter = Ops::fma(each.of_noise, state.noise_over_power[stream], each.unresolved);
            of_stream = Ops::fma(each.share, of_filter, of_stream);
        }
        const float of_ports = Ops::mul(constants.ports[stream], state.power[stream]);
        error = Ops::fma(of_ports, of_stream, error);
        power = Ops::add(power, of_ports);
        ports = Ops::add(ports, constants.ports[stream]);
    }
    out.noise_variance = state.noise_variance;
    out.channel_error = Ops::div(error, ports);
    out.channel_power = Ops::div(power, ports);
    out.timing_offset = Ops::div(state.step, constants.subcarrier_spacing);
    out.frequency_offset = Ops::mul(state.frequency_offset, constants.subcarrier_spacing);
    out.delay_spread = Ops::div(state.delay_spread, constants.subcarrier_spacing);
    out.coherence = state.coherence;
    out.reserved = 0.0F;
}

/// The factor from sums of products of residuals to elements of the covariance matrix.
template <class Ops>
PHY_INLINE float covariance_factor(const EstimatorConstants& constants, const EstimatorTable& table,
                                   const EstimatorShape& shape) {
    const float freedom = Ops::add(Ops::mul(table.freedom[0], static_cast<float>(shape.kind_streams[0])),
                                   Ops::mul(table.freedom[1], static_cast<float>(shape.kind_streams[1])));
    return Ops::div(Ops::mul(constants.noise_scale, static_cast<float>(shape.antennas)), freedom);
}

/// An element of the covariance matrix of noise and interference, on the diagonal or below. That of a spoiled
/// slot is infinite noise.
template <class Ops>
PHY_INLINE ComplexOf<Ops> covariance_of(const SlotState& state, ComplexOf<Ops> element, bool on_diagonal) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (state.noise_variance == infinity) return {on_diagonal ? infinity : 0.0F, 0.0F};
    return on_diagonal ? ComplexOf<Ops>{Ops::max(element.re, 0.0F), 0.0F} : element;
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
