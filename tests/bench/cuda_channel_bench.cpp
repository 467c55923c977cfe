// What channel estimation costs on a GPU: a batch of slots, beside a copy of as many bytes as it reads and
// writes together.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/channel_signal.hpp"
#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"

namespace phy::bench {
namespace {

constexpr std::size_t max_slots = 64;

void measure_estimator(Suite& suite, int resource_blocks, std::size_t slots) {
    const auto name = fmt::format("estimate/4x4/{}/{}", resource_blocks, slots);
    if (!suite.wants(name)) return;
    const ChannelEstimatorConfig config = whole_carrier(4, 100e-9F, resource_blocks);
    const gpu::Device& device = suite.device();
    const gpu::ChannelEstimator estimate(device, config, slots);
    std::vector<cf32> pilots(dmrs_pilot_count(config.allocation));
    dmrs_pilots(config.allocation, 0, pilots);
    const std::vector<cf32> grid = received_slot(config, pilots);
    const std::size_t of_slot = grid.size();

    gpu::DeviceBuffer<cf32> grids(device, slots * of_slot);
    gpu::DeviceBuffer<cf32> all_pilots(device, slots * pilots.size());
    gpu::DeviceBuffer<float> channel(device, slots * estimate.channel_size());
    gpu::DeviceBuffer<SlotEstimate> estimates(device, slots);
    apps::fill_repeating(device, gpu::as_bytes(grids.span()), std::as_bytes(std::span(grid)));
    apps::fill_repeating(device, gpu::as_bytes(all_pilots.span()), std::as_bytes(std::span(pilots)));
    // The DM-RS symbols of the grid, and the coefficients.
    const std::size_t bytes_in = slots * of_slot / 7 * sizeof(cf32) + all_pilots.size_bytes();
    // 9:32, which no copy kernel has. The grids are longer than what is read of them.
    const Move move = evened({grids.data(), bytes_in, channel.data(), channel.size_bytes()});
    const auto work = [&](cudaStream_t stream) { estimate(grids, all_pilots, channel, estimates, stream); };
    suite.record(name, {.symbols = slots * of_slot, .moves = {move}, .work = work, .graph = true});
}

}  // namespace

void channel_benchmarks(Suite& suite) {
    for (const int resource_blocks : {273, 12, 1}) {
        measure_estimator(suite, resource_blocks, 1);
        measure_estimator(suite, resource_blocks, suite.quick() ? 4 : max_slots);
    }
}

}  // namespace phy::bench
