#pragma once

#include <cstdint>

#include "phy/core/export.hpp"

namespace phy {

/// What one or more demapper calls counted. Separate from demapper.hpp because kernels take long to compile
/// and do not depend on the configuration.
struct PHY_EXPORT DemapCounters {
    std::uint64_t erasures = 0;   ///< non-finite components, plus unusable per-symbol noise variances
    std::uint64_t saturated = 0;  ///< soft bits at the limit of their format: int8 +-llr_clip, fp16 +-65504

    friend bool operator==(const DemapCounters&, const DemapCounters&) = default;
};

}  // namespace phy
