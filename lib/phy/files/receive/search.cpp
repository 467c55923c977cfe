#include "phy/files/receive/search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/diagnose_capture.hpp"

namespace phy::detail {
namespace {

constexpr double frame_seconds = 0.01;

/// Frames that are searched at other frequencies.
constexpr std::uint64_t frames_of_offsets = 10;

/// Frames that are searched for slots of the list beside the first.
constexpr std::uint64_t frames_of_slots = 3;

/// Below, the slot may have been found at the wrong frequency: DM-RS match those of a neighbouring subcarrier
/// in part.
constexpr double sure_correlation = 0.5;

class SlotSearch {
public:
    SlotSearch(const Host& host, const ReceiverConfig& config, CaptureSignal& signal,
               const ReceiveOptions& options)
        : host_(host),
          config_(config),
          signal_(signal),
          options_(options),
          frame_(static_cast<std::uint64_t>(std::ceil(*config.link.carrier.sample_rate * frame_seconds))),
          timing_(ofdm_config(config.link, config.antennas)) {}

    /// At any of the frequencies that the first frame leaves open.
    std::optional<FoundSlot> operator()();

    /// With the link as it was found.
    [[nodiscard]] const Link& link() const { return config_.link; }

private:
    struct Found {
        FoundSlot slot;
        Link link;  ///< with its place and frequency
    };

    [[nodiscard]] std::vector<int> slots_to_find(bool any) const;
    std::optional<FoundSlot> find(const Link& link, std::uint64_t length);
    std::optional<Found> find_any(double frequency, std::uint64_t length, bool any_slot);
    void begin_earlier();
    [[nodiscard]] bool has_pilots(const Link& link);

