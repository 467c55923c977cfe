#pragma once

#include <complex>

#include "phy/core/export.hpp"

/// Elementary functions of binary64 with the same bits on every machine. The functions of C libraries differ
/// in the last bit, and so would tables and filters made with them. These functions use only additions,
/// multiplications, divisions and square roots, which IEEE 754 defines to the last bit.
///
/// Unless stated otherwise, errors are below 0.5 + 2^-30 units in the last place, so results are correctly
/// rounded in all but very rare cases. NaN gives NaN. For host code only; kernels use simd/math-inl.h.
namespace phy::detail::elementary {

/// e^x. Overflows to infinity; underflows through subnormal numbers to 0.
PHY_EXPORT double exp(double x);

/// 10^x.
double exp10(double x);

/// ln x; -infinity for 0, NaN for negative numbers.
PHY_EXPORT double log(double x);

/// 10^(decibels / 10).
PHY_EXPORT double power_ratio(double decibels);

/// 10 log10(x): a ratio of powers in dB. Error: 4 units in the last place.
PHY_EXPORT double decibels(double x);

/// The largest magnitude of an angle, in radians, for cos(), sin() and phasor(); they return NaN beyond it.
inline constexpr double largest_angle = 0x1p20;
double cos(double angle);
double sin(double angle);
/// cos(angle) + j sin(angle), angle in radians.
std::complex<double> phasor(double angle);

/// exp(j 2 pi turns), exact for multiples of an eighth of a turn.
PHY_EXPORT std::complex<double> turn(double turns);

/// The angle of a finite complex number in radians, from -pi to pi; 0 for 0. Error of subnormal results: 2
/// units in the last place.
double angle_of(std::complex<double> value);

/// The complementary error function for x >= 0: 2 / sqrt(pi) times the integral of e^(-t^2) from x to
/// infinity. Error: 8 units in the last place; for subnormal results, 8 units in the last place of the
/// smallest normal number.
double erfc(double x);

/// The Bessel function J0, for |x| up to 200. Error: 2^-48.
double bessel_j0(double x);

}  // namespace phy::detail::elementary
