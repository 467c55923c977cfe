#include "phy/tracker/tracker.hpp"

#include <algorithm>

#include "phy/cuda/device.hpp"
#include "phy/cuda/workspace.hpp"
#include "phy/tracker/cuda/launch.hpp"
#include "phy/tracker/math/plan.hpp"

namespace phy::gpu {
namespace {

/// The elements from that index on; null if there are none at all.
template <typename T>
T* from(DeviceSpan<T> all, std::size_t first) {
    return all.empty() ? nullptr : all.data() + first;
}

}  // namespace

struct PHY_HIDDEN PhaseTracker::Impl {
    Device device;
    Config config;
    phy::detail::TrackPlan plan;
    DeviceBuffer<phy::detail::TrackedPtrs> places = {};
};

PhaseTracker::PhaseTracker(const Device& device, const Config& config)
    : impl_(new Impl{device, config, phy::detail::track_plan(config)}) {
    const CurrentDevice current(device);
    const auto places = phy::detail::place_ptrs(config, impl_->plan);
    if (!places.empty()) impl_->places = detail::upload(device, places);
    detail::load_tracker();
}

std::size_t PhaseTracker::symbols_per_slot() const {
    return impl_->plan.symbols;
}

std::size_t PhaseTracker::workspace_bytes(std::size_t slots) const {
    return slots * phy::detail::TrackPlan::max_steps * sizeof(phy::detail::TrackedSymbol);
}

void PhaseTracker::operator()(DeviceSpan<cf32> symbols, DeviceSpan<const float> noise_variance,
                              DeviceSpan<SlotEstimate> slots, DeviceSpan<std::byte> workspace,
                              cudaStream_t stream, DeviceSpan<LayerPair> pairs,
                              const PtrsSymbols& ptrs) const {
    const phy::detail::TrackPlan& plan = impl_->plan;
    phy::detail::check(impl_->config, plan,
                       {symbols.size(), noise_variance.size(), slots.size(), pairs.size(),
                        ptrs.symbols.size(), ptrs.noise_variance.size(), ptrs.pilots.size()});
    auto* const tracked =
        detail::checked_workspace<phy::detail::TrackedSymbol>(workspace, workspace_bytes(slots.size()));
    if (plan.step_count() == 0) return;
    const CurrentDevice current(device());
    for (std::size_t first = 0; first < slots.size(); first += detail::max_tracked_slots) {
        const std::size_t count = std::min(detail::max_tracked_slots, slots.size() - first);
        const std::size_t symbol = first * plan.symbols;
        detail::track({.plan = plan,
                       .symbols = symbols.data() + symbol,
                       .noise_variance = noise_variance.data() + symbol,
                       .pairs = from(pairs, symbol / 2),
                       .places = ptrs.symbols.empty() ? nullptr : impl_->places.data(),
                       .ptrs = from(ptrs.symbols, first * plan.ptrs_symbols),
                       .ptrs_noise_variance = from(ptrs.noise_variance, first * plan.ptrs_symbols),
                       .pilots = from(ptrs.pilots, first * plan.pilots),
                       .estimates = slots.data() + first,
                       .tracked = tracked + first * phy::detail::TrackPlan::max_steps,
                       .slots = static_cast<std::uint32_t>(count)},
                      stream);
    }
}

void PhaseTracker::raise_noise(DeviceSpan<const SlotEstimate> slots, DeviceSpan<float> noise_variance,
                               cudaStream_t stream, DeviceSpan<LayerPair> pairs) const {
    const phy::detail::TrackPlan& plan = impl_->plan;
    phy::detail::check(impl_->config, plan,
                       {noise_variance.size(), noise_variance.size(), slots.size(), pairs.size(), 0, 0, 0});
    if (plan.step_count() == 0) return;
    const CurrentDevice current(device());
    for (std::size_t first = 0; first < slots.size(); first += detail::max_tracked_slots) {
        const std::size_t count = std::min(detail::max_tracked_slots, slots.size() - first);
        const std::size_t symbol = first * plan.symbols;
        detail::raise_noise({.plan = plan,
                             .noise_variance = noise_variance.data() + symbol,
                             .pairs = from(pairs, symbol / 2),
                             .estimates = slots.data() + first,
                             .slots = static_cast<std::uint32_t>(count)},
                            stream);
    }
}

const Device& PhaseTracker::device() const {
    return impl_->device;
}

const PhaseTracker::Config& PhaseTracker::config() const {
    return impl_->config;
}

}  // namespace phy::gpu
