// The arithmetic of transforms: DFTs of a few points, and products.
#if defined(PHY_OFDM_BUTTERFLY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_BUTTERFLY_INL_H_
#undef PHY_OFDM_BUTTERFLY_INL_H_
#else
#define PHY_OFDM_BUTTERFLY_INL_H_
#endif

#include <limits>

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// A complex number, or a vector of them.
template <class Ops>
struct Complex {
    typename Ops::V re;
    typename Ops::V im;
};

template <class Ops>
PHY_INLINE Complex<Ops> sum(const Complex<Ops>& a, const Complex<Ops>& b) {
    return {Ops::add(a.re, b.re), Ops::add(a.im, b.im)};
}

template <class Ops>
PHY_INLINE Complex<Ops> difference(const Complex<Ops>& a, const Complex<Ops>& b) {
    return {Ops::sub(a.re, b.re), Ops::sub(a.im, b.im)};
}

/// a + j b
template <class Ops>
PHY_INLINE Complex<Ops> plus_j(const Complex<Ops>& a, const Complex<Ops>& b) {
    return {Ops::sub(a.re, b.im), Ops::add(a.im, b.re)};
}

/// a - j b
template <class Ops>
PHY_INLINE Complex<Ops> minus_j(const Complex<Ops>& a, const Complex<Ops>& b) {
    return {Ops::add(a.re, b.im), Ops::sub(a.im, b.re)};
}

template <class Ops>
PHY_INLINE Complex<Ops> product(const Complex<Ops>& a, const Complex<Ops>& b) {
    return {Ops::nfma(a.im, b.im, Ops::mul(a.re, b.re)), Ops::fma(a.im, b.re, Ops::mul(a.re, b.im))};
}

/// a + b c, where b is real.
template <class Ops>
PHY_INLINE Complex<Ops> plus_times(const Complex<Ops>& a, typename Ops::V b, const Complex<Ops>& c) {
    return {Ops::fma(b, c.re, a.re), Ops::fma(b, c.im, a.im)};
}

/// a - b c, where b is real.
template <class Ops>
PHY_INLINE Complex<Ops> minus_times(const Complex<Ops>& a, typename Ops::V b, const Complex<Ops>& c) {
    return {Ops::nfma(b, c.re, a.re), Ops::nfma(b, c.im, a.im)};
}

/// One NaN for all non-finite values: machines differ in the NaN that arithmetic gives.
template <class Ops>
PHY_INLINE Complex<Ops> with_one_nan(const Complex<Ops>& a) {
    const auto nan = Ops::set(std::numeric_limits<float>::quiet_NaN());
    return {Ops::select_finite(a.re, a.re, nan), Ops::select_finite(a.im, a.im, nan)};
}

/// a b, where b is real, with one NaN, as stored.
template <class Ops>
PHY_INLINE Complex<Ops> scaled(const Complex<Ops>& a, typename Ops::V b) {
    return with_one_nan<Ops>(Complex<Ops>{Ops::mul(a.re, b), Ops::mul(a.im, b)});
}

/// y(k) = sum over i of x(i) exp(-j 2 pi i k / radix), in place.
template <class Ops>
PHY_INLINE void dft(Complex<Ops> (&x)[3]) {
    const auto t = sum<Ops>(x[1], x[2]);
    const auto u = difference<Ops>(x[1], x[2]);
    const auto m = minus_times<Ops>(x[0], Ops::set(0.5F), t);
    const auto s = Ops::set(0x1.bb67aep-1F);  // sin(pi / 3)
    x[0] = sum<Ops>(x[0], t);
    x[1] = {Ops::fma(s, u.im, m.re), Ops::nfma(s, u.re, m.im)};
    x[2] = {Ops::nfma(s, u.im, m.re), Ops::fma(s, u.re, m.im)};
}

