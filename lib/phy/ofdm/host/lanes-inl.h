// Vectors to and from memory, one number long where there are no vectors.
#if defined(PHY_OFDM_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_LANES_INL_H_
#undef PHY_OFDM_LANES_INL_H_
#else
#define PHY_OFDM_LANES_INL_H_
#endif

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

/// Complex numbers that lie as pairs, at any address.
PHY_INLINE Complex<Ops> load_pairs(const void* from) {
    Complex<Ops> numbers;
    hn::LoadInterleaved2(d, static_cast<const float*>(from), numbers.re, numbers.im);
    return numbers;
}

PHY_INLINE void store_pairs(const Complex<Ops>& numbers, float* to) {
    hn::StoreInterleaved2(numbers.re, numbers.im, d, to);
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
#endif

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
