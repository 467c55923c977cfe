#include "phy/tracker/tracker.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "phy/machine/share.hpp"
#include "phy/reduce/lanes.hpp"
#include "phy/tracker/host/kernels.hpp"

#define PHY_KERNELS "phy/tracker/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const TrackerKernels& tracker_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, TrackerKernels);
}

/// The symbols of a step, for follow_symbol().
class StepSymbols {
public:
    StepSymbols(const TrackerKernels& kernels, const SymbolScale& scale) : kernels_(kernels), scale_(scale) {}

    void take(const TrackStep& step, const cf32* symbols, const float* noise_variance) {
        kernels_.take(scale_, step, symbols, noise_variance, used_);
    }

    [[nodiscard]] scalar::PhaseSums<scalar::Ops> sums(const TrackedPhase& phase) const {
        const UsedSums sums = kernels_.sums(scale_, used_, {phase.re, phase.im});
        return {sums.score, sums.agreement, sums.lost, sums.misfit, sums.used};
    }

    const float* misfits(const TrackPlan& plan, const TrackedPhase& before) {
        for (std::size_t k = 1; k < plan.tried_count; ++k) {
            const TrackedPhase tried = scalar::tried_phase<scalar::Ops>(before, plan.tried[k]);
            misfits_[k] = kernels_.misfit(scale_, used_, {tried.re, tried.im});
        }
        return misfits_.data();
    }

    [[nodiscard]] float limited_misfit(const TrackedPhase& phase, float limit) const {
        return kernels_.limited_misfit(scale_, used_, {phase.re, phase.im}, limit);
    }

private:
    const TrackerKernels& kernels_;
    const SymbolScale& scale_;
    UsedSymbols used_;
    std::array<float, TrackPlan::max_tried_steps> misfits_ = {};
};

}  // namespace
}  // namespace detail

namespace {

using Tracked = std::array<detail::TrackedSymbol, detail::TrackPlan::max_steps>;

/// The arrays of a slot.
struct Slot {
    cf32* symbols;
    const float* noise_variance;
    LayerPair* pairs;  ///< or null
    SlotEstimate* estimate;
    PtrsSymbols ptrs;  ///< or empty
};

/// Symbols that a thread rotates at a time.
constexpr std::size_t rotated_together = 4096;

}  // namespace

struct PHY_HIDDEN PhaseTracker::Impl {
    Impl(const Host& on, const Config& given)
        : host(on),
          config(given),
          plan(detail::track_plan(given)),
          places(detail::place_ptrs(given, plan)),
          kernels(detail::tracker_kernels(on.backend())) {}

    void track(const Slot& slot) const;
    void follow(std::size_t chain, const Slot& slot, Tracked& tracked) const;
    [[nodiscard]] detail::scalar::PtrsPhase phase_of_ptrs(const detail::TrackStep& step,
                                                          const PtrsSymbols& ptrs) const;
    void rotate(const detail::TrackStep& step, const detail::TrackedPhase& phase, const Slot& slot) const;
    void raise_noise(const SlotEstimate& slot, float* noise_variance, LayerPair* pairs) const;

    Host host;
    Config config;
    detail::TrackPlan plan;
    std::vector<detail::TrackedPtrs> places;
    const detail::TrackerKernels& kernels;
};

/// The sums have tracker_lanes virtual lanes, as those of data.
detail::scalar::PtrsPhase PhaseTracker::Impl::phase_of_ptrs(const detail::TrackStep& step,
                                                            const PtrsSymbols& ptrs) const {
    namespace scalar = detail::scalar;
    if (ptrs.symbols.empty() || step.ptrs == 0) return {};
    std::array<scalar::PtrsSums, detail::tracker_lanes> lanes = {};
    for (std::uint32_t i = 0; i < step.ptrs; ++i) {
        const detail::TrackedPtrs& its = places[step.first_ptrs + i];
        const cf32 x = ptrs.symbols[its.symbol];
        const cf32 pilot = ptrs.pilots[its.pilot];
        scalar::add_ptrs<scalar::Ops>(lanes[i % lanes.size()], x.real(), x.imag(),
                                      ptrs.noise_variance[its.symbol], pilot.real(), pilot.imag(),
                                      plan.ptrs_amplitude);
    }
    const auto sum = [&](float scalar::PtrsSums::*member) {
        float of_lane[detail::tracker_lanes];
        std::ranges::transform(lanes, of_lane, member);
        return detail::sum_of_lanes<detail::tracker_lanes>(of_lane);
    };
    return scalar::phase_of<scalar::Ops>({sum(&scalar::PtrsSums::re), sum(&scalar::PtrsSums::im),
                                          sum(&scalar::PtrsSums::sent), sum(&scalar::PtrsSums::received),
                                          sum(&scalar::PtrsSums::used)});
}

