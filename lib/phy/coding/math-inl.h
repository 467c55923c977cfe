// Arithmetic of check nodes: messages of int8, in units of LLRs, and their magnitudes.
#if defined(PHY_CODING_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_CODING_MATH_INL_H_
#undef PHY_CODING_MATH_INL_H_
#else
#define PHY_CODING_MATH_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "phy/simd/target-inl.h"
#if !defined(__CUDACC__)
#include "phy/simd/lanes-inl.h"
#endif

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

#if defined(__CUDACC__)
using Value = int;
using Magnitude = int;

PHY_INLINE Magnitude units(int number) {
    return number;
}
PHY_INLINE Value less(Value a, Value b) {
    return max(__viaddmin_s32(a, -b, 127), -128);
}
PHY_INLINE Value plus(Value a, Value b) {
    return max(__viaddmin_s32(a, b, 127), -128);
}
/// The message that was added to the input.
PHY_INLINE Value added(Value posterior, Value input) {
    return posterior - input;
}
PHY_INLINE Value flipped(Value a, Value b) {
    return a ^ b;
}
PHY_INLINE Magnitude magnitude(Value a) {
    return abs(a);
}
PHY_INLINE Magnitude smaller(Magnitude a, Magnitude b) {
    return min(a, b);
}
PHY_INLINE Magnitude larger(Magnitude a, Magnitude b) {
    return max(a, b);
}
PHY_INLINE Magnitude saturated_difference(Magnitude a, Magnitude b) {
    return __viaddmax_s32(a, -b, 0);
}
/// Rounded up.
PHY_INLINE Magnitude half_of(Magnitude a) {
    return (a + 1) >> 1;
}
PHY_INLINE Magnitude difference(Magnitude a, Magnitude b) {
    return a - b;
}
PHY_INLINE Magnitude quarter(Magnitude a) {
    return a >> 2;
}
/// The magnitude, negated where `sign` is negative.
PHY_INLINE Value with_sign(Magnitude magnitude, Value sign) {
    return sign < 0 ? -magnitude : magnitude;
}
#else
using Values = IntegerLanes<std::int8_t>;
using Magnitudes = IntegerLanes<std::uint8_t>;
using Value = Values::V;
using Magnitude = Magnitudes::V;
constexpr std::size_t places = Values::count;  // per vector

PHY_INLINE Magnitude units(std::uint8_t number) {
    return Magnitudes::set(number);
}
#ifdef HWY_TARGET_INCLUDE
PHY_INLINE Value less(Value a, Value b) {
    return hn::SaturatedSub(a, b);
}
PHY_INLINE Value plus(Value a, Value b) {
    return hn::SaturatedAdd(a, b);
}
PHY_INLINE Value added(Value posterior, Value input) {
    return hn::Sub(posterior, input);
}
PHY_INLINE Value flipped(Value a, Value b) {
    return hn::Xor(a, b);
}
/// 128 for -128.
PHY_INLINE Magnitude magnitude(Value a) {
    return hn::BitCast(Magnitudes::tag, hn::Abs(a));
}
PHY_INLINE Magnitude smaller(Magnitude a, Magnitude b) {
    return hn::Min(a, b);
}
PHY_INLINE Magnitude larger(Magnitude a, Magnitude b) {
    return hn::Max(a, b);
}
PHY_INLINE Magnitude saturated_difference(Magnitude a, Magnitude b) {
    return hn::SaturatedSub(a, b);
}
PHY_INLINE Magnitude half_of(Magnitude a) {
    return hn::AverageRound(a, hn::Zero(Magnitudes::tag));
}
PHY_INLINE Magnitude difference(Magnitude a, Magnitude b) {
    return hn::Sub(a, b);
}
PHY_INLINE Magnitude quarter(Magnitude a) {
    return hn::ShiftRight<2>(a);
}
PHY_INLINE bool any_is_negative(Value a, std::size_t count) {
    return !hn::AllFalse(Values::tag, hn::And(hn::FirstN(Values::tag, std::min(count, places)),
                                              hn::Lt(a, hn::Zero(Values::tag))));
}

