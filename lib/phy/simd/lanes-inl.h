// How shared loops move vectors of binary32 between registers and arrays. Lanes has
//     count                    numbers in a vector
//     load, store              at any address
//     prefetch(p, bytes)       memory that is needed soon; may lie beyond an array
//     odd_signs(first)         negative in lanes for which first + lane is odd
//     Mask, less, all, count_true, select(m, a, b)
//     reversed(a)              the lanes in reverse order
//     keep_loaded(a)           for a vector that is used twice, which the compiler would otherwise load twice
//     load_pairs(p, a, b)      2 * count numbers: those with even index, and those with odd index
//     store_pairs(a, b, p)     the inverse; both at any address, even one that is no multiple of 4
#if defined(PHY_SIMD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_LANES_INL_H_
#undef PHY_SIMD_LANES_INL_H_
#else
#define PHY_SIMD_LANES_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

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

    static HWY_INLINE V load(const float* from) { return hn::LoadU(d, from); }
    static HWY_INLINE void store(V values, float* to) { hn::StoreU(values, d, to); }
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
    static HWY_INLINE V reversed(V values) { return hn::Reverse(d, values); }
#if HWY_TARGET == HWY_AVX3
    static HWY_INLINE void keep_loaded(V& values) {
        asm("" : "+v"(values.raw));
    }
    static HWY_INLINE void load_pairs(const float* from, V& even, V& odd) {
        V low = load(from);
        V high = load(from + lanes);
        keep_loaded(low);
        keep_loaded(high);
        even = hn::ConcatEven(d, high, low);
        odd = hn::ConcatOdd(d, high, low);
    }
    /// Two permutations; StoreInterleaved2 of Highway takes six.
    static HWY_INLINE void store_pairs(V even, V odd, float* to) {
        const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        _mm512_storeu_ps(to, _mm512_permutex2var_ps(even.raw, low, odd.raw));
        _mm512_storeu_ps(to + lanes, _mm512_permutex2var_ps(even.raw, high, odd.raw));
    }
#else
    static HWY_INLINE void keep_loaded(V& /*values*/) {}
    static HWY_INLINE void load_pairs(const float* from, V& even, V& odd) {
        hn::LoadInterleaved2(d, from, even, odd);
    }
    static HWY_INLINE void store_pairs(V even, V odd, float* to) {
        hn::StoreInterleaved2(even, odd, d, to);
    }
#endif
};
#else
struct Lanes {
    using V = float;
    using Mask = bool;
    static constexpr std::size_t count = 1;

    static V load(const float* from) { return *from; }
    static void store(V value, float* to) { *to = value; }
    static void prefetch(std::uintptr_t /*from*/, std::size_t /*bytes*/) {}
    static V odd_signs(std::size_t first) { return first % 2 != 0 ? -1.0F : 1.0F; }
    static Mask less(V a, V b) { return a < b; }
    static bool all(Mask mask) { return mask; }
    static std::size_t count_true(Mask mask) { return mask ? 1 : 0; }
    static V select(Mask mask, V a, V b) { return mask ? a : b; }
    static V reversed(V value) { return value; }
    static void keep_loaded(V& /*value*/) {}
    static void load_pairs(const float* from, V& even, V& odd) {
        std::memcpy(&even, from, sizeof even);
        std::memcpy(&odd, from + 1, sizeof odd);
    }
    static void store_pairs(V even, V odd, float* to) {
        std::memcpy(to, &even, sizeof even);
        std::memcpy(to + 1, &odd, sizeof odd);
    }
};
#endif

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
