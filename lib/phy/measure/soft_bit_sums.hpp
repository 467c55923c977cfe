#pragma once

#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"

/// What is summed over soft bits, and what follows from it.
namespace phy {

/// How soft bits were made; the members are those of DemapperConfig.
struct PHY_EXPORT SoftBitMeterConfig {
    float llr_scale = 6.0F;  ///< int8: least significant bits a nat, from 1/64 to 4096
    int llr_clip = 127;      ///< int8: soft bits were limited to +-llr_clip, from 1 to 127

    friend bool operator==(const SoftBitMeterConfig&, const SoftBitMeterConfig&) = default;
};

/// Sums over neighbouring soft bits, which are numbers as they are stored: int8 is not divided. A soft bit
/// that is an infinity or a NaN is left out, and is not compared either.
///
/// The sum of magnitudes is exact for int8, up to 2^46 soft bits. For others it is in binary32 by blocks of
/// row_tree, and in binary64 from the roots of blocks on; it is infinite where the sum of a block is beyond
/// binary32. The sums of two neighbouring rows of 2^k blocks each are join() of theirs.
struct PHY_EXPORT SoftBitSums {
    double magnitude = 0.0;  ///< of |L|

    std::uint64_t soft_bits = 0;   ///< that were summed
    std::uint64_t not_finite = 0;  ///< that were left out

    /// Of those summed: |L| is llr_clip in int8, 65504 in float16, and at least 2^64 in float32.
    std::uint64_t saturated = 0;
    std::uint64_t zeros = 0;  ///< of those summed: of either sign

    std::uint64_t compared = 0;    ///< of those summed: with a transmitted bit
    std::uint64_t bit_errors = 0;  ///< of those compared: negative and the bit is 0, or not and it is 1

    friend bool operator==(const SoftBitSums&, const SoftBitSums&) = default;
};

/// Of two neighbours, the left one first.
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

/// What soft bits are like. Shares and rates of nothing are NaN.
struct PHY_EXPORT SoftBitMeasurement {
    std::uint64_t soft_bits = 0;   ///< measured
    std::uint64_t not_finite = 0;  ///< left out; see SoftBitSums

    double mean_magnitude = 0.0;  ///< E|L| in nats
    double saturated = 0.0;       ///< the share of soft bits at their limit
    double zeros = 0.0;           ///< the share of soft bits that say nothing
    double bit_error_rate = 0.0;  ///< of hard decisions
};

/// What follows from sums that a SoftBitMeter of this configuration has made of soft bits in this format.
PHY_EXPORT SoftBitMeasurement measurement_of(const SoftBitSums& sums, const SoftBitMeterConfig& config,
                                             SoftBitFormat format);

}  // namespace phy
