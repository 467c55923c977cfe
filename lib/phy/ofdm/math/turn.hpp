#pragma once

#include <cmath>
#include <complex>
#include <numbers>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {

/// exp(j 2 pi turns), exact for multiples of an eighth of a turn.
inline std::complex<double> turn(double turns) {
    const double eighths = std::floor(8.0 * (turns - std::floor(turns)) + 0.5);
    const double rest = 2.0 * std::numbers::pi * (turns - std::floor(turns) - eighths / 8.0);
    constexpr double c = std::numbers::sqrt2 / 2.0;
    constexpr std::complex<double> of_eighth[] = {{1, 0},   {c, c},  {0, 1},  {-c, c}, {-1, 0},
                                                  {-c, -c}, {0, -1}, {c, -c}, {1, 0}};
    const std::complex<double> corner = of_eighth[static_cast<int>(eighths)];
    return rest == 0.0 ? corner : corner * elementary::phasor(rest);
}

}  // namespace phy::detail
