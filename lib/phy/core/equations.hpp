#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/constellation.hpp"

/// The equations of TS 38.211 clause 5.1 as printed there, without the square root before the brace, and
/// static assertions that the compact form in constellation.hpp equals them.
namespace phy::detail {

/// s(k), which the standard writes (1-2b(Qm i + k)).
struct Signs {
    std::size_t qm;
    unsigned label;
    constexpr int operator()(std::size_t k) const { return (label >> (qm - 1 - k) & 1U) != 0 ? -1 : 1; }
};

constexpr PointLevels printed_equation(Modulation modulation, unsigned label, std::uint64_t symbol_index) {
    const Signs s{bits_per_symbol(modulation), label};
    switch (modulation) {
        case Modulation::pi2_bpsk:
            // e^(j pi/2 (i mod 2)) [s(0) + j s(0)]
            if (symbol_index % 2 == 1) return {-s(0), s(0)};
            return {s(0), s(0)};
        case Modulation::bpsk:
            return {s(0), s(0)};
        case Modulation::qpsk:
            return {s(0), s(1)};
        case Modulation::qam16:
            return {s(0) * (2 - s(2)), s(1) * (2 - s(3))};
        case Modulation::qam64:
            return {s(0) * (4 - s(2) * (2 - s(4))), s(1) * (4 - s(3) * (2 - s(5)))};
        case Modulation::qam256:
            return {s(0) * (8 - s(2) * (4 - s(4) * (2 - s(6)))), s(1) * (8 - s(3) * (4 - s(5) * (2 - s(7))))};
        case Modulation::qam1024:
            return {s(0) * (16 - s(2) * (8 - s(4) * (4 - s(6) * (2 - s(8))))),
                    s(1) * (16 - s(3) * (8 - s(5) * (4 - s(7) * (2 - s(9)))))};
    }
    return {};
}

constexpr bool labels_follow_equations() {
    for (const Modulation modulation : all_modulations) {
        for (unsigned label = 0; label < 1U << bits_per_symbol(modulation); ++label) {
            for (const std::uint64_t index : {0U, 1U}) {
                const PointLevels printed = printed_equation(modulation, label, index);
                if (point_levels(modulation, label, index) != printed) return false;
            }
        }
    }
    return true;
}
static_assert(labels_follow_equations());

constexpr bool label_bits_select_levels() {
    for (int m = 1; m <= static_cast<int>(max_axis_bits); ++m) {
        for (int i = 0; i < 1 << m; ++i) {
            unsigned label = 0;
            for (int k = 0; k < m; ++k)
                label = label << 1 | static_cast<unsigned>(axis_label_bit(m, i, k));
            if (axis_level(static_cast<std::size_t>(m), label) != 2 * i - ((1 << m) - 1)) return false;
        }
    }
    return true;
}
static_assert(label_bits_select_levels());

/// True if value is the binary32 number nearest to level / sqrt(power). With value = n / 2^e and 2^23 <= n <
/// 2^24 this means (2n - 1)^2 power < level^2 2^(2e+2) < (2n + 1)^2 power. No term exceeds 2^62.
constexpr bool is_nearest(float value, std::int64_t level, std::int64_t power) {
    int exponent = 0;
    for (; value < 0x1p23F; value *= 2.0F)
        ++exponent;
    const auto twice = 2 * static_cast<std::int64_t>(value);
    const std::int64_t exact = (level * level) << (2 * exponent + 2);
    return (twice - 1) * (twice - 1) * power < exact && exact < (twice + 1) * (twice + 1) * power;
}

constexpr bool points_are_nearest() {
    for (const Modulation modulation : all_modulations) {
        for (unsigned label = 0; label < 1U << bits_per_symbol(modulation); ++label) {
            const PointLevels levels = point_levels(modulation, label);
            const cf32 point = constellation_point(modulation, label);
            const std::int64_t power = inverse_power(bits_per_axis(modulation));
            const bool i_is = is_nearest(levels.i < 0 ? -point.real() : point.real(), levels.i, power);
            const bool q_is = is_nearest(levels.q < 0 ? -point.imag() : point.imag(), levels.q, power);
            if (!i_is || !q_is) return false;
        }
    }
    return true;
}
static_assert(points_are_nearest());

}  // namespace phy::detail
