#pragma once

#include <cstddef>

#include "phy/core/format.hpp"
#include "phy/estimator/math/plan.hpp"

namespace phy::detail {

/// Elements of each array of one slot, or of a call.
struct EstimatorCallSizes {
    std::size_t grid = 0;
    std::size_t pilots = 0;
    std::size_t channel = 0;
    std::size_t slots = 0;
    std::size_t covariance = 0;
};

/// Sizes of one slot.
EstimatorCallSizes estimator_call_sizes(const EstimatorPlan& plan);

/// Throws ArgumentError if the sizes of a call's arrays do not fit, or if a covariance is wanted and the
/// allocation has too few pilots for it.
void check_estimator_call(const EstimatorPlan& plan, const EstimatorCallSizes& call);

/// The factor that turns integer samples into numbers.
float estimator_unit(const ChannelEstimatorConfig& config, SampleFormat format);

}  // namespace phy::detail