template <class Ops>
PHY_INLINE void dft(Complex<Ops>& x0, Complex<Ops>& x1, Complex<Ops>& x2, Complex<Ops>& x3) {
    const auto a = sum<Ops>(x0, x2);
    const auto b = difference<Ops>(x0, x2);
    const auto c = sum<Ops>(x1, x3);
    const auto e = difference<Ops>(x1, x3);
    x0 = sum<Ops>(a, c);
    x1 = minus_j<Ops>(b, e);
    x2 = difference<Ops>(a, c);
    x3 = plus_j<Ops>(b, e);
}

template <class Ops>
PHY_INLINE void dft(Complex<Ops> (&x)[4]) {
    dft<Ops>(x[0], x[1], x[2], x[3]);
}

template <class Ops>
PHY_INLINE void dft(Complex<Ops> (&x)[5]) {
    const auto c1 = Ops::set(0x1.3c6ef4p-2F);  // cos(2 pi / 5)
    const auto c2 = Ops::set(0x1.9e377ap-1F);  // -cos(4 pi / 5)
    const auto s1 = Ops::set(0x1.e6f0e2p-1F);  // sin(2 pi / 5)
    const auto s2 = Ops::set(0x1.2cf23p-1F);   // sin(4 pi / 5)
    const auto t1 = sum<Ops>(x[1], x[4]);
    const auto u1 = difference<Ops>(x[1], x[4]);
    const auto t2 = sum<Ops>(x[2], x[3]);
    const auto u2 = difference<Ops>(x[2], x[3]);
    const auto m1 = minus_times<Ops>(plus_times<Ops>(x[0], c1, t1), c2, t2);
    const auto m2 = plus_times<Ops>(minus_times<Ops>(x[0], c2, t1), c1, t2);
    const Complex<Ops> n1 = {Ops::fma(s2, u2.re, Ops::mul(s1, u1.re)),
                             Ops::fma(s2, u2.im, Ops::mul(s1, u1.im))};
    const Complex<Ops> n2 = {Ops::nfma(s1, u2.re, Ops::mul(s2, u1.re)),
                             Ops::nfma(s1, u2.im, Ops::mul(s2, u1.im))};
    x[0] = sum<Ops>(x[0], sum<Ops>(t1, t2));
    x[1] = minus_j<Ops>(m1, n1);
    x[2] = minus_j<Ops>(m2, n2);
    x[3] = plus_j<Ops>(m2, n2);
    x[4] = plus_j<Ops>(m1, n1);
}

/// The DFT of eight from those of the inputs with even and with odd index, in their places.
template <class Ops>
PHY_INLINE void join(Complex<Ops> (&x)[8]) {
    const auto c = Ops::set(0x1.6a09e6p-1F);  // sqrt(1/2)
    // The odd ones times sqrt(2) exp(-j pi k / 4), for k = 1 and 3.
    const Complex<Ops> o1 = minus_j<Ops>(x[3], x[3]);
    const Complex<Ops> o3 = {Ops::sub(x[7].im, x[7].re), Ops::add(x[7].re, x[7].im)};
    const Complex<Ops> e0 = x[0];
    const Complex<Ops> e1 = x[2];
    const Complex<Ops> e2 = x[4];
    const Complex<Ops> e3 = x[6];
    const Complex<Ops> o0 = x[1];
    const Complex<Ops> o2 = x[5];
    x[0] = sum<Ops>(e0, o0);
    x[1] = plus_times<Ops>(e1, c, o1);
    x[2] = minus_j<Ops>(e2, o2);
    x[3] = {Ops::fma(c, o3.re, e3.re), Ops::nfma(c, o3.im, e3.im)};
    x[4] = difference<Ops>(e0, o0);
    x[5] = minus_times<Ops>(e1, c, o1);
    x[6] = plus_j<Ops>(e2, o2);
    x[7] = {Ops::nfma(c, o3.re, e3.re), Ops::fma(c, o3.im, e3.im)};
}

template <class Ops>
PHY_INLINE void dft(Complex<Ops> (&x)[8]) {
    dft<Ops>(x[0], x[2], x[4], x[6]);
    dft<Ops>(x[1], x[3], x[5], x[7]);
    join<Ops>(x);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
