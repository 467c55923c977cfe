#pragma once

#include <cstddef>

#include "phy/core/format.hpp"
#include "phy/detector/detector.hpp"

/// What follows from a detector's configuration on every backend.
namespace phy::detail {

/// A soft bit is scale x LLR, with the LLR limited to +-limit.
struct LlrRange {
    float scale;
    float limit;
};

/// Priors are in sixths of a nat, as the decoder has them.
inline constexpr float nats_per_prior_step = 1.0F / 6.0F;

LlrRange llr_range(const LlrConfig& config, SoftBitFormat format);

/// Throws ArgumentError if a value is out of its range.
void check(const JointDetectorConfig& config);

/// Throws ArgumentError if the sizes of a call do not fit.
struct DetectorSizes {
    std::size_t pairs;
    std::size_t llr;
    std::size_t signs;
    std::size_t priors;
};
void check(const JointDetectorConfig& config, const DetectorSizes& sizes, SoftBitFormat format);

}  // namespace phy::detail
