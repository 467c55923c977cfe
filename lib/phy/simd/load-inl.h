// Loads from memory that may end anywhere.
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

/// How far ahead of what is read memory is asked for, in bytes: beyond the page that the hardware keeps to.
constexpr std::size_t prefetch_distance = 4096;

/// As many elements as `left`, at most a vector of them; zeros fill it up.
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
