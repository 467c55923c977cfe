#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "phy/receiver/acquisition.hpp"
#include "phy/receiver/acquisition/prefix.hpp"

namespace phy {
namespace {

/// Offsets by DM-RS of slots, the surer ones counting more.
Offsets measured_at_pilots(const Host& host, const ReceiverConfig& config, SymbolView input,
                           std::uint64_t first) {
    Receiver receive(host, config);
    const std::size_t of_slot = static_cast<std::size_t>(config.antennas) * receive.input_per_slot();
    std::vector<ReceivedSlot> slots(input.size() / of_slot);
    receive(input, first, {.slots = slots});
    Offsets offsets;
    double weights = 0.0;
    for (const ReceivedSlot& slot : slots) {
        const double coherence = slot.estimate.coherence;
        const double weight = coherence * coherence;
        offsets.timing += weight * static_cast<double>(slot.estimate.timing_offset);
        offsets.frequency += weight * static_cast<double>(slot.estimate.frequency_offset);
        offsets.coherence += coherence / static_cast<double>(slots.size());
        weights += weight;
    }
    if (weights > 0.0) {
        offsets.timing /= weights;
        offsets.frequency /= weights;
    }
    return offsets;
}

/// Of a frequency offset that DM-RS symbols can show without doubt, in Hz: a quarter of a turn between those
/// that are nearest to each other.
double clear_frequency(const Link& link) {
    const DmrsConfig& dmrs = link.allocation.dmrs;
    int gap = symbols_per_slot;
    for (std::size_t i = static_cast<std::size_t>(dmrs.length); i < dmrs.symbols.size(); ++i)
        gap = std::min(gap, dmrs.symbols[i] - dmrs.symbols[i - static_cast<std::size_t>(dmrs.length)]);
    constexpr double symbol = 1.0 + 144.0 / 2048.0;
    return 0.25 * link.carrier.subcarrier_spacing / (symbol * gap);
}

/// By cyclic prefixes; a whole turn is the subcarrier spacing.
double measured_at_prefixes(const detail::ReceiverPlan& plan, SymbolView samples, std::uint64_t first,
                            double timing) {
    detail::PrefixCorrelator correlate(plan);
    const auto late = static_cast<std::int64_t>(std::lround(timing * plan.ofdm->sample_rate));
    const std::size_t of_slot = plan.antennas * plan.input;
    std::complex<double> sum = 0.0;
    for (std::size_t i = 0; i < samples.size() / of_slot; ++i)
        sum += correlate(samples.subspan(i * of_slot, of_slot), plan.schedule.slot(first + i), late);
    return std::arg(sum) / (2.0 * std::numbers::pi) * plan.ofdm->subcarrier_spacing;
}

}  // namespace

Offsets measure_offsets(const Host& host, const ReceiverConfig& config, SymbolView input,
                        std::uint64_t first) {
    const Offsets rough = measured_at_pilots(host, config, input, first);
    if (config.input == ReceiverInput::grid) return rough;
    const bool is_found = rough.coherence >= least_coherence(config.link.allocation);
    const double frequency =
        measured_at_prefixes(detail::ReceiverPlan(config), input, first, is_found ? rough.timing : 0.0);
    ReceiverConfig corrected = config;
    corrected.link.carrier.frequency_shift -= frequency;
    Offsets offsets = measured_at_pilots(host, corrected, input, first);
    const bool is_clear = std::fabs(offsets.frequency) < clear_frequency(config.link);
    offsets.frequency = frequency + (is_clear ? offsets.frequency : 0.0);
    return offsets;
}

}  // namespace phy
