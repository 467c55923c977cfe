#pragma once

#include <cstdint>
#include <vector>

#include "phy/estimator/math/layout.hpp"

namespace phy::detail {

/// A resource element with a pilot, in each DM-RS symbol.
struct EstimatorPilot {
    std::int32_t subcarrier;  ///< in its subband
    std::int32_t index;       ///< among the pilots of a symbol
};

/// The numbers of subbands, on the host and in device memory.
struct EstimatorSubbandShape {
    int subcarriers;  ///< of a subband
    int count;
    int used;    ///< with pilots
    int pilots;  ///< in a symbol
};

/// Where the residuals of a slot's pilots are, for the covariance of each subband.
struct EstimatorSubbands : EstimatorSubbandShape {
    explicit EstimatorSubbands(const EstimatorLayout& layout);

    std::vector<std::int32_t> pilot_at;     ///< by subcarrier: EstimatorPilot::index; -1: none
    std::vector<EstimatorPilot> pilot;      ///< subband by subband
    std::vector<std::int32_t> first_pilot;  ///< of each subband; then their number
    /// (DM-RS length, layers, subcarriers of a subband): the sign of a layer's pilot; 0: none.
    std::vector<float> signs;

    [[nodiscard]] int pilots_of(int subband) const {
        const auto i = static_cast<std::size_t>(subband);
        return first_pilot[i + 1] - first_pilot[i];
    }
};

}  // namespace phy::detail
