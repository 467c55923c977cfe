// Which OFDM symbols are disturbed: by a strong sample or a burst that channel and noise do not explain.
#if defined(PHY_RECEIVER_DISTURBANCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_RECEIVER_DISTURBANCE_INL_H_
#undef PHY_RECEIVER_DISTURBANCE_INL_H_
#else
#define PHY_RECEIVER_DISTURBANCE_INL_H_
#endif

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// An element's energy over the expected energy of all antennas, from which on it is disturbed: 12 dB, which
/// more than half of the elements of a symbol never have, whatever the channel, the noise and the data.
constexpr float disturbed_ratio = 16.0F;

/// The largest energy of an element that is not disturbed. paths: antennas x layers, because one antenna may
/// receive all power.
template <class Ops>
PHY_INLINE float max_energy(float channel_power, float noise_variance, float paths) {
    return Ops::mul(disturbed_ratio, Ops::fma(paths, channel_power, noise_variance));
}

template <class Ops>
PHY_INLINE bool is_disturbed(float re, float im, float max_energy) {
    return Ops::fma(im, im, Ops::mul(re, re)) > max_energy;
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