void PhaseTracker::Impl::follow(std::size_t chain, const Slot& slot, Tracked& tracked) const {
    detail::TrackedPhase phase = {1.0F, 0.0F, 0.0F};
    detail::StepSymbols symbols(kernels, plan.scale);
    const std::uint32_t first = plan.chain[chain];
    const std::uint32_t end = plan.chain[chain + 1];
    std::array<detail::scalar::PtrsPhase, detail::TrackPlan::max_steps> ptrs;
    for (std::uint32_t i = first; i < end; ++i)
        ptrs[i] = phase_of_ptrs(plan.steps[i], slot.ptrs);
    for (std::uint32_t i = first; i < end; ++i) {
        symbols.take(plan.steps[i], slot.symbols, slot.noise_variance);
        tracked[i] = detail::scalar::follow_symbol<detail::scalar::Ops>(plan, phase, symbols, ptrs.data() + i,
                                                                        end - i);
        phase = tracked[i].phase;
    }
}

void PhaseTracker::Impl::rotate(const detail::TrackStep& step, const detail::TrackedPhase& phase,
                                const Slot& slot) const {
    const cf32 by = {phase.re, phase.im};
    if (by == cf32(1.0F)) return;
    detail::share_pieces(host, step.count, rotated_together, [&](std::uint64_t first, std::uint64_t end) {
        kernels.rotate_symbols(slot.symbols + step.first + first, end - first, by);
        if (slot.pairs != nullptr)
            kernels.rotate_pairs(slot.pairs + (step.first + first) / 2, (end - first) / 2, by);
    });
}

void PhaseTracker::Impl::raise_noise(const SlotEstimate& slot, float* noise_variance,
                                     LayerPair* pairs) const {
    for (std::uint32_t i = 0; i < plan.step_count(); ++i) {
        const detail::TrackStep& step = plan.steps[i];
        const float factor = slot.excess_noise[step.symbol];
        if (factor == 1.0F) continue;
        const float share = 1.0F / factor;
        for (std::size_t s = step.first; s < step.first + step.count; ++s) {
            noise_variance[s] *= factor;
            if (pairs != nullptr && s % 2 == 0) detail::scalar::weaken(pairs[s / 2], share);
        }
    }
}

void PhaseTracker::Impl::track(const Slot& slot) const {
    namespace scalar = detail::scalar;
    Tracked tracked;
    detail::share_pieces(host, plan.chains, 1,
                         [&](std::uint64_t chain, std::uint64_t /*end*/) { follow(chain, slot, tracked); });
    const bool is_rotated = scalar::is_rotated<scalar::Ops>(tracked.data(), plan.step_count());
    scalar::report_noise(plan, tracked.data(), is_rotated, *slot.estimate);
    if (!is_rotated) return;
    for (std::size_t i = 0; i < plan.step_count(); ++i)
        rotate(plan.steps[i], tracked[i].phase, slot);
    scalar::report_phases<scalar::Ops>(plan, tracked.data(), *slot.estimate);
}

PhaseTracker::PhaseTracker(const Host& host, const Config& config) : impl_(new Impl(host, config)) {}

std::size_t PhaseTracker::symbols_per_slot() const {
    return impl_->plan.symbols;
}

void PhaseTracker::operator()(std::span<cf32> symbols, std::span<const float> noise_variance,
                              std::span<SlotEstimate> slots, std::span<LayerPair> pairs,
                              const PtrsSymbols& ptrs) {
    const Impl& impl = *impl_;
    const std::size_t of_slot = impl.plan.symbols;
    detail::check(impl.config, impl.plan,
                  {symbols.size(), noise_variance.size(), slots.size(), pairs.size(), ptrs.symbols.size(),
                   ptrs.noise_variance.size(), ptrs.pilots.size()});
    const auto part = [](auto all, std::size_t index, std::size_t size) {
        return all.empty() ? all : all.subspan(index * size, size);
    };
    for (std::size_t i = 0; i < slots.size(); ++i)
        impl.track(
            {symbols.data() + i * of_slot,
             noise_variance.data() + i * of_slot,
             pairs.empty() ? nullptr : pairs.data() + i * of_slot / 2,
             &slots[i],
             {part(ptrs.symbols, i, impl.plan.ptrs_symbols),
              part(ptrs.noise_variance, i, impl.plan.ptrs_symbols), part(ptrs.pilots, i, impl.plan.pilots)}});
}

void PhaseTracker::raise_noise(std::span<const SlotEstimate> slots, std::span<float> noise_variance,
                               std::span<LayerPair> pairs) {
    const Impl& impl = *impl_;
    const std::size_t of_slot = impl.plan.symbols;
    detail::check(impl.config, impl.plan,
                  {noise_variance.size(), noise_variance.size(), slots.size(), pairs.size(), 0, 0, 0});
    for (std::size_t i = 0; i < slots.size(); ++i)
        impl.raise_noise(slots[i], noise_variance.data() + i * of_slot,
                         pairs.empty() ? nullptr : pairs.data() + i * of_slot / 2);
}

const Host& PhaseTracker::host() const {
    return impl_->host;
}

const PhaseTracker::Config& PhaseTracker::config() const {
    return impl_->config;
}

}  // namespace phy
