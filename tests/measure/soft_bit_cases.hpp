#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/core/half.hpp"
#include "phy/core/view.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "support/half_reference.hpp"

/// Soft bits of every kind and their expected sums by the contract, independent of the library.
namespace phy_test {

/// Soft bits in a format, and transmitted bits.
struct SoftBitCase {
    phy::SoftBitFormat format;
    std::vector<std::byte> soft_bits;
    std::vector<std::uint8_t> truth;

    [[nodiscard]] std::size_t size() const { return truth.size(); }
    [[nodiscard]] phy::SoftBitView view() const { return {format, soft_bits}; }

    template <typename T>
    void set(std::size_t index, T value) {
        std::memcpy(soft_bits.data() + index * sizeof value, &value, sizeof value);
    }
};

/// The stored bits of a soft bit with that value.
inline std::uint32_t soft_bit_of(phy::SoftBitFormat format, double value) {
    if (format == phy::SoftBitFormat::int8)
        return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::lround(value)));
    if (format == phy::SoftBitFormat::float16) {
        if (std::isinf(value)) return std::signbit(value) ? 0xFC00U : 0x7C00U;
        return nearest_half_bits(static_cast<long double>(value));
    }
    return std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

inline void set_bits(SoftBitCase& to, std::size_t index, std::uint32_t bits) {
    switch (to.format) {
        case phy::SoftBitFormat::int8:
            return to.set(index, static_cast<std::uint8_t>(bits));
        case phy::SoftBitFormat::float16:
            return to.set(index, static_cast<std::uint16_t>(bits));
        case phy::SoftBitFormat::float32:
            return to.set(index, bits);
    }
}

/// Mostly ordinary soft bits; some of either sign are 0, at the limit, tiny or not finite. Some bits are
/// neither 0 nor 1.
inline SoftBitCase random_soft_bits(phy::SoftBitFormat format, std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> ordinary(0.0, 40.0);
    SoftBitCase made{format, std::vector<std::byte>(count * size_of(format)),
                     std::vector<std::uint8_t>(count)};
    const bool is_integer = format == phy::SoftBitFormat::int8;
    const bool is_half = format == phy::SoftBitFormat::float16;
    for (std::size_t i = 0; i < count; ++i) {
        made.truth[i] = static_cast<std::uint8_t>(random() % 16 == 0 ? random() % 256 : random() % 2);
        const double sign = random() % 2 == 0 ? 1.0 : -1.0;
        double value = ordinary(random);
        switch (random() % 64) {
            case 0:
            case 1:
                value = sign * 0.0;
                break;
            case 2:
            case 3:
                value = sign * (is_integer ? 127.0 : is_half ? 65504.0 : 0x1p64);
                break;
            case 4:
                value = is_integer ? -128.0 : sign * (is_half ? 0x1p-24 : 0x1p-149);
                break;
            case 5:
                value = is_integer ? sign : sign * std::numeric_limits<double>::infinity();
                break;
            case 6:
                value = is_integer ? 0.0 : std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
                break;
            case 7:
                value = sign * (is_integer ? 31.0 : is_half ? 60000.0 : 0x1p70);
                break;
            default:
                if (is_integer) value = std::fmin(std::fmax(value, -127.0), 127.0);
                break;
        }
        const std::uint32_t bits = std::isnan(value)
                                       ? (is_half ? 0x7E01U : 0x7FC00001U) |
                                             (std::signbit(value) ? is_half ? 0x8000U : 0x80000000U : 0U)
                                       : soft_bit_of(format, value);
        set_bits(made, i, bits);
    }
    return made;
}

/// The value of a soft bit, exactly.
inline long double value_of(const SoftBitCase& in, std::size_t index) {
    const auto element = [&](auto value) {
        std::memcpy(&value, in.soft_bits.data() + index * sizeof value, sizeof value);
        return value;
    };
    switch (in.format) {
        case phy::SoftBitFormat::int8:
            return element(std::int8_t{});
        case phy::SoftBitFormat::float16:
            return value_of_half(element(std::uint16_t{}));
        case phy::SoftBitFormat::float32:
            break;
    }
    return element(float{});
}

