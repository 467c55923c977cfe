#pragma once

#include <vector>

#include "phy/estimator/estimator.hpp"
#include "phy/estimator/math/layout.hpp"
#include "phy/estimator/math/slot_state.hpp"

namespace phy::detail {

/// How a configuration gets the channel of each OFDM symbol from the estimates.
struct EstimatorTime {
    EstimatorTimeSets sets = {};
    std::vector<float> weights;  ///< (changes, errors, symbols_per_slot, estimates)

    [[nodiscard]] int count() const { return sets.changes * sets.errors; }
};

EstimatorTime make_estimator_time(const ChannelEstimatorConfig& config, const EstimatorLayout& layout);

}  // namespace phy::detail
