#include <benchmark/benchmark.h>

#include <vector>

#include <fmt/format.h>

#include "bench/channel_signal.hpp"
#include "bench/paired.hpp"

namespace phy::bench {
namespace {

/// Layers to as many antennas, with two DM-RS symbols.
void add_estimate(int layers, TimeInterpolation time, float delay_spread, int resource_blocks = 273) {
    const auto name = fmt::format("estimate/{0}x{0}/{1}/{2}/{3:.0f}ns", layers, resource_blocks,
                                  time == TimeInterpolation::average ? "average" : "linear",
                                  static_cast<double>(delay_spread) * 1e9);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
            ChannelEstimatorConfig config = whole_carrier(layers, delay_spread, resource_blocks);
            config.time = time;
            ChannelEstimator estimate(Host(), config);
            std::vector<cf32> pilots(dmrs_pilot_count(config.allocation));
            dmrs_pilots(config.allocation, 0, pilots);
            const std::vector<cf32> grid = received_slot(config, pilots);
            std::vector<float> channel(estimate.channel_size());
            std::vector<SlotEstimate> slots(1);
            const std::size_t bytes_in = (grid.size() / 7 + pilots.size()) * sizeof(cf32);
            run_paired(state, {grid.size(), bytes_in, channel.size() * sizeof(float)},
                       [&] { estimate(grid, pilots, channel, slots); });
        })
        ->UseManualTime()
        ->Iterations(rounds_for(symbols_per_slot * 12 * static_cast<std::size_t>(resource_blocks)));
}

const bool registered = [] {
    for (const float delay_spread : {30e-9F, 100e-9F, 300e-9F})
        add_estimate(4, TimeInterpolation::linear, delay_spread);
    add_estimate(4, TimeInterpolation::average, 100e-9F);
    add_estimate(1, TimeInterpolation::linear, 100e-9F);
    for (const int resource_blocks : {1, 4, 12})
        for (const int layers : {1, 4})
            add_estimate(layers, TimeInterpolation::linear, 100e-9F, resource_blocks);
    return true;
}();

}  // namespace
}  // namespace phy::bench
