#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "phy/estimator/estimator.hpp"
#include "phy/numerics/elementary.hpp"
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
          channel_(estimate_.channel_size()) {}

    /// Measures after removing the frequency offset from the samples.
    AtPilots operator()(double frequency_offset);

private:
    SlotEstimate estimate_of(SymbolView grid, std::uint64_t occasion) {
        SlotEstimate estimate;
        const std::size_t index = plan_.schedule.slot_index(occasion);
        estimate_(grid, std::span(pilots_).subspan(index * plan_.pilots, plan_.pilots), channel_,
                  std::span(&estimate, 1));
        return estimate;
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
};

/// Mean offsets over the slots with DM-RS, weighted by their coherence.
AtPilots mean_of(std::span<const SlotEstimate> slots, double least) {
    AtPilots result;
    Offsets& offsets = result.offsets;
    double weights = 0.0;
    double found = 0.0;
    for (const SlotEstimate& slot : slots) {
        const double coherence = slot.coherence;
        result.is_found.push_back(coherence >= least);
        if (!result.is_found.back()) continue;
        const double weight = coherence * coherence;
        offsets.timing += weight * static_cast<double>(slot.timing_offset);
        offsets.frequency += weight * static_cast<double>(slot.frequency_offset);
        offsets.coherence += coherence;
        weights += weight;
        found += 1.0;
    }
    if (found > 0.0) {
        offsets.timing /= weights;
        offsets.frequency /= weights;
        offsets.coherence /= found;
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
    std::vector<SlotEstimate> estimates;
    for (std::size_t i = 0; i < slots_; ++i) {
        const SymbolView input = input_.subspan(i * of_slot, of_slot);
        if (demodulate)
            (*demodulate)(input, {.first = plan_.schedule.slot(first_ + i), .stride = plan_.input}, grid_);
        estimates.push_back(estimate_of(demodulate ? SymbolView(grid_) : input, first_ + i));
    }
    return mean_of(estimates, min_coherence(plan_.config.link.allocation));
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

/// A frequency offset counts from this number of standard deviations on.
constexpr double min_deviations = 4.0;

/// A frequency offset, and its standard deviation over the parts.
struct Frequency {
    double hertz = 0.0;
    double deviation = 0.0;
};

/// The lower median; 0 of nothing.
double median_of(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Removes terms of strong samples and short bursts, and returns true if there were any. The part of a term
/// at a right angle to the others grows with the root of its size if it is due to noise, so that quotient is
/// alike in all terms of a signal. The direction of the others is that in which most terms point, whatever
/// their sizes.
bool erase_disturbed(std::vector<std::complex<double>>& terms) {
    constexpr double max_over_median = 8.0;  // 5.4 standard deviations
    constexpr double negligible = 0.02;      // rad
    std::complex<double> direction = 0.0;
    std::vector<double> sizes;
    for (const std::complex<double>& term : terms) {
        sizes.push_back(std::sqrt(std::norm(term)));
        if (sizes.back() > 0.0) direction += term / sizes.back();
    }
    const double length = std::sqrt(std::norm(direction));
    if (!(length > 0.0)) return false;
    std::vector<double> quotients;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::complex<double> turned = terms[i] * std::conj(direction) / length;
        const double across = turned.real() > 0.0 ? std::fabs(turned.imag()) : sizes[i];
        quotients.push_back(sizes[i] > 0.0 ? across / std::sqrt(sizes[i]) : 0.0);
    }
    const double most =
        max_over_median * median_of(quotients) + negligible * std::sqrt(median_of(std::move(sizes)));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (quotients[i] <= most) terms[kept++] = terms[i];
    const bool are_some_gone = kept < terms.size();
    terms.resize(kept);
    return are_some_gone;
}

/// From cyclic prefixes; one turn is the subcarrier spacing.
Frequency measured_at_prefixes(const detail::ReceiverPlan& plan, SymbolView samples, std::uint64_t first,
                               const AtPilots& rough) {
    detail::PrefixCorrelator correlate(plan);
    const auto late =
        static_cast<std::int64_t>(std::lround(rough.offsets.timing * plan.demodulator->ofdm.sample_rate));
    const std::size_t of_slot = plan.antennas * plan.input;
    std::complex<double> sum = 0.0;
    std::vector<std::complex<double>> symbols;
    for (std::size_t i = 0; i < rough.is_found.size(); ++i)
        if (rough.is_found[i])
            sum += correlate(samples.subspan(i * of_slot, of_slot), plan.schedule.slot(first + i), late,
                             &symbols);
    if (erase_disturbed(symbols))
        sum = std::accumulate(symbols.begin(), symbols.end(), std::complex<double>());
    double across = 0.0;  // energy of the symbols' parts at a right angle to their sum
    for (const std::complex<double>& symbol : symbols) {
        const double part = (symbol * std::conj(sum)).imag();
        across += part * part;
    }
    const double of_turn = plan.demodulator->ofdm.subcarrier_spacing / (2.0 * std::numbers::pi);
    const double power = std::norm(sum);
    return {.hertz = detail::elementary::angle_of(sum) * of_turn,
            .deviation = power > 0.0 ? std::sqrt(across) / power * of_turn : 0.0};
}

}  // namespace

Offsets measure_offsets(const Host& host, const ReceiverConfig& config, SymbolView input,
                        std::uint64_t first) {
    const detail::ReceiverPlan plan(config);
    PilotMeter measured_at_pilots(host, plan, input, first);
    const AtPilots rough = measured_at_pilots(0.0);
    if (!plan.demodulator || rough.offsets.coherence == 0.0) return rough.offsets;
    const Frequency at_prefixes = measured_at_prefixes(plan, input, first, rough);
    // Pilots refine the estimate of prefixes, which is poor with few subcarriers. A single DM-RS cannot: then
    // no correction is better than an uncertain one.
    const DmrsConfig& dmrs = config.link.allocation.dmrs;
    const bool is_refined = dmrs.symbols.size() > static_cast<std::size_t>(dmrs.length);
    const bool is_uncertain = std::fabs(at_prefixes.hertz) < min_deviations * at_prefixes.deviation;
    const double frequency = !is_refined && is_uncertain ? 0.0 : at_prefixes.hertz;
    Offsets offsets = measured_at_pilots(frequency).offsets;
    const bool is_clear = std::fabs(offsets.frequency) < clear_frequency(config.link);
    offsets.frequency = frequency + (is_clear ? offsets.frequency : 0.0);
    offsets.at_prefixes = at_prefixes.hertz;
    offsets.deviation = at_prefixes.deviation;
    return offsets;
}

}  // namespace phy
