#include "phy/tracker/tracker.hpp"

#include <algorithm>
#include <limits>

#include "phy/machine/share.hpp"
#include "phy/tracker/host/kernels.hpp"

#define PHY_KERNELS "phy/tracker/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const TrackerKernels& tracker_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, TrackerKernels);
}

void take_symbols(const TrackStep& step, const cf32* symbols, const float* noise_variance,
                  AskedSymbols& asked) {
    asked.count = step.asked();
    asked.first = step.first;
    for (std::size_t i = 0; i < asked.count; ++i) {
        const std::size_t from = step.first + i * step.stride;
        asked.re[i] = symbols[from].real();
        asked.im[i] = symbols[from].imag();
        asked.noise_variance[i] = noise_variance[from];
    }
    const std::size_t end = (asked.count + tracker_lanes - 1) / tracker_lanes * tracker_lanes;
    std::fill(asked.re + asked.count, asked.re + end, 0.0F);
    std::fill(asked.im + asked.count, asked.im + end, 0.0F);
    std::fill(asked.noise_variance + asked.count, asked.noise_variance + end,
              std::numeric_limits<float>::infinity());
    asked.count = end;
}

}  // namespace
}  // namespace detail

namespace {

using Phases = std::array<detail::TrackedPhase, detail::TrackPlan::max_steps>;

/// The arrays of a slot.
struct Slot {
    cf32* symbols;
    const float* noise_variance;
    LayerPair* pairs;  ///< or null
    SlotEstimate* estimate;
};

/// Symbols that a thread turns at a time.
constexpr std::size_t turned_together = 4096;

}  // namespace

struct PHY_HIDDEN PhaseTracker::Impl {
    Impl(const Host& on, const Config& given)
        : host(on),
          config(given),
          plan(detail::track_plan(given)),
          kernels(detail::tracker_kernels(on.backend())) {}

    void track(const Slot& slot) const;
    [[nodiscard]] detail::TrackedPhase follow(const detail::AskedSymbols& asked,
                                              const detail::TrackedPhase& before) const;
    void follow(std::size_t chain, const Slot& slot, Phases& phases) const;
    void turn(const detail::TrackStep& step, const detail::TrackedPhase& phase, const Slot& slot) const;

    Host host;
    Config config;
    detail::TrackPlan plan;
    const detail::TrackerKernels& kernels;
};

detail::TrackedPhase PhaseTracker::Impl::follow(const detail::AskedSymbols& asked,
                                                const detail::TrackedPhase& before) const {
    namespace scalar = detail::scalar;
    using Ops = scalar::Ops;
    const auto ask = [&](const detail::TrackedPhase& phase) -> scalar::PhaseSums<Ops> {
        const detail::TurnSums sums = kernels.ask(plan.scale, asked, {phase.re, phase.im});
        return {sums.turned, sums.agreed, sums.missing, sums.misfit, sums.asked};
    };
    scalar::PhaseSums<Ops> sums = ask(before);
    std::array<float, detail::TrackPlan::max_tried_steps> misfits = {};
    for (std::size_t k = 1; k < plan.tried_count; ++k) {
        const detail::TrackedPhase tried = scalar::tried_phase<Ops>(before, plan.tried[k]);
        misfits[k] = kernels.misfit(plan.scale, asked, {tried.re, tried.im});
    }
    const std::uint32_t best = scalar::best_step<Ops>(sums, misfits.data(), plan.tried_count);
    detail::TrackedPhase phase = scalar::tried_phase<Ops>(before, plan.tried[best]);
    if (best != 0) sums = ask(phase);
    phase = scalar::followed_phase<Ops>(phase, sums);
    return scalar::reached_phase<Ops>(before, scalar::followed_phase<Ops>(phase, ask(phase)));
}

void PhaseTracker::Impl::follow(std::size_t chain, const Slot& slot, Phases& phases) const {
    detail::TrackedPhase phase = {1.0F, 0.0F, 0.0F};
    detail::AskedSymbols asked;
    for (std::size_t i = plan.chain[chain]; i < plan.chain[chain + 1]; ++i) {
        detail::take_symbols(plan.steps[i], slot.symbols, slot.noise_variance, asked);
        phases[i] = phase = follow(asked, phase);
    }
}

void PhaseTracker::Impl::turn(const detail::TrackStep& step, const detail::TrackedPhase& phase,
                              const Slot& slot) const {
    const cf32 by = {phase.re, phase.im};
    detail::share_pieces(host, step.count, turned_together, [&](std::uint64_t first, std::uint64_t end) {
        kernels.turn_symbols(slot.symbols + step.first + first, end - first, by);
        if (slot.pairs != nullptr)
            kernels.turn_pairs(slot.pairs + (step.first + first) / 2, (end - first) / 2, by);
    });
}

void PhaseTracker::Impl::track(const Slot& slot) const {
    namespace scalar = detail::scalar;
    Phases phases;
    detail::share_pieces(host, plan.chains, 1,
                         [&](std::uint64_t chain, std::uint64_t /*end*/) { follow(chain, slot, phases); });
    if (!scalar::is_turned<scalar::Ops>(phases.data(), plan.step_count())) return;
    for (std::size_t i = 0; i < plan.step_count(); ++i)
        turn(plan.steps[i], phases[i], slot);
    scalar::report_phases<scalar::Ops>(plan, phases.data(), *slot.estimate);
}

PhaseTracker::PhaseTracker(const Host& host, const Config& config) : impl_(new Impl(host, config)) {}

std::size_t PhaseTracker::symbols_per_slot() const {
    return impl_->plan.symbols;
}

void PhaseTracker::operator()(std::span<cf32> symbols, std::span<const float> noise_variance,
                              std::span<SlotEstimate> slots, std::span<LayerPair> pairs) {
    const Impl& impl = *impl_;
    const std::size_t of_slot = impl.plan.symbols;
    detail::check(impl.config, impl.plan,
                  {symbols.size(), noise_variance.size(), slots.size(), pairs.size()});
    for (std::size_t i = 0; i < slots.size(); ++i)
        impl.track({symbols.data() + i * of_slot, noise_variance.data() + i * of_slot,
                    pairs.empty() ? nullptr : pairs.data() + i * of_slot / 2, &slots[i]});
}

const Host& PhaseTracker::host() const {
    return impl_->host;
}

const PhaseTracker::Config& PhaseTracker::config() const {
    return impl_->config;
}

}  // namespace phy
