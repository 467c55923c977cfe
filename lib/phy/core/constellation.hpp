#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

/// The constellations of TS 38.211 clause 5.1 at compile time.
///
/// The label of a point is its bits b0 ... b(Qm-1) read as a number, b0 first (most significant). Even bits
/// select the level on I, odd bits the level on Q. Both use the same Gray labels. BPSK has one bit for both
/// axes.
namespace phy {

/// m, the number of bits that select the level on one axis: 1, 1, 1, 2, 3, 4, 5.
constexpr std::size_t bits_per_axis(Modulation modulation) {
    return (bits_per_symbol(modulation) + 1) / 2;
}

/// The largest bits_per_axis() of all modulations.
inline constexpr std::size_t max_axis_bits = bits_per_axis(all_modulations.back());

/// 1 / A^2: 2, 10, 42, 170, 682 for m = 1 to 5. The levels of an axis with m bits are A times the odd
/// integers from -(2^m - 1) to 2^m - 1; A makes the mean power of a point 1.
constexpr std::int64_t inverse_power(std::size_t m) {
    return 2 * ((std::int64_t{1} << (2 * m)) - 1) / 3;
}

/// A, the unit of the levels; see inverse_power().
constexpr double axis_unit(Modulation modulation) {
    const auto n = static_cast<double>(inverse_power(bits_per_axis(modulation)));
    double root = n;
    for (double better = (root + 1.0) / 2.0; better < root; better = (root + n / root) / 2.0)
        root = better;
    return 1.0 / root;
}

/// The level, in units of A, that m bits select. bits holds them as a number, the first most significant.
constexpr int axis_level(std::size_t m, unsigned bits) {
    int level = 0;
    for (std::size_t k = 0; k < m; ++k) {
        const int sign = (bits >> k & 1U) != 0 ? -1 : 1;
        level = sign * ((1 << k) - level);
    }
    return level;
}

/// Bit k (from 0) of the m bits that select level 2 i - (2^m - 1): the inverse of axis_level().
constexpr int axis_label_bit(int m, int i, int k) {
    int x = 2 * i - ((1 << m) - 1);
    for (int j = 0; j < k; ++j)
        x = (1 << (m - 1 - j)) - (x < 0 ? -x : x);
    return x < 0 ? 1 : 0;
}

/// The coordinates of a point in units of A: odd integers.
struct PHY_EXPORT PointLevels {
    int i;
    int q;
    friend constexpr bool operator==(PointLevels, PointLevels) = default;
};

/// The point of a label. symbol_index: the index i of the symbol in its sequence; pi/2-BPSK rotates the
/// points at odd indices by 90 degrees.
constexpr PointLevels point_levels(Modulation modulation, unsigned label, std::uint64_t symbol_index = 0) {
    const std::size_t m = bits_per_axis(modulation);
    if (bits_per_symbol(modulation) == 1) {
        const int level = axis_level(m, label);
        const bool rotated = modulation == Modulation::pi2_bpsk && symbol_index % 2 != 0;
        return {rotated ? -level : level, level};
    }
    unsigned i = 0;
    unsigned q = 0;
    for (std::size_t k = 0; k < m; ++k) {
        i |= (label >> (2 * k + 1) & 1U) << k;
        q |= (label >> (2 * k) & 1U) << k;
    }
    return {axis_level(m, i), axis_level(m, q)};
}

/// The point of a label at unit mean power: the binary32 numbers nearest to the exact coordinates.
constexpr cf32 constellation_point(Modulation modulation, unsigned label, std::uint64_t symbol_index = 0) {
    const PointLevels levels = point_levels(modulation, label, symbol_index);
    const double unit = axis_unit(modulation);
    return {static_cast<float>(levels.i * unit), static_cast<float>(levels.q * unit)};
}

}  // namespace phy
