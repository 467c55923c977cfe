#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "phy/estimator/estimator.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/prefix.hpp"

namespace phy {
namespace {

/// Offsets measured at DM-RS, and the slots that have them.
struct AtPilots {
    Offsets offsets;
    std::vector<bool> is_found;  ///< per slot
};

/// The first steps of a receiver, up to the estimate. Several frequencies share the estimator's tables.
class PilotMeter {
public:
    PilotMeter(const Host& host, const detail::ReceiverPlan& plan, SymbolView input, std::uint64_t first)
        : host_(host),
          plan_(plan),
          input_(input),
          first_(first),
          slots_(detail::checked_slots(plan, {.input = input.size()}, input.format(), plan.config.format)),
          estimate_(host, plan.estimator()),
          pilots_(plan.make_pilots()),
          grid_(plan.demodulator ? plan.grid : 0),
          channel_(estimate_.channel_size()),
          covariance_(plan.antennas * plan.antennas) {}

    /// Measures after removing the frequency offset from the samples.
    AtPilots operator()(double frequency_offset);

private:
    SlotEstimate estimate_of(SymbolView grid, std::uint64_t occasion) {
        SlotEstimate estimate;
        const std::size_t index = plan_.schedule.slot_index(occasion);
        estimate_(grid, std::span(pilots_).subspan(index * plan_.pilots, plan_.pilots), channel_,
                  std::span(&estimate, 1), covariance_);
        return estimate;
    }

    void add_noise(std::vector<double>& sums) const {
        sums.resize(plan_.antennas);
        for (std::size_t antenna = 0; antenna < plan_.antennas; ++antenna)
            sums[antenna] += static_cast<double>(covariance_[antenna * (plan_.antennas + 1)].real());
    }

