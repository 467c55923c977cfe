#include "phy/files/receive/diagnose_capture.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/ambiguity.hpp"
#include "phy/files/receive/warnings.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// Slots that diagnose() looks at: at least a frame.
constexpr std::uint64_t min_slots = 20;

/// Frequency offsets that diagnose() measures again, over the subcarrier spacing: half a turn leaves two.
constexpr double measured_again = 0.4;

std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// What was checked, and what only decoding can check.
std::string checks_of(const Diagnosis& diagnosis) {
    std::string text = "; the DM-RS agree";
    if (!diagnosis.agreeing.empty()) text += ", and so do " + list_of(diagnosis.agreeing);
    if (!diagnosis.undecided.empty())
        text += "; the symbols do not decide on " + list_of(diagnosis.undecided);
    return text +
           "; only decoding shows whether rnti, scrambling_id (n_ID) and the order of ports and resource "
           "blocks are right";
}

std::string text_of(const Diagnosis& diagnosis, bool is_warned, bool may_begin_elsewhere) {
    const Trial& best = diagnosis.best;
    const double least = min_coherence(best.link.allocation);
    const bool is_by_chance = best.coherence >= least && !best.is_found();
    const std::string coherence = " (coherence " + rounded(best.coherence) +
                                  (is_by_chance ? ", which so many trials reach by chance)"
                                                : ", expected at least " + rounded(least) + ")");
    const std::string tried = "of " + std::to_string(diagnosis.tried) + " settings tried, ";
    if (!best.is_found())
        return tried + "none shows DM-RS clearly" + coherence +
               "; subcarrier spacing, resource blocks or identities may be wrong" +
               (may_begin_elsewhere
                    ? ", or slots may begin elsewhere: first_sample \"auto\" searches for them"
                    : "");
    const bool is_same = best.change.empty();
    if (best.fits() && is_same && !is_warned)
        return tried + "the best is the link as it is" + coherence + checks_of(diagnosis);
    const std::string what = is_same ? "none is better than those of the link" : "the best is " + best.change;
    if (best.fits())
        return tried + what + coherence + (is_same ? ", but see the warnings" : checks_of(diagnosis));
    return tried + what + coherence + ", but the symbols do not fit: their noise is " +
           rounded(elementary::decibels(best.excess)) +
           " dB above what the DM-RS make expected, so more may be wrong";
}

/// Adds the f0 of the capture's attribute, which the link's f0 overrides.
DiagnoseOptions diagnose_options(const ReceiveOptions& options, const CaptureSignal& signal,
                                 const LinkCarrier& carrier) {
    DiagnoseOptions result = options.diagnose;
    if (signal.is_resampled())
        result.recorded = [&signal](std::uint64_t sample) { return signal.recorded(sample); };
    result.stop = options.stop;
    result.progress = options.progress;
    if (const std::optional<double> center = signal.description().center_frequency) {
        result.center_frequencies.push_back(*center - carrier.frequency_shift);
        result.center_frequencies.push_back(*center);
    }
    return result;
}

std::uint64_t slots_to_see(const Link& link) {
    return std::max(min_slots, static_cast<std::uint64_t>(slots_per_frame(link.carrier)));
}

Diagnosis diagnose_grid(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                        std::uint64_t first, const DiagnoseOptions& options) {
    const std::uint64_t before = first - slots.schedule().first_slot();
    const std::uint64_t count = std::min(slots_to_see(config.link), slots.whole_slots() - before);
    const std::size_t bytes = slots.bytes_per_slot();
    std::vector<std::byte> input(count * bytes);
    for (std::uint64_t i = 0; i < count; ++i)
        slots.read_slot(first + i, std::span(input).subspan(i * bytes, bytes));
    return diagnose(host, config, SymbolView(slots.format(), input), options);
}

/// Looks at the slots of the frame from which this slot comes.
Diagnosis diagnose_samples(const Host& host, ReceiverConfig config, CaptureSlots& slots, std::uint64_t slot,
                           DiagnoseOptions options) {
    const OfdmTiming timing(ofdm_config(config.link, config.antennas));
    const std::uint64_t frame = timing.slot_start(timing.slots_per_frame());
    const std::uint64_t first_slot = slots.schedule().first_slot();
    const auto begin = static_cast<std::uint64_t>(std::max<std::int64_t>(slots.begin_of(first_slot), 0));
    const std::uint64_t from = begin - std::min(begin, frame);
    const std::uint64_t count = begin - from + timing.slot_start(slots_to_see(config.link) + 2 + first_slot) -
                                timing.slot_start(first_slot);
    config.link.carrier.first_sample = begin;
    options.begin = from;
    const std::uint64_t frames =
        (slot - first_slot) / static_cast<std::uint64_t>(slots.schedule().slots_per_frame());
    // The clock drifts, and samples may be missing, between the first frame and a later one.
    const std::int64_t moved =
        frames == 0 ? 0 : std::llround(slots.lateness_of(slot) - slots.lateness_of(first_slot));
    const std::int64_t there = static_cast<std::int64_t>(from + frames * frame) + moved;
    const std::vector<std::byte> input =
        slots.read_samples(static_cast<std::uint64_t>(std::max<std::int64_t>(there, 0)), count);
    return diagnose(host, config, SymbolView(slots.format(), input), options);
}

}  // namespace