    const Host& host_;
    ReceiverConfig config_;
    CaptureSignal& signal_;
    const ReceiveOptions& options_;
    std::uint64_t frame_;
    OfdmTiming timing_;
};

/// A frame has the first slot of the list, if all are used; less than a frame may have another one only.
std::vector<int> SlotSearch::slots_to_find(bool any) const {
    const int first = searched_slot(config_.link);
    std::vector<int> slots = {first};
    if (!any && signal_.length() >= frame_ + timing_.slot_samples(0)) return slots;
    const SlotSchedule schedule(config_.link);
    for (const int slot : schedule.slots())
        if (slot != first) slots.push_back(slot);
    return slots;
}

std::optional<FoundSlot> SlotSearch::find(const Link& link, std::uint64_t length) {
    ReceiverConfig config = config_;
    config.link = link;
    const std::uint64_t slot = timing_.slot_samples(static_cast<std::uint64_t>(link.carrier.first_slot));
    for (std::uint64_t first = 0; first + slot <= length; first += frame_) {
        if (options_.stop.stop_requested()) return {};
        if (options_.progress) options_.progress(0, 1);
        const std::vector<std::byte> samples =
            signal_.read(first, std::min(frame_ + 2 * slot, length - first));
        auto found = find_first_slot(host_, config, SymbolView(signal_.format(), samples));
        if (!found) continue;
        found->first_sample += first;
        return found;
    }
    return {};
}

/// The first slot of the list that is surely found, else the one with the highest correlation.
std::optional<SlotSearch::Found> SlotSearch::find_any(double frequency, std::uint64_t length, bool any_slot) {
    std::optional<Found> best;
    for (const int slot : slots_to_find(any_slot)) {
        Link link = searching(config_.link, slot);
        link.carrier.frequency_shift -= frequency;
        std::optional<FoundSlot> found = find(link, length);
        if (!found || (best && found->correlation <= best->slot.correlation)) continue;
        link.carrier.first_sample = found->first_sample;
        found->frequency = frequency;
        best = Found{*found, std::move(link)};
        if (found->correlation >= sure_correlation) break;
    }
    return best;
}

std::optional<FoundSlot> SlotSearch::operator()() {
    config_.link.carrier.first_sample = 0;
    const std::uint64_t length = signal_.length();
    std::optional<Found> best = find_any(0.0, length, false);
    if (!best) best = find_any(0.0, std::min(length, frames_of_slots * frame_), true);
    if (!best || best->slot.correlation < sure_correlation) {
        if (length < timing_.slot_samples(0) || options_.stop.stop_requested()) return {};
        const std::uint64_t first = best ? best->slot.first_sample / frame_ * frame_ : 0;
        const std::vector<std::byte> samples = signal_.read(first, std::min(frame_, length - first));
        for (const double frequency : possible_offsets(config_, SymbolView(signal_.format(), samples))) {
            std::optional<Found> other =
                find_any(frequency, std::min(length, first + frames_of_offsets * frame_), false);
            if (other && (!best || other->slot.correlation > best->slot.correlation)) best = std::move(other);
            if (best && best->slot.correlation >= sure_correlation) break;
        }
    }
    if (!best) return {};
    config_.link.carrier = best->link.carrier;
    begin_earlier();
    best->slot.first_sample = config_.link.carrier.first_sample.value();
    return best->slot;
}

bool SlotSearch::has_pilots(const Link& link) {
    ReceiverConfig config = config_;
    config.link = link;
    CaptureSlots slots(signal_, config);
    std::vector<std::byte> input(slots.bytes_per_slot());
    slots.read(0, 1, input);
    return measure_offsets(host_, config, SymbolView(signal_.format(), input), 0).coherence > 0.0;
}

/// Slots of the schedule that lie before the one that was found, and have DM-RS, come first.
void SlotSearch::begin_earlier() {
    const SlotSchedule schedule(config_.link);
    const auto of_frame = static_cast<std::uint64_t>(schedule.slots_per_frame());
    const std::uint64_t found = static_cast<std::uint64_t>(config_.link.carrier.first_slot) + of_frame;
    const std::uint64_t position = config_.link.carrier.first_sample.value();
    for (std::uint64_t back = 1; back < of_frame; ++back) {
        const std::uint64_t distance = timing_.slot_start(found) - timing_.slot_start(found - back);
        if (distance > position) return;
        const auto slot = static_cast<int>((found - back) % of_frame);
        if (!std::ranges::binary_search(schedule.slots(), slot)) continue;
        Link link = config_.link;
        link.carrier.first_slot = slot;
        link.carrier.first_sample = position - distance;
        if (!has_pilots(link)) return;
        config_.link = link;
    }
}

}  // namespace

Link searching(Link link, int slot) {
    link.carrier.first_slot = slot;
    std::rotate(link.slots.begin(), std::ranges::find(link.slots, slot), link.slots.end());
    return link;
}

std::string settings_of(const Link& link, const CaptureDescription& capture) {
    const DmrsConfig& dmrs = link.allocation.dmrs;
    const bool is_said =
        capture.kind != CaptureKind::samples || capture.sample_rate == link.carrier.sample_rate;
    return "dmrs.symbols [" + list_of(dmrs.symbols) + "], type " + std::to_string(dmrs.type) + ", ports [" +
           list_of(dmrs.ports) + "], scrambling_id " + std::to_string(dmrs.scrambling_id) + ", n_scid " +
           std::to_string(dmrs.n_scid) + ", reference_crb " + std::to_string(dmrs.reference_crb) +
           ", first_slot " + std::to_string(link.carrier.first_slot) +
           (link.carrier.first_sample && link.carrier.sample_rate
                ? ", first_sample " + std::to_string(*link.carrier.first_sample)
                : "") +
           (capture.kind == CaptureKind::samples ? ", frequency offsets of up to three subcarriers" : "") +
           (is_said
                ? (link.carrier.sample_rate ? ", sample_rate " + number_text(*link.carrier.sample_rate) : "")
                : ", at the link's sample_rate " + number_text(*link.carrier.sample_rate) +
                      " in samples read as " + capture.storage);
}

std::optional<FoundSlot> find_slots(const Host& host, ReceiverConfig& config, CaptureSignal& signal,
                                    const ReceiveOptions& options) {
    SlotSearch search(host, config, signal, options);
    if (auto found = search()) {
        config.link = search.link();
        found->first_sample = signal.recorded(found->first_sample);
        return found;
    }
    LinkCarrier& carrier = config.link.carrier;
    carrier.first_sample = 0;
    carrier.first_slot = searched_slot(config.link);
    std::string diagnosis;
    if (options.diagnoses && !options.stop.stop_requested())
        diagnosis = "; " + diagnose_search(host, config, signal, options);
    if (options.stop.stop_requested()) return std::nullopt;
    throw FileError(name_of(signal.description()) + ": the DM-RS of slot " +
                    std::to_string(carrier.first_slot) + " were not found in " +
                    std::to_string(signal.recorded_count(signal.length())) + " samples: looked for " +
                    settings_of(signal.recorded_link(config.link), signal.description()) + diagnosis);
}

}  // namespace phy::detail
