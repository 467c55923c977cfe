#pragma once

#include <complex>

#include "phy/core/export.hpp"

/// Elementary functions of binary64 that have the same bits on every machine. Those of C libraries differ in
/// the last one, and a table or a filter that is made with them would differ as well. These are made of
/// additions, multiplications, divisions and square roots, which IEEE 754 defines to the last bit.
///
/// Unless it is said otherwise an error is below 0.5 + 2^-30 units in the last place: it is what rounding the
/// true value to nearest leaves but in cases too rare to meet. NaN gives NaN. For the host; kernels have
/// simd/math-inl.h.
namespace phy::detail::elementary {

/// e^x. Infinite above ln of the largest number, subnormal and 0 far below 0.
double exp(double x);

/// 10^x.
double exp10(double x);

/// ln x; -infinity of 0, NaN of negative numbers.
double log(double x);

/// 10^(decibels / 10).
PHY_EXPORT double power_ratio(double decibels);

/// A ratio of powers in dB: 10 log10(x). Error: 4 units in the last place.
PHY_EXPORT double decibels(double x);

/// Of angles in radians up to this magnitude; NaN beyond.
inline constexpr double largest_angle = 0x1p20;
double cos(double angle);
double sin(double angle);
/// cos(angle) + j sin(angle).
std::complex<double> turned(double angle);

/// The angle of x + j y in radians, from -pi to pi, of finite numbers; 0 of 0. Error where it is subnormal: 2
/// units in the last place.
double angle_of(std::complex<double> value);

/// 2 / sqrt(pi) times the integral of e^(-t^2) from x on, of x from 0 on. Error: 8 units in the last place;
/// where the value is subnormal, that of the smallest normal number.
double erfc(double x);

}  // namespace phy::detail::elementary
