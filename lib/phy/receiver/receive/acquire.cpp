#include "phy/receiver/receive/acquire.hpp"

#include <algorithm>
#include <cmath>

#include "phy/core/number_text.hpp"
#include "phy/receiver/common.hpp"

namespace phy::detail {
namespace {

/// Offsets are measured over so many occurrences, and settings tried on so many slots.
constexpr std::uint64_t measured_slots = 8;
constexpr std::uint64_t diagnosed_slots = 20;

constexpr double frame_seconds = 0.01;

/// (antennas, count) samples from `first` on.
std::vector<std::byte> read_samples(CaptureReader& capture, std::uint64_t first, std::uint64_t count) {
    const CaptureDescription& description = capture.description();
    const std::uint64_t length = description.symbols / description.antennas;
    std::vector<std::byte> samples(description.antennas * count * size_of(description.format));
    const SymbolSpan all(description.format, samples);
    for (std::uint64_t antenna = 0; antenna < description.antennas; ++antenna)
        capture.read(antenna * length + first, all.subspan(antenna * count, count));
    return samples;
}

std::string text_of(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers)
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "[" + text + "]";
}

/// What DM-RS are expected by.
std::string settings_of(const Link& link) {
    const DmrsConfig& dmrs = link.allocation.dmrs;
    return "dmrs.symbols " + text_of(dmrs.symbols) + ", type " + std::to_string(dmrs.type) + ", ports " +
           text_of(dmrs.ports) + ", scrambling_id " + std::to_string(dmrs.scrambling_id) + ", n_scid " +
           std::to_string(dmrs.n_scid) + ", reference_crb " + std::to_string(dmrs.reference_crb) +
           ", first_slot " + std::to_string(link.carrier.first_slot);
}

std::string text_of(const Diagnosis& diagnosis) {
    const Trial& best = diagnosis.trials.front();
    const std::string tried = "of " + std::to_string(diagnosis.tried) + " settings tried, ";
    const std::string coherence = " (coherence " + number_text(best.coherence) + ")";
    if (best.coherence < least_coherence(best.link.allocation))
        return tried + "none has them either" + coherence;
    return tried + "the best is " + (best.change.empty() ? "the link as it is" : best.change) + coherence;
}

Diagnosis diagnose_slots(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                         SampleFormat format, const DiagnoseOptions& options) {
    const std::uint64_t count = std::min(diagnosed_slots, slots.whole_slots());
    const std::size_t bytes = slots.bytes_per_slot();
    std::vector<std::byte> input(count * bytes);
    for (std::uint64_t i = 0; i < count; ++i)
        slots.read_slot(slots.schedule().first_slot() + i, std::span(input).subspan(i * bytes, bytes));
    return diagnose(host, config, SymbolView(format, input), options);
}

}  // namespace

Host acquisition_host(const std::vector<Place>& places) {
    if (!places.empty() && !places[0].is_cuda()) return places[0].host();
    return fastest_host(demodulation_threads());
}

FoundSlot find_slots(const Host& host, ReceiverConfig& config, CaptureReader& capture) {
    const CaptureDescription& description = capture.description();
    const std::uint64_t length = description.symbols / description.antennas;
    LinkCarrier& carrier = config.link.carrier;
    carrier.first_sample = 0;
    if (!config.link.slots.empty()) carrier.first_slot = config.link.slots.front();
    const auto frame = static_cast<std::uint64_t>(std::ceil(*carrier.sample_rate * frame_seconds));
    const std::uint64_t slot = 2 * frame / static_cast<std::uint64_t>(slots_per_frame(carrier));
    for (std::uint64_t first = 0; first == 0 || first + slot < length; first += frame) {
        const std::uint64_t count = std::min(frame + slot, length - first);
        const std::vector<std::byte> samples = read_samples(capture, first, count);
        std::optional<FoundSlot> found =
            find_first_slot(host, config, SymbolView(description.format, samples));
        if (!found) continue;
        found->first_sample += first;
        carrier.first_sample = found->first_sample;
        return *found;
    }
    throw FileError(name_of(description) + ": the DM-RS of slot " + std::to_string(carrier.first_slot) +
                    " were found nowhere: looked for " + settings_of(config.link));
}

Offsets correct_offsets(const Host& host, ReceiverConfig& config, CaptureSlots& slots) {
    const std::uint64_t count = std::min(measured_slots, slots.occurrences());
    std::vector<std::byte> input(count * slots.bytes_per_slot());
    slots.read(0, count, input);
    Offsets offsets = measure_offsets(host, config, SymbolView(slots.format(), input), 0);
    if (offsets.coherence < least_coherence(config.link.allocation)) return {.coherence = offsets.coherence};
    const double rate = *config.link.carrier.sample_rate;
    const auto samples = std::llround(offsets.timing * rate);
    slots.move(samples);
    offsets.timing = static_cast<double>(samples) / rate;
    config.link.carrier.frequency_shift -= offsets.frequency;
    return offsets;
}

SlotReport mean_of(std::span<const SlotReport> reports) {
    SlotReport mean;
    if (reports.empty()) return mean;
    double snr = 0.0;
    double evm = 0.0;
    std::size_t measured = 0;
    for (const SlotReport& report : reports) {
        snr += std::pow(10.0, report.snr_db / 10.0);
        mean.noise_variance += report.noise_variance;
        mean.timing_offset += report.timing_offset;
        mean.frequency_offset += report.frequency_offset;
        mean.coherence += report.coherence;
        mean.erasures += report.erasures;
        if (!std::isfinite(report.evm)) continue;
        evm += report.evm * report.evm;
        ++measured;
    }
    const auto count = static_cast<double>(reports.size());
    mean.slot = reports.front().slot;
    mean.snr_db = 10.0 * std::log10(snr / count);
    mean.evm = std::sqrt(evm / static_cast<double>(measured));
    mean.noise_variance /= count;
    mean.timing_offset /= count;
    mean.frequency_offset /= count;
    mean.coherence /= count;
    return mean;
}

void require_pilots(const Host& host, const ReceiverConfig& config, CaptureSlots& slots, Reception& result,
                    const ReceiveOptions& options) {
    const double least = least_coherence(config.link.allocation);
    const auto lacking = static_cast<std::uint64_t>(std::ranges::count_if(
        result.reports, [&](const SlotReport& report) { return !(report.coherence >= least); }));
    if (lacking == 0) return;
    const std::string name = name_of(result.capture);
    if (lacking < result.slots) {
        result.warnings.push_back(name + ": the DM-RS were not found in " + std::to_string(lacking) + " of " +
                                  std::to_string(result.slots) + " slots");
        return;
    }
    std::string text = name + ": the DM-RS were found in none of " + std::to_string(result.slots) +
                       " slots: the coherence is " + number_text(static_cast<float>(result.mean.coherence)) +
                       ", expected at least " + number_text(static_cast<float>(least)) + "; looked for " +
                       settings_of(result.link);
    if (options.diagnoses)
        text += "; " + text_of(diagnose_slots(host, config, slots, result.capture.format, options.diagnose));
    throw FileError(text);
}

}  // namespace phy::detail
