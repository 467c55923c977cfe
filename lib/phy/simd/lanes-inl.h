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
//     load_up_to(p, left)      missing numbers are 0
//     prefetch_ahead(p)        what is needed soon by loops that read on from p
//     Words                    as many 32-bit words
//     load_words, store_words  at any address
//     words_of, set_words
//     both(m, n), where(m, a)  mask of lanes in both masks; 0 in lanes that a mask does not select
//     max_of(a)                the largest lane
//     load_for_pairs(p)        the numbers for pairs of lanes, one each; reads a whole vector
// IntegerLanes<T> has vectors of integers, as many as fit: count, select, equal, count_true, and
//     load, store              at any address
//     bit_mask(bits, first)    lanes whose bit is 1 (bit 0 of a word first); first: a multiple of count
#if defined(PHY_SIMD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_LANES_INL_H_
#undef PHY_SIMD_LANES_INL_H_
#else
#define PHY_SIMD_LANES_INL_H_
#endif

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "phy/simd/ops-inl.h"

#ifdef HWY_TARGET_INCLUDE
#include <hwy/cache_control.h>

#include "phy/simd/load-inl.h"
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

    static HWY_INLINE V load_up_to(const float* from, std::size_t left) {
        return detail::HWY_NAMESPACE::load_up_to(d, from, left);
    }
    static HWY_INLINE void prefetch_ahead(const void* from) {
        hwy::Prefetch(static_cast<const std::uint8_t*>(from) + prefetch_distance);
    }
    using Words = hn::Vec<decltype(du)>;
    static HWY_INLINE Words load_words(const std::uint32_t* from) {
        return hn::LoadU(du, from);
    }
    static HWY_INLINE void store_words(Words words, std::uint32_t* to) {
        hn::StoreU(words, du, to);
    }
    static HWY_INLINE Words words_of(V values) {
        return hn::BitCast(du, values);
    }
    static HWY_INLINE Words set_words(std::uint32_t word) {
        return hn::Set(du, word);
    }
    static HWY_INLINE Mask both(Mask a, Mask b) {
        return hn::And(a, b);
    }
    static HWY_INLINE V where(Mask mask, V values) {
        return hn::IfThenElseZero(mask, values);
    }
    static HWY_INLINE float max_of(V values) {
        return hn::GetLane(hn::MaxOfLanes(d, values));
    }
    static HWY_INLINE V load_for_pairs(const float* from) {
        return detail::HWY_NAMESPACE::load_for_pairs(from);
    }
};

template <typename T>
struct IntegerLanes {
    static constexpr hn::Repartition<T, decltype(d)> tag{};
    using V = hn::Vec<hn::Repartition<T, decltype(d)>>;
    using Mask = hn::Mask<hn::Repartition<T, decltype(d)>>;
    static constexpr std::size_t count = lanes * sizeof(float) / sizeof(T);

    static HWY_INLINE V load(const void* from) { return hn::LoadU(tag, static_cast<const T*>(from)); }
    static HWY_INLINE void store(V values, void* to) { hn::StoreU(values, tag, static_cast<T*>(to)); }
    static HWY_INLINE V set(T value) { return hn::Set(tag, value); }
    static HWY_INLINE V select(Mask mask, V a, V b) { return hn::IfThenElse(mask, a, b); }
    static HWY_INLINE Mask equal(V a, V b) { return hn::Eq(a, b); }
    static HWY_INLINE std::size_t count_true(Mask mask) { return hn::CountTrue(tag, mask); }
    static HWY_INLINE Mask bit_mask(const std::uint32_t* bits, std::size_t first) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(bits) + first / 8;
        if constexpr (count % 8 == 0) {
            return hn::LoadMaskBits(tag, bytes);
        } else {
            const std::uint8_t shifted[8] = {static_cast<std::uint8_t>(*bytes >> (first % 8))};
            return hn::LoadMaskBits(tag, shifted);
        }
    }
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

    static V load_up_to(const float* from, std::size_t /*left*/) { return *from; }
    static void prefetch_ahead(const void* /*from*/) {}
    using Words = std::uint32_t;
    static Words load_words(const std::uint32_t* from) { return *from; }
    static void store_words(Words word, std::uint32_t* to) { *to = word; }
    static Words words_of(V value) { return std::bit_cast<Words>(value); }
    static Words set_words(std::uint32_t word) { return word; }
    static Mask both(Mask a, Mask b) { return a && b; }
    static V where(Mask mask, V value) { return mask ? value : 0.0F; }
    static float max_of(V value) { return value; }
    static V load_for_pairs(const float* from) { return *from; }
};

template <typename T>
struct IntegerLanes {
    using V = T;
    using Mask = bool;
    static constexpr std::size_t count = 1;

    static V load(const void* from) {
        T value;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    static void store(V value, void* to) { std::memcpy(to, &value, sizeof value); }
    static V set(T value) { return value; }
    static V select(Mask mask, V a, V b) { return mask ? a : b; }
    static Mask equal(V a, V b) { return a == b; }
    static std::size_t count_true(Mask mask) { return mask ? 1 : 0; }
    static Mask bit_mask(const std::uint32_t* bits, std::size_t first) {
        return (bits[first / 32] >> (first % 32) & 1) != 0;
    }
};
#endif

/// Faster than counting: 0 times a number is 0 if that is finite, else a NaN, which stays in sums.
PHY_INLINE bool all_finite(const float* numbers, std::size_t count) {
    const auto zero = Ops::set(0.0F);
    Ops::V sums[4] = {zero, zero, zero, zero};
    std::size_t i = 0;
    for (; i + 4 * Lanes::count <= count; i += 4 * Lanes::count)
        for (std::size_t k = 0; k < 4; ++k)
            sums[k] = Ops::fma(Lanes::load(numbers + i + k * Lanes::count), zero, sums[k]);
    for (; i < count; i += Lanes::count)
        sums[0] = Ops::fma(Lanes::load_up_to(numbers + i, count - i), zero, sums[0]);
    const auto sum = Ops::add(Ops::add(sums[0], sums[1]), Ops::add(sums[2], sums[3]));
    return Lanes::all(Lanes::less(sum, Ops::set(1.0F)));
}

/// Writes change(vector, index of its first element) for all vectors of an array of T; zeros fill the last
/// one. in and out may be the same, and have any address.
template <typename T, typename Change>
PHY_INLINE void change_all(const void* in, void* out, std::size_t count, const Change& change) {
    using I = IntegerLanes<T>;
    const auto* const from = static_cast<const std::byte*>(in);
    auto* const to = static_cast<std::byte*>(out);
    std::size_t i = 0;
    for (; i + I::count <= count; i += I::count)
        I::store(change(I::load(from + i * sizeof(T)), i), to + i * sizeof(T));
    if (i == count) return;
    alignas(64) T rest[I::count] = {};
    const std::size_t bytes = (count - i) * sizeof(T);
    std::memcpy(rest, from + i * sizeof(T), bytes);
    I::store(change(I::load(rest), i), rest);
    std::memcpy(to + i * sizeof(T), rest, bytes);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
