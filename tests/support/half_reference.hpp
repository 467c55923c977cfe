#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

/// binary16 by its definition, independent of the library.
namespace phy_test {

/// The value of the bits of a binary16 by IEEE 754.
inline long double value_of_half(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10 & 0x1FU);
    const auto fraction = static_cast<long double>(bits & 0x3FFU);
    const long double sign = (bits & 0x8000U) != 0 ? -1.0L : 1.0L;
    if (exponent == 31) {
        return fraction != 0.0L ? std::numeric_limits<long double>::quiet_NaN()
                                : sign * std::numeric_limits<long double>::infinity();
    }
    return exponent == 0 ? sign * std::ldexp(fraction, -24)
                         : sign * std::ldexp(fraction + 1024.0L, exponent - 25);
}

/// The bits of the binary16 nearest to a number, ties to even: nearbyint in units of the last place.
inline unsigned nearest_half_bits(long double value) {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const long double magnitude = std::fabs(value);
    const int exponent = magnitude == 0.0L ? -14 : std::max(std::ilogb(magnitude), -14);
    const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    // A fraction that was rounded up to 2 carries into the exponent by itself.
    const unsigned bits = static_cast<unsigned>(exponent + 14) * 1024U + units;
    return sign | std::min(bits, 0x7C00U);
}

}  // namespace phy_test
