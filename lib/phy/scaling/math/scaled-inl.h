// What a component becomes.
#if defined(PHY_SCALING_SCALED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SCALING_SCALED_INL_H_
#undef PHY_SCALING_SCALED_INL_H_
#else
#define PHY_SCALING_SCALED_INL_H_
#endif

#include <limits>

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// One NaN for all that is not finite: which one comes out of a product differs between machines.
template <typename Ops>
PHY_INLINE typename Ops::V scaled(typename Ops::V component, typename Ops::V factor) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const typename Ops::V product = Ops::mul(component, factor);
    return Ops::select_finite(product, product, Ops::set(nan));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
