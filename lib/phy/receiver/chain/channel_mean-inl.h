// The arithmetic of ReceiverOutput::channel.
#if defined(PHY_RECEIVER_CHANNEL_MEAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_RECEIVER_CHANNEL_MEAN_INL_H_
#undef PHY_RECEIVER_CHANNEL_MEAN_INL_H_
#else
#define PHY_RECEIVER_CHANNEL_MEAN_INL_H_
#endif

#include <cstddef>

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// The mean of a component over the estimates, `stride` floats apart: their sum from first to last, times the
/// reciprocal of their number.
template <typename Ops>
PHY_INLINE typename Ops::V mean_of_estimates(const float* component, int estimates, std::size_t stride,
                                             float reciprocal) {
    typename Ops::V sum = Ops::set(component[0]);
    for (int e = 1; e < estimates; ++e)
        sum = Ops::add(sum, Ops::set(component[static_cast<std::size_t>(e) * stride]));
    return Ops::mul(sum, Ops::set(reciprocal));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
