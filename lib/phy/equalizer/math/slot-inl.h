// The noise of a slot, from its estimate.
#if defined(PHY_EQUALIZER_SLOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_EQUALIZER_SLOT_INL_H_
#undef PHY_EQUALIZER_SLOT_INL_H_
#else
#define PHY_EQUALIZER_SLOT_INL_H_
#endif

#include <limits>

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// The part of N0' that comes from errors of the estimates.
template <class Ops>
PHY_INLINE float noise_of_errors(float channel_error, int layers) {
    return Ops::mul(static_cast<float>(layers), channel_error);
}

/// N0' of an antenna; NaN if it is not usable.
template <class Ops>
PHY_INLINE float noise_of_slot(float noise_variance, float channel_error, int layers) {
    const float errors = noise_of_errors<Ops>(channel_error, layers);
    const bool usable = noise_variance > 0.0F && errors >= 0.0F;
    return usable ? Ops::add(noise_variance, errors) : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