Diagnosis diagnose_reception(const Host& host, const ReceiverConfig& given, CaptureSlots& slots,
                             Reception& result, const ReceiveOptions& options) {
    ReceiverConfig config = given;
    const double offset = result.corrected.frequency;
    config.link.carrier.frequency_shift += offset;
    const DiagnoseOptions how = diagnose_options(options, slots.signal(), config.link.carrier);
    // Small offsets are measured again with each change. Larger ones would count as a change, and look like
    // ports of another CDM group.
    if (std::fabs(offset) > measured_again * config.link.carrier.subcarrier_spacing) config.link = given.link;
    const double least = min_coherence(config.link.allocation);
    const auto found = std::ranges::find_if(
        result.reports, [&](const SlotReport& report) { return report.coherence >= least; });
    const std::uint64_t first = slots.schedule().first_slot();
    const auto of_frame = static_cast<std::uint64_t>(slots.schedule().slots_per_frame());
    const std::uint64_t seen = found == result.reports.end() ? first : found->slot;
    const bool is_samples = config.input == ReceiverInput::samples;
    Diagnosis diagnosis = is_samples
                              ? diagnose_samples(host, config, slots, seen, how)
                              : diagnose_grid(host, config, slots, seen - (seen - first) % of_frame, how);
    settle_ports(host, config, slots, offset, diagnosis);
    result.diagnosis = text_of(diagnosis, false, is_samples && !result.found);
    result.cancelled = diagnosis.cancelled;
    return diagnosis;
}

void settle_diagnosis(Reception& result, const Diagnosis& diagnosis) {
    if (proves_link(result)) {
        result.diagnosis = "the best is the link as it is: " + std::to_string(result.valid_transport_blocks) +
                           " of " + std::to_string(result.transport_blocks.size()) +
                           " transport blocks have a valid CRC, which proves it, but for " +
                           (result.uci.empty() ? "" : "coding.uci and ") + "allocation.dmrs.power_db";
        const std::string& change = diagnosis.best.change;
        if (change.starts_with("allocation.dmrs.power_db ") && change.find(',') == std::string::npos)
            result.diagnosis += "; the symbols fit " + change + " better";
        return;
    }
    const bool is_warned = !result.warnings.empty();
    const bool is_right = diagnosis.best.change.empty() && diagnosis.best.fits();
    if (is_right && is_warned) {
        result.diagnosis = text_of(diagnosis, true, false);
    } else if (!is_right) {
        result.warnings.push_back(name_of(result.capture) + ": " + result.diagnosis);
    }
}

std::string diagnose_search(const Host& host, const ReceiverConfig& given, CaptureSignal& signal,
                            const ReceiveOptions& options) {
    const std::uint64_t length = signal.length();
    ReceiverConfig config = given;
    config.link.carrier.first_sample.reset();
    const OfdmTiming timing(ofdm_config(config.link, config.antennas));
    const std::uint64_t frame = timing.slot_start(timing.slots_per_frame());
    const std::uint64_t seen = std::max(frame, timing.slot_start(min_slots)) + 2 * timing.slot_samples(0);
    SymbolMeter meter(host, {});
    std::vector<std::byte> loudest;
    double most = -1.0;
    DiagnoseOptions how = diagnose_options(options, signal, config.link.carrier);
    for (std::uint64_t first = 0; first < length; first += frame) {
        if (options.stop.stop_requested()) return "";
        if (options.progress) options.progress(first, length);
        std::vector<std::byte> samples = signal.read(first, std::min(seen, length - first));
        const SymbolSums sums = meter(SymbolView(signal.format(), samples));
        if (!(sums.ii + sums.qq > most)) continue;
        most = sums.ii + sums.qq;
        loudest = std::move(samples);
        how.begin = first;
    }
    const Diagnosis diagnosis = diagnose(host, config, SymbolView(signal.format(), loudest), how);
    return text_of(diagnosis, false, false);
}

}  // namespace phy::detail
