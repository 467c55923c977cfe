// The arithmetic before and after the inverse DFT of transform precoding; transform_deprecoder.hpp has the
// equations.
#if defined(PHY_OFDM_DEPRECODING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_DEPRECODING_INL_H_
#undef PHY_OFDM_DEPRECODING_INL_H_
#else
#define PHY_OFDM_DEPRECODING_INL_H_
#endif

#include <limits>

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// Lanes of sums over subcarriers: lane i adds subcarriers i, i + 32, i + 64 ... in this order.
constexpr int precoding_lanes = 32;

/// Max q of MMSE, so that N0 stays positive.
constexpr float largest_mean_weight = 1.0F - 0x1p-24F;

/// m_k.
template <typename Ops>
PHY_INLINE typename Ops::V subcarrier_weight(bool mmse, typename Ops::V noise) {
    const typename Ops::V one = Ops::set(1.0F);
    return mmse ? Ops::div(one, Ops::add(one, noise)) : Ops::keep(noise, one);
}

/// The term of subcarrier k in the sum of v.
template <typename Ops>
PHY_INLINE typename Ops::V subcarrier_noise(typename Ops::V noise) {
    return Ops::keep(noise, noise);
}

/// Values that all symbols of an OFDM symbol share. All erased: 0 and infinity.
struct PrecodedSymbol {
    float mean_weight;  ///< q
    float noise;        ///< N0
};

/// From the sums of m_k and of subcarrier_noise().
template <typename Ops>
PHY_INLINE PrecodedSymbol precoded_symbol(bool mmse, float weights, float noises, float subcarriers) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float q = Ops::div(weights, subcarriers);
    const float limited = Ops::min(q, largest_mean_weight);
    const float v = Ops::div(noises, subcarriers);
    const float noise = mmse ? Ops::div(Ops::sub(1.0F, limited), limited)
                             : Ops::div(Ops::add(Ops::sub(1.0F, q), Ops::div(v, q)), q);
    return {Ops::keep(noise, q), Ops::select_finite(noise, noise, infinity)};
}

/// Divides a symbol by q, and erases it if the result is not finite.
template <typename Ops>
PHY_INLINE void finish_symbol(const PrecodedSymbol& common, float& re, float& im, float& noise) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float a = Ops::div(re, common.mean_weight);
    const float b = Ops::div(im, common.mean_weight);
    re = Ops::keep(b, Ops::keep(a, a));
    im = Ops::keep(a, Ops::keep(b, b));
    noise = Ops::select_finite(a, Ops::select_finite(b, common.noise, infinity), infinity);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
