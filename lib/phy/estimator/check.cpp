#include "phy/estimator/check.hpp"

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {

EstimatorCallSizes estimator_call_sizes(const EstimatorPlan& plan) {
    const EstimatorLayout& layout = plan.layout;
    const auto antennas = static_cast<std::size_t>(layout.antennas);
    return {.grid = antennas * symbols_per_slot * static_cast<std::size_t>(layout.subcarriers),
            .pilots = static_cast<std::size_t>(layout.symbols) * static_cast<std::size_t>(layout.pilots),
            .channel = plan.channel_size(),
            .slots = 1,
            .covariance = antennas * antennas};
}

void check_estimator_call(const EstimatorPlan& plan, const EstimatorCallSizes& call) {
    const EstimatorCallSizes slot = estimator_call_sizes(plan);
    check_slots(call.slots, "grid", call.grid);
    check_size("grid", call.grid, call.slots * slot.grid);
    check_size("pilots", call.pilots, call.slots * slot.pilots);
    check_size("channel", call.channel, call.slots * slot.channel);
    if (call.covariance == 0) return;
    check_size("covariance", call.covariance, call.slots * slot.covariance);
    for (const EstimatorTables& tables : plan.tables) {
        if (!plan.has_freedom(tables))
            throw ArgumentError(
                "covariance: the allocation has too few pilots to measure it along with the channel");
    }
}

float estimator_unit(const ChannelEstimatorConfig& config, SampleFormat format) {
    check_enum("sample format", format, all_sample_formats.back());
    return 1.0F / config.full_scale.value_for(format);
}

}  // namespace phy::detail