    const Host& host_;
    const detail::ReceiverPlan& plan_;
    SymbolView input_;
    std::uint64_t first_;
    std::size_t slots_;
    ChannelEstimator estimate_;
    std::vector<cf32> pilots_;  ///< by index in the schedule
    std::vector<cf32> grid_;
    std::vector<float> channel_;
    std::vector<cf32> covariance_;
};

/// Mean offsets over the slots with DM-RS, weighted by their coherence.
AtPilots mean_of(std::span<const SlotEstimate> slots, double least) {
    AtPilots result;
    Offsets& offsets = result.offsets;
    double weights = 0.0;
    for (const SlotEstimate& slot : slots) {
        const double coherence = slot.coherence;
        result.is_found.push_back(coherence >= least);
        if (!result.is_found.back()) continue;
        const double weight = coherence * coherence;
        offsets.timing += weight * static_cast<double>(slot.timing_offset);
        offsets.frequency += weight * static_cast<double>(slot.frequency_offset);
        offsets.coherence += coherence;
        weights += weight;
        ++offsets.slots;
    }
    if (offsets.slots > 0) {
        offsets.timing /= weights;
        offsets.frequency /= weights;
        offsets.coherence /= static_cast<double>(offsets.slots);
    }
    return result;
}

AtPilots PilotMeter::operator()(double frequency_offset) {
    std::optional<OfdmDemodulator> demodulate;
    if (plan_.demodulator) {
        OfdmDemodulatorConfig config = *plan_.demodulator;
        config.ofdm.frequency_shift -= frequency_offset;
        demodulate.emplace(host_, config);
    }
    const std::size_t of_slot = plan_.antennas * plan_.input;
    const double least = min_coherence(plan_.config.link.allocation);
    std::vector<SlotEstimate> estimates;
    std::vector<double> noise;
    for (std::size_t i = 0; i < slots_; ++i) {
        const SymbolView input = input_.subspan(i * of_slot, of_slot);
        if (demodulate)
            (*demodulate)(input, {.first = plan_.schedule.slot(first_ + i), .stride = plan_.input}, grid_);
        estimates.push_back(estimate_of(demodulate ? SymbolView(grid_) : input, first_ + i));
        if (estimates.back().coherence >= least) add_noise(noise);
    }
    AtPilots result = mean_of(estimates, least);
    for (double& of_antenna : noise)
        of_antenna /= static_cast<double>(result.offsets.slots);
    result.offsets.noise = std::move(noise);
    return result;
}

/// Max frequency offset that DM-RS symbols show unambiguously, in Hz: a quarter turn between the nearest
/// ones.
double clear_frequency(const Link& link) {
    const DmrsConfig& dmrs = link.allocation.dmrs;
    int gap = symbols_per_slot;
    for (std::size_t i = static_cast<std::size_t>(dmrs.length); i < dmrs.symbols.size(); ++i)
        gap = std::min(gap, dmrs.symbols[i] - dmrs.symbols[i - static_cast<std::size_t>(dmrs.length)]);
    constexpr double symbol = 1.0 + 144.0 / 2048.0;
    return 0.25 * link.carrier.subcarrier_spacing / (symbol * gap);
}

/// How much earlier the first path may be than DM-RS show it: half the reciprocal of the allocation's band,
/// in s. A prefix that is taken late reaches into the next symbol.
double timing_uncertainty(const Link& link) {
    int blocks = 0;
    for (const ResourceBlocks& range : link.allocation.resource_blocks)
        blocks = std::max(blocks, range.count);
    const double cells = subcarriers_per_resource_block * blocks;
    constexpr double quarter_prefix = 0.25 * 144.0 / 2048.0;
    return std::min(0.5 / cells, quarter_prefix) / link.carrier.subcarrier_spacing;
}

/// From cyclic prefixes; one turn is the subcarrier spacing.
detail::PrefixFrequency measured_at_prefixes(const detail::ReceiverPlan& plan, SymbolView samples,
                                             std::uint64_t first, const AtPilots& rough) {
    detail::PrefixCorrelator correlate(plan);
    const double spacing = plan.demodulator->ofdm.subcarrier_spacing;
    const std::size_t of_slot = plan.antennas * plan.input;
    const auto frequency_at = [&](std::int64_t late) {
        std::vector<std::complex<double>> terms;
        for (std::size_t i = 0; i < rough.is_found.size(); ++i)
            if (rough.is_found[i])
                correlate(samples.subspan(i * of_slot, of_slot), plan.schedule.slot(first + i), late, terms);
        return detail::frequency_of(std::move(terms), spacing);
    };
    const double timing = rough.offsets.timing - timing_uncertainty(plan.config.link);
    const detail::PrefixFrequency there =
        frequency_at(std::lround(timing * plan.demodulator->ofdm.sample_rate));
    if (there.deviation <= detail::max_prefix_deviation * spacing) return there;
    // DM-RS may show a timing that is half a symbol off.
    const detail::PrefixFrequency as_said = frequency_at(0);
    return as_said.deviation < there.deviation ? as_said : there;
}

}  // namespace

Offsets measure_offsets(const Host& host, const ReceiverConfig& config, SymbolView input,
                        std::uint64_t first) {
    const detail::ReceiverPlan plan(config);
    PilotMeter measured_at_pilots(host, plan, input, first);
    const AtPilots rough = measured_at_pilots(0.0);
    if (!plan.demodulator || rough.offsets.coherence == 0.0) return rough.offsets;
    const detail::PrefixFrequency at_prefixes = measured_at_prefixes(plan, input, first, rough);
    // Pilots refine the estimate of prefixes, which is poor with few subcarriers. With a single DM-RS nothing
    // refines it. Where 0 may be right too, and pilots are clear without it, it is left out.
    const double clear = clear_frequency(config.link);
    const bool may_be_small = !at_prefixes.is_certain() && std::fabs(rough.offsets.frequency) < clear &&
                              at_prefixes.may_be(rough.offsets.frequency);
    const double frequency = may_be_small ? 0.0 : at_prefixes.hertz;
    Offsets offsets = frequency == 0.0 ? rough.offsets : measured_at_pilots(frequency).offsets;
    const bool is_clear = std::fabs(offsets.frequency) < clear;
    offsets.frequency = frequency + (is_clear ? offsets.frequency : 0.0);
    offsets.at_prefixes = at_prefixes.hertz;
    offsets.deviation = at_prefixes.deviation;
    return offsets;
}

}  // namespace phy
