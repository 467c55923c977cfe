#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "phy/core/constellation.hpp"
#include "phy/core/format.hpp"

/// One axis of a square QAM: a Gray-labelled PAM with m bits and the levels +-1, +-3 ... +-(2^m - 1), in
/// units of A = 1/sqrt(n) on symbols of unit mean power (TS 38.211 clause 5.1).
///
/// The binary32 number nearest to sqrt(n) has an error of up to 2^-25. Times the distance from the origin,
/// that moves a decision boundary by enough to change int8 soft bits. So the axis is measured in units of
/// A/q, where p/q, in lowest terms, solves Pell's equation p^2 - n q^2 = +-1. Both are small integers, exact
/// in binary32, and y * p is the axis value in those units with a relative error below 2^-29. A level is then
/// an odd multiple of q; boundaries and breakpoints, multiples of q, are exact too.
namespace phy::detail {

struct AxisUnits {
    int p;  ///< y * p is the axis value in units of A/q
    int q;  ///< a level is an odd multiple of this
};

/// By bits per axis, from 1 (QPSK) to max_axis_bits.
inline constexpr std::array<AxisUnits, max_axis_bits + 1> axis_units = {
    {{}, {19601, 13860}, {168717, 53353}, {227137, 35048}, {229841, 17628}, {1197901, 45870}}};

constexpr bool solve_pell() {
    for (std::size_t m = 1; m < axis_units.size(); ++m) {
        const std::int64_t multiple = std::gcd(axis_units[m].p, axis_units[m].q);
        const std::int64_t p = axis_units[m].p / multiple;
        const std::int64_t q = axis_units[m].q / multiple;
        const std::int64_t residue = p * p - inverse_power(m) * q * q;
        if (residue != 1 && residue != -1) return false;
    }
    return true;
}
static_assert(solve_pell());

template <int m>
struct Axis {
    static constexpr float p = static_cast<float>(axis_units[m].p);
    static constexpr float q = static_cast<float>(axis_units[m].q);

    /// The distance x_{k+1} = fold(k) - |x_k| maps bit k's axis to bit k+1's.
    static constexpr float fold(int k) { return static_cast<float>(1 << (m - 1 - k)) * q; }

    /// N_k: bit k's LLR has breakpoints at |x_k| = 2q, 4q ... 2q N_k.
    static constexpr float last_segment(int k) { return static_cast<float>((1 << (m - 1 - k)) - 1); }

    /// See finds_segments.
    static constexpr float inverse_segment = 0.5F / q;
    static constexpr auto inverse_segment_above =
        static_cast<float>(double{inverse_segment} * (1.0 + 0x1.2p-24));
};

/// True if floor(|x| * inverse) is the segment of every |x|, that is, if it changes exactly at the
/// breakpoints. The product may be rounded, or exact (as in binary64) if a machine instead rounds its sum
/// with a large number down.
template <int m>
constexpr bool finds_segments(float inverse, bool product_is_rounded) {
    const auto reaches = [=](float x, int segment) {
        const auto number = static_cast<float>(segment);
        return product_is_rounded ? x * inverse >= number : double{x} * double{inverse} >= double{number};
    };
    for (int i = 1; i < (1 << (m - 1)); ++i) {
        const float breakpoint = static_cast<float>(2 * i) * Axis<m>::q;
        const float before = breakpoint * (1.0F - 0x1p-24F);
        if (before >= breakpoint || !reaches(breakpoint, i) || reaches(before, i)) return false;
    }
    return true;
}
template <int m>
constexpr bool all_find_segments() {
    if constexpr (m > 1)
        return finds_segments<m>(Axis<m>::inverse_segment, true) && all_find_segments<m - 1>();
    return true;
}
static_assert(all_find_segments<static_cast<int>(max_axis_bits)>());

/// Turns N0 into the two numbers that make a soft bit of an axis distance d: scale * min(d, limit).
struct GainRule {
    float per_inverse_noise;  ///< scale / (1/N0)
    float per_noise;          ///< limit / N0
};

/// See GainRule.
struct Gain {
    float scale;
    float limit;
};

/// unit is the soft bit of 1 nat, largest the magnitude at which it saturates.
constexpr GainRule gain_rule(int bits, double unit, double largest) {
    const auto m = static_cast<std::size_t>(bits);
    const double gain = 4.0 * unit / (static_cast<double>(inverse_power(m)) * axis_units[m].q);
    return {static_cast<float>(gain), static_cast<float>(largest / gain)};
}

/// Saturation of distances, and of soft bits in binary32, which their format does not limit.
inline constexpr float largest_llr =
    soft_bit_format_facts[static_cast<std::size_t>(SoftBitFormat::float32)].largest;

/// N0 is limited to this range, so that no gain overflows or becomes subnormal.
inline constexpr float smallest_noise = 0x1p-100F;
inline constexpr float largest_noise = 0x1p40F;

}  // namespace phy::detail