/// The magnitude (up to 127), negated where `sign` is negative.
PHY_INLINE Value with_sign(Magnitude magnitude, Value sign) {
#if HWY_TARGET == HWY_AVX3
    return Value{_mm512_mask_sub_epi8(magnitude.raw, _mm512_movepi8_mask(sign.raw), _mm512_setzero_si512(),
                                      magnitude.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Value{_mm256_sign_epi8(magnitude.raw, _mm256_or_si256(sign.raw, _mm256_set1_epi8(1)))};
#else
    const Value all_ones = hn::BroadcastSignBit(sign);
    return hn::Sub(hn::Xor(hn::BitCast(Values::tag, magnitude), all_ones), all_ones);
#endif
}
#else
inline Value less(Value a, Value b) {
    return static_cast<Value>(std::clamp(a - b, -128, 127));
}
inline Value plus(Value a, Value b) {
    return static_cast<Value>(std::clamp(a + b, -128, 127));
}
inline Value added(Value posterior, Value input) {
    return static_cast<Value>(posterior - input);
}
inline Value flipped(Value a, Value b) {
    return static_cast<Value>(a ^ b);
}
inline Magnitude magnitude(Value a) {
    return static_cast<Magnitude>(a < 0 ? -a : a);
}
inline Magnitude smaller(Magnitude a, Magnitude b) {
    return std::min(a, b);
}
inline Magnitude larger(Magnitude a, Magnitude b) {
    return std::max(a, b);
}
inline Magnitude saturated_difference(Magnitude a, Magnitude b) {
    return static_cast<Magnitude>(std::max(a - b, 0));
}
inline Magnitude half_of(Magnitude a) {
    return static_cast<Magnitude>((a + 1) >> 1);
}
inline Magnitude difference(Magnitude a, Magnitude b) {
    return static_cast<Magnitude>(a - b);
}
inline Magnitude quarter(Magnitude a) {
    return static_cast<Magnitude>(a >> 2);
}
inline bool any_is_negative(Value a, std::size_t /*count*/) {
    return a < 0;
}
inline Value with_sign(Magnitude magnitude, Value sign) {
    return static_cast<Value>(sign < 0 ? -magnitude : magnitude);
}
#endif

#endif

/// The smaller one to `least`; returns the larger one.
PHY_INLINE Magnitude exchange(Magnitude& least, Magnitude a) {
#if defined(HWY_TARGET_INCLUDE) && HWY_TARGET == HWY_AVX3
    const auto is_less = hn::Lt(a, least);
    const Magnitude larger_one = hn::IfThenElse(is_less, least, a);
    least = hn::IfThenElse(is_less, a, least);
#else
    const Magnitude larger_one = larger(least, a);
    least = smaller(least, a);
#endif
    return larger_one;
}

/// 6 ln(1 + exp(-(larger - least) / 6)), to a unit.
PHY_INLINE Magnitude correction(Magnitude least, Magnitude larger) {
#if defined(HWY_TARGET_INCLUDE) && (HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2)
    alignas(16) static constexpr std::uint8_t corrections[] = {0, 0, 0, 0, 1, 1, 1, 1,
                                                               2, 2, 2, 2, 3, 3, 3, 3};
    // A difference above 15 gives an index below 0, for which there is 0.
    const auto index = hn::Sub(hn::Add(least, units(15)), larger);
    return hn::TableLookupBytes(hn::LoadDup128(Magnitudes::tag, corrections), index);
#else
    return quarter(saturated_difference(units(15), difference(larger, least)));
#endif
}

/// The magnitude of the LLR of a sum of two bits from those of their LLRs, in sixths of a nat: the smaller
/// one less the correction for their difference, which is at most 143; at least half of it, which is what is
/// left if both are alike and small.
PHY_INLINE Magnitude box_plus(Magnitude a, Magnitude b) {
    const Magnitude least = smaller(a, b);
    return larger(saturated_difference(least, correction(least, larger(a, b))), half_of(least));
}

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
