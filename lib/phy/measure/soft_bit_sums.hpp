#pragma once

#include <cstdint>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/format.hpp"

/// Sums over soft bits, and the figures that follow from them.
namespace phy {

struct PHY_EXPORT SoftBitMeterConfig {
    LlrConfig llr = {};  ///< of the demapper; only scale and clip count, and only for int8

    friend bool operator==(const SoftBitMeterConfig&, const SoftBitMeterConfig&) = default;
};

/// Sums over neighbouring soft bits, as they are stored: int8 values are not divided by LlrConfig::scale.
/// Infinite and NaN soft bits are left out, also of the comparison.
///
/// For int8 the sum of magnitudes is exact, up to 2^46 soft bits. For other formats blocks of row_tree are
/// summed in binary32, and their roots in binary64. The sum is infinite if that of a block is beyond
/// binary32. join() of the sums of two neighbouring rows of 2^k blocks each gives the sums of both.
struct PHY_EXPORT SoftBitSums {
    double magnitude = 0.0;  ///< sum of |L|

    std::uint64_t soft_bits = 0;   ///< number summed
    std::uint64_t not_finite = 0;  ///< number left out

    /// Soft bits with |L| at the limit: LlrConfig::clip in int8, 65504 in float16, at least 2^64 in float32.
    std::uint64_t saturated = 0;
    std::uint64_t zeros = 0;  ///< summed soft bits that are 0, of either sign

    std::uint64_t compared = 0;  ///< summed soft bits with a transmitted bit
    std::uint64_t bit_errors =
        0;  ///< compared soft bits that are negative for bit 0, or not negative for bit 1

    friend bool operator==(const SoftBitSums&, const SoftBitSums&) = default;
};

/// Joins the sums of two neighbours, the left one first.
constexpr SoftBitSums join(const SoftBitSums& left, const SoftBitSums& right) {
    return {.magnitude = left.magnitude + right.magnitude,
            .soft_bits = left.soft_bits + right.soft_bits,
            .not_finite = left.not_finite + right.not_finite,
            .saturated = left.saturated + right.saturated,
            .zeros = left.zeros + right.zeros,
            .compared = left.compared + right.compared,
            .bit_errors = left.bit_errors + right.bit_errors};
}

/// join() as a function object, for NodeJoiner.
struct JoinSoftBitSums {
    constexpr SoftBitSums operator()(const SoftBitSums& left, const SoftBitSums& right) const {
        return join(left, right);
    }
};

/// Figures of soft bits. Shares and rates of no soft bits are NaN.
struct PHY_EXPORT SoftBitMeasurement {
    std::uint64_t soft_bits = 0;   ///< measured
    std::uint64_t not_finite = 0;  ///< left out; see SoftBitSums

    double mean_magnitude = 0.0;  ///< E|L| in nats
    double saturated = 0.0;       ///< share of soft bits at their limit
    double zeros = 0.0;           ///< share of soft bits that are 0
    double bit_error_rate = 0.0;  ///< of hard decisions; a ratio
};

/// Returns the figures that follow from the sums of a SoftBitMeter with this configuration, over soft bits in
/// this format. Throws ArgumentError if a value is out of its range.
PHY_EXPORT SoftBitMeasurement measurement_of(const SoftBitSums& sums, const SoftBitMeterConfig& config,
                                             SoftBitFormat format);

}  // namespace phy
