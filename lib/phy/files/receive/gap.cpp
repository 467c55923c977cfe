#include "phy/files/receive/gap.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/search.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::detail {
namespace {

/// A slot beside a gap is damaged if its EVM is larger than its neighbour's by this factor.
constexpr double damaged = 1.5;

/// Slots at either place that agree with a gap, at least; and coherence over that at the other place.
constexpr double clear_share = 0.9;

/// Slots that are received well at their place, and not better at the other one.
std::vector<bool> fitting(const std::vector<SlotReport>& reports, const std::vector<SlotReport>& elsewhere,
                          double least, double most_seconds) {
    std::vector<bool> result;
    for (std::size_t i = 0; i < reports.size(); ++i)
        result.push_back(reports[i].coherence >= least &&
                         reports[i].coherence >= clear_share * elsewhere[i].coherence &&
                         std::fabs(reports[i].timing_offset) < most_seconds);
    return result;
}

}  // namespace

std::vector<SlotReport> GapSearch::received(const GapBounds& bounds, const SlotPlace& place) const {
    ReceiverConfig config = config_;
    config.link.carrier.frequency_shift -= place.frequency;
    slots_.set_track(Track(SlotPlace{.late = place.late}));
    return received_slots(host_, config, slots_, bounds.first, bounds.end - bounds.first);
}

Gap GapSearch::operator()(const GapBounds& bounds) const {
    const std::vector<SlotReport> before = received(bounds, bounds.before);
    const std::vector<SlotReport> after = received(bounds, bounds.after);
    const double missing = bounds.before.late - bounds.after.late;
    const double half = 0.5 * std::fabs(missing) / *config_.link.carrier.sample_rate;
    const double least = min_coherence(config_.link.allocation);
    const std::vector<bool> is_before = fitting(before, after, least, half);
    const std::vector<bool> is_after = fitting(after, before, least, half);
    // The division with the fewest slots that contradict it.
    const std::size_t count = is_before.size();
    auto score = static_cast<std::ptrdiff_t>(std::ranges::count(is_after, true));
    std::ptrdiff_t best = score;
    std::size_t first_after = 0;
    for (std::size_t i = 0; i < count; ++i) {
        score += static_cast<std::ptrdiff_t>(is_before[i]) - static_cast<std::ptrdiff_t>(is_after[i]);
        if (score < best) continue;
        best = score;
        first_after = i + 1;
    }
    const auto either =
        static_cast<double>(std::ranges::count(is_before, true) + std::ranges::count(is_after, true));
    const auto agree_before =
        std::count(is_before.begin(), is_before.begin() + static_cast<std::ptrdiff_t>(first_after), true);
    std::size_t whole_before = first_after;
    while (whole_before > 0 && !is_before[whole_before - 1])
        --whole_before;
    std::size_t whole_after = first_after;
    while (whole_after < count && !is_after[whole_after])
        ++whole_after;
    if (whole_before > 1 && !(before[whole_before - 1].evm < damaged * before[whole_before - 2].evm))
        --whole_before;
    if (whole_after + 1 < count && !(after[whole_after].evm < damaged * after[whole_after + 1].evm))
        ++whole_after;
    const auto slot_at = [&](std::size_t index) { return slots_.schedule().slot(bounds.first + index); };
    // Slots between occasions may be whole; nobody asks for them.
    const std::uint64_t first_lost = whole_before > 0 ? slot_at(whole_before - 1) + 1 : slot_at(0);
    slots_.set_track(Track(SlotPlace{.late = bounds.before.late}));
    return {.sample = slots_.begin_of(first_lost),
            .missing = missing,
            .first_lost = first_lost,
            .first_whole = slot_at(whole_after),
            .is_clear =
                agree_before > 0 && best > agree_before && static_cast<double>(best) >= clear_share * either};
}

std::optional<Track::Point> find_slot_near(const Host& host, const ReceiverConfig& config,
                                           CaptureSlots& slots, std::uint64_t slot,
                                           const SlotPlace& expected) {
    const SlotSchedule& schedule = slots.schedule();
    const auto of_frame = static_cast<std::uint64_t>(schedule.slots_per_frame());
    const auto frame = static_cast<std::int64_t>(std::llround(0.01 * *config.link.carrier.sample_rate));
    const auto length = static_cast<std::int64_t>(slots.signal().length());
    const auto of_slot = static_cast<std::int64_t>(slots.input_per_slot());
    const std::int64_t begin =
        std::max<std::int64_t>(std::min(slots.begin_of(slot), length - frame) - of_slot, 0);
    if (length - begin < of_slot) return {};
    const auto find_from = [&](const ReceiverConfig& searching_for, std::int64_t first) {
        const std::vector<std::byte> samples = slots.read_samples(
            static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(frame + 2 * of_slot));
        auto found = find_first_slot(host, searching_for, SymbolView(slots.format(), samples));
        if (found) found->first_sample += static_cast<std::uint64_t>(first);
        return found;
    };
    const std::int64_t tolerance = of_slot / (2 * symbols_per_slot);
    const DmrsConfig& dmrs = config.link.allocation.dmrs;
    const bool slots_are_equal = dmrs.transform_precoding && dmrs.hopping == SequenceHopping::none;
    std::optional<Track::Point> there;
    for (const int searched : schedule.slots()) {
        ReceiverConfig of_slot_config = config;
        of_slot_config.link = searching(config.link, searched);
        auto found = find_from(of_slot_config, begin);
        // A DM-RS symbol that is like another one of its slot looks like it, half as clearly as all of them.
        if (found && slots_are_equal) {
            const std::int64_t behind = static_cast<std::int64_t>(found->first_sample) + of_slot / 2;
            const auto next = behind + of_slot <= length ? find_from(of_slot_config, behind) : std::nullopt;
            if (next && clear_share * next->correlation > found->correlation) found = next;
        }
        // A frame has all of them; to search for each would take long in a pause.
        if (!found && length - begin > frame + of_slot) return {};
        if (!found) continue;
        // The last slot of that number whose place is not behind the one where it was found.
        const auto at = static_cast<std::int64_t>(found->first_sample);
        std::uint64_t number = slot - slot % of_frame + static_cast<std::uint64_t>(searched);
        std::int64_t late = at - slots.begin_of(number);
        while (late > tolerance) {
            number += of_frame;
            late = at - slots.begin_of(number);
        }
        while (late + frame <= tolerance && number >= of_frame + schedule.first_slot()) {
            number -= of_frame;
            late = at - slots.begin_of(number);
        }
        // Nothing tells slots with equal DM-RS apart: whole ones may be missing too.
        while (slots_are_equal && late <= tolerance - of_slot && number > schedule.first_slot()) {
            --number;
            late = at - slots.begin_of(number);
        }
        const Track::Point point = {
            .slot = number,
            .place = {.late = expected.late + static_cast<double>(late), .frequency = expected.frequency}};
        if (std::llabs(late) > 1 || slots_are_equal) return point;
        if (!there) there = point;
    }
    return there;
}

}  // namespace phy::detail
