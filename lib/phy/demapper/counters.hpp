#pragma once

#include <cstdint>

#include "phy/core/export.hpp"

namespace phy {

/// Counts of one or more demapper calls. Separate from demapper.hpp because kernels take long to compile and
/// do not depend on the configuration.
struct PHY_EXPORT DemapCounters {
    std::uint64_t erasures = 0;   ///< non-finite components, plus unusable per-symbol noise variances
    std::uint64_t saturated = 0;  ///< soft bits at their limit: int8 LlrConfig::clip, fp16 65504; never fp32

    friend bool operator==(const DemapCounters&, const DemapCounters&) = default;
};

}  // namespace phy