/// The sum of magnitudes (0 for ignored soft bits) by the tree of phy/reduce/tree.hpp.
inline double sum_by_tree(const std::vector<float>& magnitudes) {
    std::vector<double> roots;
    for (std::size_t block = 0; block < magnitudes.size(); block += 4096) {
        std::vector<float> lanes(128, 0.0F);
        for (std::size_t i = block; i < magnitudes.size() && i < block + 4096; ++i)
            lanes[i % 128] += magnitudes[i];
        while (lanes.size() > 1) {
            std::vector<float> halved(lanes.begin(), lanes.begin() + std::ptrdiff_t(lanes.size() / 2));
            for (std::size_t v = 0; v < halved.size(); ++v)
                halved[v] += lanes[v + halved.size()];
            lanes = halved;
        }
        roots.push_back(double{lanes[0]});
    }
    while (roots.size() > 1) {
        std::vector<double> joined;
        for (std::size_t i = 0; i < roots.size(); i += 2)
            joined.push_back(i + 1 < roots.size() ? roots[i] + roots[i + 1] : roots[i]);
        roots = joined;
    }
    return roots.empty() ? 0.0 : roots[0];
}

/// Reference sums, and the sum of magnitudes in long double.
struct ExpectedSums {
    phy::SoftBitSums sums;
    long double exact = 0.0L;
};

/// For count soft bits from `first` on.
inline ExpectedSums expected_sums(const SoftBitCase& in, std::size_t first, std::size_t count, int clip,
                                  bool compares) {
    const long double limit = in.format == phy::SoftBitFormat::float16 ? 65504.0L : 0x1p64L;
    const bool is_integer = in.format == phy::SoftBitFormat::int8;
    ExpectedSums expected;
    std::vector<float> magnitudes(count, 0.0F);
    for (std::size_t i = 0; i < count; ++i) {
        const long double value = value_of(in, first + i);
        if (std::isnan(value) || std::isinf(value)) {
            ++expected.sums.not_finite;
            continue;
        }
        const long double magnitude = std::fabs(value);
        ++expected.sums.soft_bits;
        expected.exact += magnitude;
        magnitudes[i] = static_cast<float>(magnitude);
        expected.sums.saturated += (is_integer ? magnitude == clip : magnitude >= limit) ? 1 : 0;
        expected.sums.zeros += value == 0.0L ? 1 : 0;
        if (!compares) continue;
        ++expected.sums.compared;
        const bool decided = value < 0.0L;
        expected.sums.bit_errors += decided == (in.truth[first + i] != 0) ? 0 : 1;
    }
    expected.sums.magnitude = is_integer ? static_cast<double>(expected.exact) : sum_by_tree(magnitudes);
    return expected;
}

/// For every row.
inline std::vector<phy::SoftBitSums> expected_rows(const SoftBitCase& in, std::size_t row, int clip,
                                                   bool compares) {
    std::vector<phy::SoftBitSums> sums;
    for (std::size_t first = 0; first < in.size(); first += row)
        sums.push_back(expected_sums(in, first, std::min(row, in.size() - first), clip, compares).sums);
    return sums;
}

}  // namespace phy_test

namespace phy {

/// For messages of tests.
inline void PrintTo(const SoftBitSums& sums, std::ostream* out) {  // NOLINT(readability-identifier-naming)
    *out << "{magnitude " << sums.magnitude << ", soft bits " << sums.soft_bits << ", not finite "
         << sums.not_finite << ", saturated " << sums.saturated << ", zeros " << sums.zeros << ", compared "
         << sums.compared << ", bit errors " << sums.bit_errors << "}";
}

}  // namespace phy
