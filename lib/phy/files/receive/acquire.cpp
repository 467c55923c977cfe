#include "phy/files/receive/acquire.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/search.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/pilot_pairs.hpp"

namespace phy::detail {
namespace {

/// Min coherence after moving slots, as a share of that before.
constexpr float clear_share = 0.9F;

/// Below this coherence noise may look like an early path.
constexpr double sure_timing = 0.7;

/// Below this coherence the frequency may be half a subcarrier or more off: slots at a wrong place show
/// pilots of neighbouring subcarriers in part.
constexpr double sure_frequency = 0.9;

/// Agreements of pilots are alike above this ratio.
constexpr double alike = 0.9;

/// Wrong pilots reach this share of min_coherence() in one slot of a thousand.
constexpr double min_coherence_share = 0.75;

/// Wrong pilots give a mean coherence over slots this many standard deviations above their mean with a
/// probability of about 1e-6.
constexpr double sure_deviations = 4.75;

/// The mean coherence of an SNR that is just below what symbols can be received with. It may be below
/// min_coherence() if there are few pilots.
constexpr double sure_coherence = 0.35;

/// Slots without DM-RS are no fading below this probability (as -ln).
constexpr double max_fading_surprisal = 5.8;

/// Of equalised symbols of a right link that the first offsets do not disturb.
constexpr double max_error_over_noise_db = 6.0;

/// The first occasion that has DM-RS, or 0.
std::uint64_t first_with_pilots(const Host& host, const ReceiverConfig& config, CaptureSlots& slots) {
    Receiver receive(host, config);
    const auto step = static_cast<std::uint64_t>(host.threads());
    const double least = min_coherence(config.link.allocation);
    std::vector<std::byte> input(step * slots.bytes_per_slot());
    std::vector<ReceivedSlot> found(step);
    for (std::uint64_t first = 0; first < slots.occasions(); first += step) {
        const std::uint64_t count = std::min(step, slots.occasions() - first);
        const auto of_call = std::span(input).first(count * slots.bytes_per_slot());
        slots.read(first, count, of_call);
        receive(SymbolView(slots.format(), of_call), first, {.slots = std::span(found).first(count)});
        for (std::uint64_t i = 0; i < count; ++i)
            if (found[i].estimate.coherence >= least) return first + i;
    }
    return 0;
}

}  // namespace

std::vector<SlotReport> received_slots(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                                       std::uint64_t first, std::uint64_t count) {
    Receiver receive(host, config);
    std::vector<std::byte> input(slots.bytes_per_slot());
    std::vector<SlotReport> reports;
    for (std::uint64_t occasion = first; occasion < first + count; ++occasion) {
        ReceivedSlot slot;
        slots.read(occasion, 1, input);
        receive(SymbolView(slots.format(), input), occasion, {.slots = std::span(&slot, 1)});
        reports.push_back(slot_report(slot, config, slots.schedule().slot(occasion)));
    }
    return reports;
}

Offsets measured_from(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                      std::uint64_t first, std::uint64_t most) {
    const std::uint64_t count = std::min(most, slots.occasions() - first);
    std::vector<std::byte> input(count * slots.bytes_per_slot());
    slots.read(first, count, input);
    return measure_offsets(host, config, SymbolView(slots.format(), input), first);
}

namespace {

/// A slot at a wrong place shows pilots of neighbouring subcarriers: the others do not.
double agreement(const Offsets& offsets) {
    return offsets.coherence * static_cast<double>(offsets.slots);
}

/// Of offsets over the first occasions those that agree most. Sequences of low PAPR that are some subcarriers
/// off look like sequences that are late, and agree alike: all of them, the nearest to where the link has its
/// slots first.
std::vector<Offsets> likely_offsets(const ReceiverConfig& config, std::vector<Offsets> all) {
    const auto best = std::ranges::max_element(all, {}, agreement);
    if (!config.link.allocation.dmrs.transform_precoding) return {*best};
    const double least = alike * agreement(*best);
    std::erase_if(all, [&](const Offsets& offsets) { return !(agreement(offsets) >= least); });
    std::ranges::stable_sort(all, {}, [](const Offsets& offsets) { return std::fabs(offsets.timing); });
    return all;
}

/// Measures over the first occasions, at frequencies that the first samples leave open. none: as measured
/// without.
Offsets measured_at_possible_offsets(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                                     const Offsets& none) {
    const auto frame = static_cast<std::uint64_t>(0.01 * *config.link.carrier.sample_rate);
    const auto begin =
        static_cast<std::uint64_t>(std::max<std::int64_t>(slots.begin_of(slots.schedule().slot(0)), 0));
    const std::vector<std::byte> samples = slots.read_samples(begin, frame);
    std::vector<Offsets> all = {none};
    for (const double frequency : possible_offsets(config, SymbolView(slots.format(), samples))) {
        ReceiverConfig corrected = config;
        corrected.link.carrier.frequency_shift -= frequency;
        Offsets& offsets = all.emplace_back(measured_from(host, corrected, slots, 0));
        offsets.frequency += frequency;
        offsets.at_prefixes += frequency;
    }
    // Ports of another CDM group look like those of this one a subcarrier off. Their data do not, in no slot;
    // those of a slot that lacks samples do not either. If ports are in several groups, some look like others
    // of the link: the SNR is that of the rest, which are absent.
    const std::uint64_t count = std::min(measured_slots, slots.occasions());
    const auto received_at = [&](double frequency) {
        ReceiverConfig corrected = config;
        corrected.link.carrier.frequency_shift -= frequency;
        // Prefixes of a few slots leave a frequency that rotates the data after the only DM-RS.
        corrected.phase_tracking = true;
        return received_slots(host, corrected, slots, 0, count);
    };
    const std::vector<SlotReport> at_none = received_at(none.frequency);
    const double least = min_coherence(config.link.allocation);
    for (const Offsets& likely : likely_offsets(config, std::move(all))) {
        const std::vector<SlotReport> there = received_at(likely.frequency);
        for (std::size_t i = 0; i < there.size(); ++i)
            if (there[i].coherence >= least && std::isfinite(there[i].snr_db) &&
                !(there[i].snr_db < at_none[i].snr_db) &&
                !(there[i].error_over_noise_db > max_error_over_noise_db))
                return likely;
    }
    return none;
}

}  // namespace

CorrectedOffsets correct_offsets(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                                 bool is_searched, std::vector<std::string>& warnings) {
    std::uint64_t first = 0;
    Offsets offsets = measured_from(host, config, slots, first);
    const bool is_sure =
        offsets.coherence >= sure_frequency && !config.link.allocation.dmrs.transform_precoding;
    if (!is_sure) offsets = measured_at_possible_offsets(host, config, slots, offsets);
    if (offsets.coherence == 0.0) {
        first = first_with_pilots(host, config, slots);
        if (first > 0) offsets = measured_from(host, config, slots, first);
    }
    if (offsets.coherence == 0.0)
        return {.offsets = {.at_prefixes = offsets.at_prefixes, .deviation = offsets.deviation}};
    const double rate = *config.link.carrier.sample_rate;
    const double late = offsets.timing * rate;
    config.link.carrier.frequency_shift -= offsets.frequency;
    slots.set_track(Track(SlotPlace{.late = late}));
    const std::size_t prefix = OfdmTiming(ofdm_config(config.link, config.antennas)).prefix_samples(0, 1);
    if (std::fabs(late) > 0.25 * static_cast<double>(prefix)) {
        // Pilots cannot distinguish delays that differ by the reciprocal of their spacing.
        const Offsets left = measured_from(host, config, slots, first);
        if (left.coherence < clear_share * offsets.coherence ||
            std::fabs(left.timing * rate) > 0.5 * std::fabs(late)) {
            slots.set_track(Track());
            offsets.timing = 0.0;
            if (offsets.coherence < sure_timing) return {offsets, first};
            warnings.push_back(
                slots.name() +
                (is_searched
                     ? ": the DM-RS are neither where they were found nor where their phases show them: the "
                       "frequency offset may exceed three subcarriers"
                     : ": the DM-RS are neither where carrier.first_sample says nor where their phases show "
                       "them: carrier.first_sample may be wrong; \"auto\" searches for it"));
            return {offsets, first};
        }
    }
    return {offsets, first, late};
}

SlotReport mean_of(std::span<const SlotReport> reports, double min_coherence) {
    SlotReport mean;
    if (reports.empty()) return mean;
    const auto is_found = [&](const SlotReport& report) { return report.coherence >= min_coherence; };
    const bool any = std::ranges::any_of(reports, is_found);
    // Nothing is known about a slot whose DM-RS are not finite.
    const auto is_known = [](const SlotReport& report) { return std::isfinite(report.noise_variance); };
    const bool some_are_known = std::ranges::any_of(
        reports, [&](const SlotReport& report) { return is_known(report) && (!any || is_found(report)); });
    std::size_t slots = 0;
    double snr = 0.0;
    double evm = 0.0;
    double error_over_noise = 0.0;
    double excess_noise = 0.0;
    std::size_t measured = 0;
    for (const SlotReport& report : reports) {
        mean.erasures += report.erasures;
        if ((any && !is_found(report)) || (some_are_known && !is_known(report))) continue;
        ++slots;
        snr += elementary::power_ratio(report.snr_db);
        mean.noise_variance += report.noise_variance;
        mean.timing_offset += report.timing_offset;
        mean.frequency_offset += report.frequency_offset;
        mean.coherence += report.coherence;
        mean.phase_error += report.phase_error * report.phase_error;
        excess_noise += elementary::power_ratio(report.excess_noise_db);
        if (report.clear_symbols > 0) {
            const auto clear = static_cast<double>(report.clear_symbols);
            error_over_noise += clear * elementary::power_ratio(report.error_over_noise_db);
            mean.clear_symbols += report.clear_symbols;
        }
        if (!std::isfinite(report.evm)) continue;
        evm += report.evm * report.evm;
        ++measured;
    }
    const auto count = static_cast<double>(slots);
    mean.slot = reports.front().slot;
    mean.snr_db = elementary::decibels(snr / count);
    mean.evm = std::sqrt(evm / static_cast<double>(measured));
    mean.error_over_noise_db =
        elementary::decibels(error_over_noise / static_cast<double>(mean.clear_symbols));
    mean.noise_variance /= count;
    mean.timing_offset /= count;
    mean.frequency_offset /= count;
    mean.coherence /= count;
    mean.phase_error = std::sqrt(mean.phase_error / count);
    mean.excess_noise_db = elementary::decibels(excess_noise / count);
    return mean;
}

namespace {

std::string coherence_of(const SlotReport& mean, double least) {
    return "the coherence is " + rounded(mean.coherence) + ", expected at least " + rounded(least);
}

double mean_coherence(std::span<const SlotReport> reports) {
    double sum = 0.0;
    for (const SlotReport& report : reports)
        sum += std::isfinite(report.coherence) ? report.coherence : 0.0;
    return sum / static_cast<double>(reports.size());
}

/// min_coherence() of the mean over slots, which wrong pilots reach as rarely: their coherence has a Rayleigh
/// distribution.
double min_mean_coherence(const Reception& result) {
    const SlotAllocation& allocation = result.link.allocation;
    const double pairs = static_cast<double>(pairs_of_symbol(allocation)) *
                         static_cast<double>(allocation.dmrs.symbols.size());
    const double scale = 1.0 / std::sqrt(std::max(pairs, 1.0));
    const double by_chance =
        scale * (0.886 + 0.463 * sure_deviations / std::sqrt(static_cast<double>(result.reports.size())));
    return std::min(by_chance, min_coherence(allocation));
}

/// Power of pilots over noise that a coherence shows in a flat channel.
double shown_snr(double coherence) {
    return coherence > 0.0 ? coherence / std::max(1.0 - coherence, 1e-6) : 0.0;
}

/// True if Rayleigh fading, the same on all subcarriers and independent between antennas, is likely enough to
/// hide the DM-RS in that many slots.
bool may_be_fading(const Reception& result, std::uint64_t lacking, double least) {
    double mean = 0.0;
    for (const SlotReport& report : result.reports)
        mean += shown_snr(report.coherence);
    const auto slots = static_cast<double>(result.reports.size());
    mean /= slots;
    double expected = slots;
    for (std::uint64_t antenna = 0; antenna < result.capture.antennas; ++antenna)
        expected *= std::min(shown_snr(least) / mean, 1.0);
    const auto count = static_cast<double>(lacking);
    if (count <= expected) return true;
    return count * elementary::log(count / expected) - count + expected < max_fading_surprisal;
}

/// The diagnosis as the end of an error message.
std::string diagnosis_of(const Reception& result) {
    return result.diagnosis.empty() ? "" : "; " + result.diagnosis;
}

/// True for slots with missing samples, which a warning has named.
bool is_lost(const Reception& result, const SlotReport& report) {
    const auto after = std::ranges::upper_bound(result.gaps, report.slot, {}, &MissingSamples::first_lost);
    return after != result.gaps.begin() && report.slot < (after - 1)->end_lost;
}

/// True for a part of a capture which other slots may show to be right. A grid was not measured before.
bool is_beside_pilots(const Reception& result, const CaptureSlots& slots) {
    const bool is_grid = result.capture.kind == CaptureKind::grid;
    return result.slots < slots.occasions() && (is_grid || result.corrected.coherence > 0.0);
}

void warn_of_erased_slots(Reception& result) {
    const std::string name = name_of(result.capture);
    const std::uint64_t of_slot =
        result.resource_elements / result.slots * static_cast<std::uint64_t>(result.link.allocation.layers());
    const auto erased = std::ranges::count_if(result.reports, [&](const SlotReport& slot) {
        return slot.erasures == of_slot && !is_lost(result, slot);
    });
    if (erased > 0)
        result.warnings.push_back(
            name + ": all symbols are erased in " + std::to_string(erased) + " of " +
            std::to_string(result.slots) +
            " slots: their samples have no power, are not finite or exceed the amplitude range, or are "
            "far stronger than their DM-RS: allocation.dmrs.ports may be wrong");
}

}  // namespace

bool require_pilots(Reception& result, const CaptureSlots& slots) {
    const double least = min_coherence(result.link.allocation);
    const auto lacking =
        static_cast<std::uint64_t>(std::ranges::count_if(result.reports, [&](const SlotReport& report) {
            return !(report.coherence >= least) && !is_lost(result, report);
        }));
    const std::string name = name_of(result.capture);
    const bool is_shown = mean_coherence(result.reports) >= min_mean_coherence(result);
    const double needed = min_coherence_share * least;
    if (lacking == result.slots &&
        result.mean.coherence < (is_shown ? std::min(needed, sure_coherence) : needed)) {
        const std::string none = "the DM-RS were found in none of " + std::to_string(result.slots) + " slots";
        if (!is_beside_pilots(result, slots))
            throw FileError(name + ": " + none + ": " + coherence_of(result.mean, least) + "; looked for " +
                            settings_of(result.link, result.capture) + diagnosis_of(result));
        result.warnings.push_back(name + ": " + none + " of this part");
        return false;
    }
    const bool is_fading = lacking == result.slots || may_be_fading(result, lacking, least);
    if (lacking > 0 && is_fading && !is_shown)
        result.warnings.push_back(name + ": the DM-RS may be absent: " + coherence_of(result.mean, least));
    if (lacking > 0 && !is_fading)
        result.warnings.push_back(name + ": the DM-RS were not found in " + std::to_string(lacking) + " of " +
                                  std::to_string(result.slots) + " slots");
    warn_of_erased_slots(result);
    return true;
}

void require_occasions(const CaptureSlots& slots, const Reception& result) {
    if (slots.occasions() > 0) return;
    throw FileError(slots.name() + ": whole slots: " + std::to_string(slots.whole_slots()) +
                    ", none of which is one of the link's allocation.slots" + diagnosis_of(result));
}

}  // namespace phy::detail
