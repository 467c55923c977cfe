#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"
#include "tracker/tracker_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

template <typename T>
DeviceBuffer<T> on_device(const phy::gpu::Device& device, const std::vector<T>& values,
                          const phy::gpu::Stream& stream) {
    DeviceBuffer<T> buffer(device, values.size());
    if (!values.empty()) copy_async(buffer, values, stream);
    return buffer;
}

/// is_shifted: the symbols begin at 4 bytes more than a multiple of 8.
TrackedSlots tracked_on_gpu(const PhaseTrackerConfig& config, TrackedSlots slots, bool is_shifted = false) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::PhaseTracker tracker(device, config);
    DeviceBuffer<float> floats(device, 2 * slots.symbols.size() + 1);
    const auto symbols = phy::gpu::device_span(reinterpret_cast<cf32*>(floats.data() + (is_shifted ? 1 : 0)),
                                               slots.symbols.size());
    copy_async(symbols, slots.symbols, stream);
    auto noise = on_device(device, slots.noise_variance, stream);
    auto estimates = on_device(device, slots.estimates, stream);
    auto pairs = on_device(device, slots.pairs, stream);
    const auto ptrs = on_device(device, slots.ptrs, stream);
    const auto ptrs_noise = on_device(device, slots.ptrs_noise_variance, stream);
    const auto pilots = on_device(device, slots.pilots, stream);
    DeviceBuffer<std::byte> workspace(device, tracker.workspace_bytes(slots.estimates.size()));
    tracker(symbols, noise, estimates, workspace, stream, pairs, {ptrs, ptrs_noise, pilots});
    tracker.raise_noise(estimates, noise, stream, pairs);
    copy_async(slots.symbols, symbols, stream);
    copy_async(slots.noise_variance, noise, stream);
    copy_async(slots.estimates, estimates, stream);
    if (!slots.pairs.empty()) copy_async(slots.pairs, pairs, stream);
    stream.synchronize();
    return slots;
}

TEST(GpuPhaseTracker, WritesTheBytesOfTheHost) {
    PHY_NEEDS_GPU();
    std::mt19937 random(random_seed());
    for (const phy::Modulation modulation : all_tracked_modulations) {
        for (int run = 0; run < fewer_times(8); ++run) {
            const PhaseTrackerConfig config = random_tracker(modulation, random);
            const TrackedSlots slots = awkward_slots(config, random);
            const auto expected = bits_of(tracked(phy::Host(), config, slots));
            for (const bool is_shifted : {false, true})
                EXPECT_TRUE(bits_of(tracked_on_gpu(config, slots, is_shifted)) == expected)
                    << to_string(modulation) << ", run " << run << ", shifted " << is_shifted;
        }
    }
}

/// More slots than a grid of blocks has.
TEST(GpuPhaseTracker, ManySlots) {
    PHY_NEEDS_GPU();
    std::mt19937 random(random_seed());
    PhaseTrackerConfig config;
    config.allocation.carrier_resource_blocks = 2;
    config.allocation.resource_blocks = {{0, 2}};
    config.allocation.first_symbol = 2;
    config.allocation.symbols = 3;
    config.allocation.dmrs.symbols = {2};
    config.allocation.ptrs.emplace();
    Phases phases = {};
    phases.fill(0.3);
    const std::vector<TrackedSlots> kinds = {random_slot(config, 0.01, phases, random),
                                             random_slot(config, 0.01, {}, random)};
    std::vector<TrackedSlots> slots;
    for (std::size_t i = 0; i < 66'000; ++i)
        slots.push_back(kinds[i % 2]);
    const TrackedSlots all = joined(slots);
    EXPECT_TRUE(bits_of(tracked_on_gpu(config, all)) == bits_of(tracked(phy::Host(), config, all)));
}

/// All symbols with data have DM-RS; then there is nothing to follow.
TEST(GpuPhaseTracker, NothingToFollow) {
    PHY_NEEDS_GPU();
    std::mt19937 random(7);
    PhaseTrackerConfig config;
    config.allocation.carrier_resource_blocks = 30;
    config.allocation.resource_blocks = {{0, 30}};
    config.allocation.first_symbol = 2;
    config.allocation.symbols = 1;
    config.allocation.dmrs.symbols = {2};
    config.allocation.dmrs.cdm_groups_without_data = 1;
    const TrackedSlots slot = random_slot(config, 0.01, {}, random);
    EXPECT_TRUE(tracked_on_gpu(config, slot) == slot);
    EXPECT_TRUE(tracked(phy::Host(), config, slot) == slot);
}

TEST(GpuPhaseTracker, RefusesAWorkspaceThatIsTooSmall) {
    PHY_NEEDS_GPU();
    PhaseTrackerConfig config;
    config.allocation.carrier_resource_blocks = 2;
    config.allocation.resource_blocks = {{0, 2}};
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::PhaseTracker tracker(device, config);
    DeviceBuffer<cf32> symbols(device, tracker.symbols_per_slot());
    DeviceBuffer<float> noise(device, symbols.size());
    DeviceBuffer<SlotEstimate> slots(device, 1);
    DeviceBuffer<std::byte> workspace(device, tracker.workspace_bytes(1) - 1);
    EXPECT_THROW(tracker(symbols, noise, slots, workspace, stream), phy::ArgumentError);
}

}  // namespace
