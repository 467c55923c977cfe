// Loads from arrays of any length.
#if defined(PHY_SIMD_LOAD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_LOAD_INL_H_
#undef PHY_SIMD_LOAD_INL_H_
#else
#define PHY_SIMD_LOAD_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "phy/simd/ops_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {

/// Distance of prefetches, in bytes: beyond the page in which the hardware prefetches.
constexpr std::size_t prefetch_distance = 4096;

/// The next `left` elements, at most a vector; missing elements are 0.
template <typename D, typename T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_up_to(D tag, const void* in, std::size_t left) {
    const auto* bytes = static_cast<const T*>(in);
    if (left >= lanes) return hn::LoadU(tag, bytes);
    HWY_ALIGN T rest[lanes] = {};
    std::memcpy(rest, in, left * sizeof(T));
    return hn::Load(tag, rest);
}

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
