// How shared loops move vectors of binary32 between registers and arrays. Lanes has
//     count                    numbers in a vector
//     load, store              aligned to a vector's bytes
//     load_pairs(p, a, b)      2 * count numbers: those with even index, and those with odd index
//     prefetch(p, bytes)       memory that is needed soon; may lie beyond an array
//     odd_signs(first)         negative in lanes for which first + lane is odd
//     Mask, less, all, count_true, select(m, a, b)
#if defined(PHY_SIMD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_LANES_INL_H_
#undef PHY_SIMD_LANES_INL_H_
#else
#define PHY_SIMD_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "phy/simd/ops-inl.h"

#ifdef HWY_TARGET_INCLUDE
#include <hwy/cache_control.h>
#endif

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

#ifdef HWY_TARGET_INCLUDE
struct Lanes {
    using V = Ops::V;
    using Mask = hn::Mask<decltype(d)>;
    static constexpr std::size_t count = lanes;

    static HWY_INLINE V load(const float* from) { return hn::Load(d, from); }
    static HWY_INLINE void store(V values, float* to) { hn::Store(values, d, to); }
    static HWY_INLINE void load_pairs(const float* from, V& even, V& odd) {
        hn::LoadInterleaved2(d, from, even, odd);
    }
    static HWY_INLINE void prefetch(std::uintptr_t from, std::size_t bytes) {
        constexpr std::size_t cache_line = 64;
        for (std::size_t byte = 0; byte < bytes; byte += cache_line)
            hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(from + byte));
    }
    static HWY_INLINE V odd_signs(std::size_t first) {
        return sign_of_odd_lanes(static_cast<int>(first % 2));
    }
    static HWY_INLINE Mask less(V a, V b) { return hn::Lt(a, b); }
    static HWY_INLINE bool all(Mask mask) { return hn::AllTrue(d, mask); }
    static HWY_INLINE std::size_t count_true(Mask mask) { return hn::CountTrue(d, mask); }
    static HWY_INLINE V select(Mask mask, V a, V b) { return hn::IfThenElse(mask, a, b); }
};
#else
struct Lanes {
    using V = float;
    using Mask = bool;
    static constexpr std::size_t count = 1;

    static V load(const float* from) { return *from; }
    static void store(V value, float* to) { *to = value; }
    static void load_pairs(const float* from, V& even, V& odd) {
        even = from[0];
        odd = from[1];
    }
    static void prefetch(std::uintptr_t /*from*/, std::size_t /*bytes*/) {}
    static V odd_signs(std::size_t first) { return first % 2 != 0 ? -1.0F : 1.0F; }
    static Mask less(V a, V b) { return a < b; }
    static bool all(Mask mask) { return mask; }
    static std::size_t count_true(Mask mask) { return mask ? 1 : 0; }
    static V select(Mask mask, V a, V b) { return mask ? a : b; }
};
#endif

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
