// The arithmetic of the power-delay profile on one bin. docs/developer/estimator.md explains it.
#if defined(PHY_ESTIMATOR_PROFILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_ESTIMATOR_PROFILE_INL_H_
#undef PHY_ESTIMATOR_PROFILE_INL_H_
#else
#define PHY_ESTIMATOR_PROFILE_INL_H_
#endif

#include "phy/estimator/math/profile.hpp"
#include "phy/estimator/math/slot_state.hpp"
#include "phy/estimator/math/statistics-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// Positions of the extent count as equal if the powers that they hold differ by less than this share.
constexpr float equal_power = 1.0F - 0x1p-16F;

/// The delay spread is that of bins with at least this share of the strongest one's power, the timing that of
/// the first crest with a larger share: the deconvolution leaves slopes around a path.
constexpr float path_share = 0.02F;
constexpr float first_path_share = 0.1F;

constexpr float start_of_noise = 0.1F;  // of the deconvolution, in every bin
constexpr float noise_left = 6.0F;      // deviations that are subtracted after it
constexpr float max_noise_left = 1.5F;  // at most this share of the noise

template <class Ops>
PHY_INLINE typename Ops::V power_of(ComplexOf<Ops> x) {
    return Ops::fma(x.im, x.im, Ops::mul(x.re, x.re));
}

/// The power in a bin without noise.
template <class Ops>
PHY_INLINE typename Ops::V signal_of(typename Ops::V power, typename Ops::V threshold) {
    return Ops::max(Ops::sub(power, threshold), Ops::set(0.0F));
}

/// The profile before the first step. noise: in a bin.
template <class Ops>
PHY_INLINE typename Ops::V first_guess(typename Ops::V power, typename Ops::V noise,
                                       const EstimatorProfileShape& profile) {
    const auto deviation = Ops::mul(noise, Ops::set(profile.margin));
    const auto signal = signal_of<Ops>(power, Ops::add(noise, deviation));
    return Ops::fma(signal, Ops::set(profile.over_kernel), Ops::mul(deviation, Ops::set(start_of_noise)));
}

/// Measured over expected power.
template <class Ops>
PHY_INLINE typename Ops::V measured_over_expected(typename Ops::V measured, typename Ops::V expected,
                                                  typename Ops::V noise) {
    const auto all = Ops::add(expected, noise);
    return Ops::where_positive(all, Ops::div(measured, all));
}

template <class Ops>
PHY_INLINE typename Ops::V next_guess(typename Ops::V guess, typename Ops::V ratios, typename Ops::V over) {
    return Ops::mul(Ops::mul(guess, ratios), over);
}

template <class Ops>
PHY_INLINE typename Ops::V last_guess(typename Ops::V guess, typename Ops::V noise, float margin) {
    const auto share = Ops::min(Ops::mul(Ops::set(margin), Ops::set(noise_left)), Ops::set(max_noise_left));
    return signal_of<Ops>(guess, Ops::mul(noise, share));
}

/// From the extent's position: its middle is where the profile is 0.
template <class Ops>
PHY_INLINE void place(const EstimatorProfileShape& profile, int first, SlotState& state) {
    const int middle = (first + (profile.extent - 1) / 2) % profile.bins;
    const int delay = middle > profile.bins / 2 ? middle - profile.bins : middle;
    state.step = Ops::mul(static_cast<float>(delay), profile.bin_delay);
}

/// Adds the power of a bin with a path, and its power times its distance from the middle and times the square
/// of that.
template <class Ops>
PHY_INLINE void add_moments(float power, int from_middle, float& all, float& first, float& second) {
    const auto distance = static_cast<float>(from_middle);
    const float moment = Ops::mul(power, distance);
    all = Ops::add(all, power);
    first = Ops::add(first, moment);
    second = Ops::fma(moment, distance, second);
}

/// Timing and delay spread from the sums of add_moments(). first: bin of the first path.
template <class Ops>
PHY_INLINE void set_delays(const EstimatorProfileShape& profile, const float* sums, int first,
                           SlotState& state) {
    const float mean = Ops::div(sums[1], sums[0]);
    const float variance = Ops::nfma(mean, mean, Ops::div(sums[2], sums[0]));
    state.delay_spread = Ops::mul(square_root(Ops::max(variance, 0.0F)), profile.bin_delay);
    const int middle = (profile.extent - 1) / 2;
    const auto from_middle = static_cast<float>(first - middle);
    state.timing = profile.steps > 0 ? Ops::fma(from_middle, profile.bin_delay, state.step) : state.step;
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
