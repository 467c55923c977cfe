// Vectors to and from memory; scalar code has vectors of one number.
#if defined(PHY_OFDM_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_LANES_INL_H_
#undef PHY_OFDM_LANES_INL_H_
#else
#define PHY_OFDM_LANES_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstring>

#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/butterfly-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

#if defined(HWY_TARGET_INCLUDE)
PHY_INLINE Ops::V load(const float* from) {
    return hn::LoadU(d, from);
}

PHY_INLINE void store(Ops::V numbers, float* to) {
    hn::StoreU(numbers, d, to);
}

/// Complex numbers stored as pairs, at any address.
PHY_INLINE Complex<Ops> load_pairs(const void* from) {
    Complex<Ops> numbers;
    hn::LoadInterleaved2(d, static_cast<const float*>(from), numbers.re, numbers.im);
    return numbers;
}

PHY_INLINE void store_pairs(const Complex<Ops>& numbers, float* to) {
#if HWY_TARGET == HWY_AVX3
    // Two permutations; StoreInterleaved2 of Highway takes six.
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    _mm512_storeu_ps(to, _mm512_permutex2var_ps(numbers.re.raw, low, numbers.im.raw));
    _mm512_storeu_ps(to + lanes, _mm512_permutex2var_ps(numbers.re.raw, high, numbers.im.raw));
#else
    hn::StoreInterleaved2(numbers.re, numbers.im, d, to);
#endif
}

PHY_INLINE bool all_finite(Ops::V numbers) {
    return hn::AllTrue(d, Ops::finite(numbers));
}
#else
constexpr std::size_t lanes = 1;

PHY_INLINE Ops::V load(const float* from) {
    return *from;
}

PHY_INLINE void store(Ops::V number, float* to) {
    *to = number;
}

PHY_INLINE Complex<Ops> load_pairs(const void* from) {
    Complex<Ops> number;
    std::memcpy(&number, from, sizeof number);
    return number;
}

PHY_INLINE void store_pairs(const Complex<Ops>& number, float* to) {
    std::memcpy(to, &number, sizeof number);
}

PHY_INLINE bool all_finite(Ops::V number) {
    return std::isfinite(number);
}
#endif

/// True if all numbers are finite. May be false for finite numbers that are too large to be added.
template <int count>
PHY_INLINE bool surely_finite(const Complex<Ops> (&numbers)[count]) {
    Complex<Ops> total = numbers[0];
    PHY_UNROLL
    for (int k = 1; k < count; ++k)
        total = sum<Ops>(total, numbers[k]);
    return all_finite(Ops::add(total.re, total.im));
}

PHY_INLINE Complex<Ops> load(const Planes& from, std::size_t at) {
    return {load(from.re + at), load(from.im + at)};
}

PHY_INLINE void store(const Complex<Ops>& numbers, const Planes& to, std::size_t at) {
    store(numbers.re, to.re + at);
    store(numbers.im, to.im + at);
}

PHY_INLINE Complex<Ops> all_lanes(const float* pair) {
    return {Ops::set(pair[0]), Ops::set(pair[1])};
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
