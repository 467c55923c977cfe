#include "phy/receiver/receiver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "phy/machine/thread_pool.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/host/slot_chain.hpp"

namespace phy {
namespace {

template <typename T>
std::span<T> of_slot(std::span<T> all, std::size_t slot, std::size_t size) {
    return all.empty() ? all : all.subspan(slot * size, size);
}

/// From this number of slots on, each thread receives whole slots, even if some threads get none. All threads
/// together receive a slot only about three times as fast as one does, however many they are.
constexpr std::size_t enough_slots = 4;

struct Call {
    const detail::ReceiverPlan& plan;
    SymbolView input;
    std::uint64_t first;
    const ReceiverOutput& output;
    std::span<const std::int8_t> priors;

    void receive(detail::SlotChain& chain, std::size_t slot) const {
        const std::size_t size = plan.antennas * plan.input;
        const bool has_llr = output.llr.size() > 0;
        chain(input.subspan(slot * size, size), first + slot,
              {.llr = has_llr ? output.llr.subspan(slot * plan.soft_bits, plan.soft_bits) : output.llr,
               .slots = of_slot(output.slots, slot, 1),
               .symbols = of_slot(output.symbols, slot, plan.symbols),
               .noise_variance = of_slot(output.noise_variance, slot, plan.symbols),
               .channel = of_slot(output.channel, slot, plan.channel)},
              of_slot(priors, slot, plan.soft_bits));
    }
};

}  // namespace

struct PHY_HIDDEN Receiver::Impl {
    Impl(const Host& on, const Config& config)
        : host(on),
          shared(config),
          buffers(static_cast<std::size_t>(on.threads())),
          together(on, shared, buffers.front()) {
        if (host.threads() == 1) return;
        const Host alone({.threads = 1, .backend = host.backend()});
        by_thread.reserve(buffers.size());
        for (detail::SlotBuffers& of_thread : buffers)
            by_thread.emplace_back(alone, shared, of_thread);
    }

    Host host;
    detail::SharedReceiver shared;
    std::vector<detail::SlotBuffers> buffers;
    detail::SlotChain together;                ///< all threads on one slot
    std::vector<detail::SlotChain> by_thread;  ///< empty with one thread
};

Receiver::Receiver(const Host& host, const Config& config) : impl_(std::make_unique<Impl>(host, config)) {}
std::size_t Receiver::input_per_slot() const {
    return impl_->shared.plan.input;
}

std::size_t Receiver::soft_bits_per_slot() const {
    return impl_->shared.plan.soft_bits;
}

std::size_t Receiver::symbols_per_slot() const {
    return impl_->shared.plan.symbols;
}

std::size_t Receiver::channel_per_slot() const {
    return impl_->shared.plan.channel;
}

const SlotSchedule& Receiver::schedule() const {
    return impl_->shared.plan.schedule;
}

void Receiver::operator()(SymbolView input, std::uint64_t first, const ReceiverOutput& output,
                          std::span<const std::int8_t> priors) {
    const detail::ReceiverPlan& plan = impl_->shared.plan;
    const std::size_t slots = detail::checked_slots(plan,
                                                    {.input = input.size(),
                                                     .llr = output.llr.size(),
                                                     .slots = output.slots.size(),
                                                     .symbols = output.symbols.size(),
                                                     .noise_variance = output.noise_variance.size(),
                                                     .channel = output.channel.size(),
                                                     .priors = priors.size()},
                                                    input.format(), output.llr.format());
    const Call call = {plan, input, first, output, priors};
    std::vector<detail::SlotChain>& chains = impl_->by_thread;
    if (chains.empty() || slots < std::min(chains.size(), enough_slots)) {
        for (std::size_t slot = 0; slot < slots; ++slot)
            call.receive(impl_->together, slot);
        return;
    }
    impl_->host.pool().for_each(slots, [&](int part, std::size_t slot) noexcept {
        call.receive(chains[static_cast<std::size_t>(part)], slot);
    });
}

const Host& Receiver::host() const {
    return impl_->host;
}

const Receiver::Config& Receiver::config() const {
    return impl_->shared.plan.config;
}

SlotReport slot_report(const ReceivedSlot& received, const ReceiverConfig& config, std::uint64_t slot) {
    const SlotEstimate& estimate = received.estimate;
    const SymbolSums& sums = received.symbols;
    const double power =
        static_cast<double>(config.link.allocation.layers()) * static_cast<double>(estimate.channel_power);
    const SlotAllocation& allocation = config.link.allocation;
    double excess = 0.0;  // over the noise variance, added up
    for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l)
        excess += static_cast<double>(estimate.excess_noise[static_cast<std::size_t>(l)] - 1.0F);
    return {.slot = slot,
            .snr_db = detail::elementary::decibels(power / static_cast<double>(estimate.noise_variance)),
            .noise_variance = static_cast<double>(estimate.noise_variance),
            .evm = sums.symbols > 0 ? std::sqrt(sums.error / sums.decided)
                                    : std::numeric_limits<double>::quiet_NaN(),
            .error_over_noise_db = detail::elementary::decibels(
                error_over_noise(sums).value_or(std::numeric_limits<double>::quiet_NaN())),
            .clear_symbols = static_cast<std::uint64_t>(sums.clear),
            .timing_offset = static_cast<double>(estimate.timing_offset),
            .frequency_offset = static_cast<double>(estimate.frequency_offset),
            .coherence = static_cast<double>(estimate.coherence),
            .phase_error = static_cast<double>(estimate.phase_error),
            .excess_noise_db = detail::elementary::decibels(1.0 + excess / allocation.symbols),
            .erasures = sums.not_finite};
}

}  // namespace phy
