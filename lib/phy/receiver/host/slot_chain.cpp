#include "phy/receiver/host/slot_chain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "phy/machine/share.hpp"
#include "phy/receiver/chain/channel_mean-inl.h"
#include "phy/receiver/chain/disturbance-inl.h"

namespace phy::detail {
namespace {

std::optional<OfdmDemodulator> make_demodulator(const Host& host, const ReceiverPlan& plan) {
    if (!plan.demodulator) return {};
    return OfdmDemodulator(host, *plan.demodulator);
}

std::optional<Equalizer> make_ptrs_equalizer(const Host& host, const ReceiverPlan& plan,
                                             const ChannelEstimator& estimator) {
    const auto config = plan.ptrs_equalizer(estimator.time_weights(), estimator.time_sets());
    if (!config) return {};
    return Equalizer(host, *config);
}

std::optional<TransformDeprecoder> make_deprecoder(const Host& host, const ReceiverPlan& plan) {
    if (!plan.deprecoder) return {};
    return TransformDeprecoder(host, *plan.deprecoder);
}

std::optional<PhaseTracker> make_tracker(const Host& host, const ReceiverPlan& plan) {
    if (!plan.tracker) return {};
    return PhaseTracker(host, *plan.tracker);
}

std::optional<SoftDemapper> make_demapper(const Host& host, const ReceiverPlan& plan) {
    if (plan.detector) return {};
    return SoftDemapper(host, plan.demapper);
}

std::optional<JointDetector> make_detector(const Host& host, const ReceiverPlan& plan) {
    if (!plan.detector) return {};
    return JointDetector(host, *plan.detector);
}

}  // namespace

SlotChain::SlotChain(const Host& host, const SharedReceiver& shared, SlotBuffers& buffers)
    : host_(host),
      shared_(shared),
      buffers_(buffers),
      demodulate_(make_demodulator(host, shared.plan)),
      estimate_(host, shared.plan.estimator()),
      equalize_(host, shared.plan.equalizer(estimate_.time_weights(), estimate_.time_sets())),
      equalize_ptrs_(make_ptrs_equalizer(host, shared.plan, estimate_)),
      deprecode_(make_deprecoder(host, shared.plan)),
      track_(make_tracker(host, shared.plan)),
      measure_(host, {.modulation = shared.plan.demapper.modulation}),
      demap_(make_demapper(host, shared.plan)),
      detect_(make_detector(host, shared.plan)) {
    if (demodulate_) buffers_.grid.resize(shared.plan.grid);
    buffers_.channel.resize(estimate_.channel_size());
    buffers_.covariance.resize(shared.plan.covariance);
    buffers_.symbols.resize(shared.plan.symbols);
    buffers_.noise_variance.resize(shared.plan.symbols);
    buffers_.pairs.resize(shared.plan.pairs);
    buffers_.deprecoded.resize(shared.plan.deprecoded);
    buffers_.deprecoded_noise_variance.resize(shared.plan.deprecoded);
    buffers_.ptrs.resize(shared.plan.ptrs_symbols);
    buffers_.ptrs_noise_variance.resize(shared.plan.ptrs_symbols);
}

SymbolView SlotChain::grid_of(SymbolView input, std::uint64_t occasion) {
    if (!demodulate_) return input;
    (*demodulate_)(input, {.first = shared_.plan.schedule.slot(occasion), .stride = shared_.plan.input},
                   buffers_.grid);
    return buffers_.grid;
}

void SlotChain::operator()(SymbolView input, std::uint64_t occasion, const ReceiverOutput& output,
                           std::span<const std::int8_t> priors) {
    const ReceiverPlan& plan = shared_.plan;
    const SymbolView grid = grid_of(input, occasion);
    const std::size_t index = plan.schedule.slot_index(occasion);
    const auto pilots = std::span(shared_.pilots).subspan(index * plan.pilots, plan.pilots);
    SlotEstimate slot;
    estimate_(grid, pilots, buffers_.channel, std::span(&slot, 1), buffers_.covariance);
    if (!output.channel.empty()) write_channel(slot, output.channel);
    const bool lends = !output.symbols.empty();
    if (!lends && output.slots.empty() && output.llr.size() == 0) return;
    const std::span<cf32> symbols = lends ? output.symbols : std::span(buffers_.symbols);
    const std::span<float> noise = lends ? output.noise_variance : std::span(buffers_.noise_variance);
    if (demodulate_) erase_disturbed(slot);
    equalise(grid, slot, symbols, noise);
    if (track_) (*track_)(symbols, noise, std::span(&slot, 1), buffers_.pairs, ptrs_of(grid, slot, index));
    if (!output.slots.empty()) {
        ReceivedSlot& received = output.slots.front();
        received.estimate = slot;
        measure_(symbols, noise, symbols.size(), std::span(&received.symbols, 1));
    }
    if (track_ && (lends || output.llr.size() > 0))
        track_->raise_noise(std::span(&slot, 1), noise, buffers_.pairs);
    if (output.llr.size() == 0) return;
    if (detect_) return (*detect_)(buffers_.pairs, output.llr, shared_.signs, priors);
    (*demap_)(symbols, noise, output.llr, 0, nullptr, shared_.signs);
}

void SlotChain::equalise(SymbolView grid, const SlotEstimate& slot, std::span<cf32> symbols,
                         std::span<float> noise) {
    const bool is_split = shared_.plan.samples.has_value();
    equalize_(grid, buffers_.channel, std::span(&slot, 1),
              is_split ? std::span(buffers_.deprecoded) : symbols,
              is_split ? std::span(buffers_.deprecoded_noise_variance) : noise, buffers_.covariance,
              buffers_.pairs);
    if (is_split)
        deprecode(symbols, noise);
    else if (deprecode_)
        (*deprecode_)(symbols, noise);
}

/// The samples of data, and those of PT-RS if they are tracked.
void SlotChain::deprecode(std::span<cf32> symbols, std::span<float> noise) {
    (*deprecode_)(buffers_.deprecoded, buffers_.deprecoded_noise_variance);
    const auto take = [&](const std::vector<std::uint32_t>& samples, std::span<cf32> to,
                          std::span<float> noise_of) {
        for (std::size_t i = 0; i < to.size(); ++i) {
            to[i] = buffers_.deprecoded[samples[i]];
            noise_of[i] = buffers_.deprecoded_noise_variance[samples[i]];
        }
    };
    take(shared_.plan.samples->data, symbols, noise);
    take(shared_.plan.samples->ptrs, buffers_.ptrs, buffers_.ptrs_noise_variance);
}

/// index: of the slot in the schedule.
PtrsSymbols SlotChain::ptrs_of(SymbolView grid, const SlotEstimate& slot, std::size_t index) {
    const ReceiverPlan& plan = shared_.plan;
    if (buffers_.ptrs.empty()) return {};
    if (plan.samples)
        return {buffers_.ptrs, buffers_.ptrs_noise_variance,
                std::span(shared_.ptrs_pilots).subspan(index * plan.ptrs_pilots, plan.ptrs_pilots)};
    (*equalize_ptrs_)(grid, buffers_.channel, std::span(&slot, 1), buffers_.ptrs,
                      buffers_.ptrs_noise_variance, buffers_.covariance);
    return {buffers_.ptrs, buffers_.ptrs_noise_variance,
            std::span(shared_.pilots).subspan(index * plan.pilots, plan.pilots)};
}

void SlotChain::erase_disturbed(SlotEstimate& slot) const {
    const ReceiverPlan& plan = shared_.plan;
    const float max_energy = scalar::max_energy<scalar::Ops>(slot.channel_power, slot.noise_variance,
                                                             static_cast<float>(plan.antennas * plan.layers));
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    const ProbedElements& probed = plan.probed;
    for (std::size_t antenna = 0; antenna < plan.antennas; ++antenna) {
        for (std::size_t l = probed.first_symbol; l < probed.first_symbol + probed.symbols; ++l) {
            const cf32* const elements =
                buffers_.grid.data() + (antenna * symbols_per_slot + l) * plan.subcarriers;
            std::uint32_t disturbed = 0;
            for (std::uint32_t i = 0; i < probed.subcarriers; ++i) {
                const cf32 y = elements[probed.subcarrier[i]];
                disturbed += scalar::is_disturbed<scalar::Ops>(y.real(), y.imag(), max_energy) ? 1 : 0;
            }
            if (2 * disturbed > probed.subcarriers) slot.phase[l] = {nan, nan};
        }
    }
}

void SlotChain::write_channel(const SlotEstimate& slot, std::span<cf32> out) const {
    if (!std::isfinite(slot.noise_variance)) {
        std::ranges::fill(out, cf32());
        return;
    }
    const std::size_t subcarriers = shared_.plan.subcarriers;
    share_pieces(host_, out.size() / subcarriers, 1, [&](std::uint64_t path, std::uint64_t /*end*/) {
        write_path(path, out.subspan(path * subcarriers, subcarriers));
    });
}

/// Writes the path from a layer to an antenna.
void SlotChain::write_path(std::size_t path, std::span<cf32> out) const {
    const ReceiverPlan& plan = shared_.plan;
    const int estimates = estimate_.estimates();
    const float reciprocal = 1.0F / static_cast<float>(estimates);
    const std::size_t of_estimate = 2 * plan.channel;
    const float* const re = buffers_.channel.data() + path * 2 * plan.subcarriers;
    const float* const im = re + plan.subcarriers;
    std::ranges::fill(out, cf32());
    for (const ResourceBlocks& range : plan.config.link.allocation.resource_blocks) {
        const auto first = static_cast<std::size_t>(range.first * subcarriers_per_resource_block);
        const auto end =
            static_cast<std::size_t>((range.first + range.count) * subcarriers_per_resource_block);
        for (std::size_t k = first; k < end; ++k)
            out[k] = {scalar::mean_of_estimates<scalar::Ops>(re + k, estimates, of_estimate, reciprocal),
                      scalar::mean_of_estimates<scalar::Ops>(im + k, estimates, of_estimate, reciprocal)};
    }
}

}  // namespace phy::detail
