#include "phy/files/receive/gap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "phy/dmrs/dmrs.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/search.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::detail {
namespace {

/// A slot beside a gap is damaged if its errors over noise are larger than its neighbour's by this factor, or
/// if its EVM is, beyond what fading explains.
constexpr double damaged = 1.5;
constexpr double fading = 2.0;

/// Slots at either place that agree with a gap, at least; and correlation over that at the other place.
constexpr double clear_share = 0.9;

/// A slot is at the place where its SNR is higher by this factor, else where its timing offset is smaller.
constexpr double clear_snr = 1.26;

/// Without an SNR that is higher at one place, this many slots on either side show a gap inside a prefix: in
/// fading the timing of a slot is that of its strongest paths.
constexpr std::ptrdiff_t enough_slots = 3;

double snr_of(const SlotReport& report) {
    return std::isfinite(report.snr_db) ? elementary::power_ratio(report.snr_db) : 0.0;
}

struct Fitting {
    std::vector<bool> slots;  ///< whether a slot is received better at this place
    bool by_snr = false;      ///< of one at least the SNR says so
};

/// DM-RS may agree at both places, but then the samples of other symbols disturb them at one.
Fitting fitting(const std::vector<SlotReport>& reports, const std::vector<SlotReport>& elsewhere,
                double least) {
    Fitting result;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const double snr = snr_of(reports[i]);
        const double other = elsewhere[i].coherence >= least ? snr_of(elsewhere[i]) : 0.0;
        const bool is_found = reports[i].coherence >= least && snr > 0.0;
        const bool is_nearer = std::fabs(reports[i].timing_offset) < std::fabs(elsewhere[i].timing_offset);
        result.slots.push_back(is_found &&
                               (snr > clear_snr * other || (is_nearer && clear_snr * snr > other)));
        // A coherence that is just below the least one is no difference of the SNR.
        result.by_snr = result.by_snr || (is_found && snr > clear_snr * snr_of(elsewhere[i]));
    }
    return result;
}

/// How much worse a slot was received than its neighbour; 0 without either.
double damage_of(const SlotReport* slot, const SlotReport* neighbour) {
    if (slot == nullptr || neighbour == nullptr) return 0.0;
    if (slot->erasures > neighbour->erasures) return std::numeric_limits<double>::infinity();
    const double errors = slot->evm / neighbour->evm;
    const double over_noise =
        std::sqrt(elementary::power_ratio(slot->error_over_noise_db - neighbour->error_over_noise_db));
    return std::isfinite(over_noise) ? std::max(over_noise, errors / fading) : errors;
}

}  // namespace

std::vector<SlotReport> GapSearch::received(const GapBounds& bounds, const SlotPlace& place) const {
    ReceiverConfig config = config_;
    config.link.carrier.frequency_shift -= place.frequency;
    // A given one would hide how other symbols disturb slots at the wrong place.
    config.noise_variance.reset();
    slots_.set_track(Track(SlotPlace{.late = place.late}));
    return received_slots(host_, config, slots_, bounds.first, bounds.end - bounds.first);
}

Gap GapSearch::operator()(const GapBounds& bounds) const {
    const std::vector<SlotReport> before = received(bounds, bounds.before);
    const std::vector<SlotReport> after = received(bounds, bounds.after);
    const double least = min_coherence(config_.link.allocation);
    const auto [is_before, before_by_snr] = fitting(before, after, least);
    const auto [is_after, after_by_snr] = fitting(after, before, least);
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
    const auto slot_at = [&](std::size_t index) { return slots_.schedule().slot(bounds.first + index); };
    const SlotReport* const last = whole_before > 0 ? &before[whole_before - 1] : nullptr;
    const SlotReport* const next = whole_after < count ? &after[whole_after] : nullptr;
    const double damage_before = damage_of(last, whole_before > 1 ? &before[whole_before - 2] : next);
    const double damage_after = damage_of(next, whole_after + 1 < count ? &after[whole_after + 1] : last);
    // Of neighbours, one lacks samples, even if it shows little.
    const bool are_neighbours =
        whole_before > 0 && whole_after < count && slot_at(whole_after) == slot_at(whole_before - 1) + 1;
    const bool is_second = !(damage_before > damage_after);
    if (!(damage_before < damaged) || (are_neighbours && !is_second)) --whole_before;
    if (!(damage_after < damaged) || (are_neighbours && is_second)) ++whole_after;
    // Slots between occasions may be whole; nobody asks for them.
    const std::uint64_t first_lost = whole_before > 0 ? slot_at(whole_before - 1) + 1 : slot_at(0);
    slots_.set_track(Track(SlotPlace{.late = bounds.before.late}));
    const std::ptrdiff_t enough = before_by_snr || after_by_snr ? 1 : enough_slots;
    return {.sample = slots_.begin_of(first_lost),
            .missing = bounds.before.late - bounds.after.late,
            .first_lost = first_lost,
            .first_whole = slot_at(whole_after),
            .is_clear = agree_before >= enough && best >= agree_before + enough &&
                        static_cast<double>(best) >= clear_share * either};
}

namespace {

/// A slot that was found near the place of another one.
struct FoundAt {
    std::uint64_t near = 0;
    int searched = 0;     ///< in a frame
    std::int64_t at = 0;  ///< sample
};

/// The number of a slot that was found, with the fewest missing samples: others may have the same DM-RS.
std::uint64_t number_of(const SlotAllocation& allocation, const CaptureSlots& slots, const FoundAt& found) {
    const auto tolerance = static_cast<std::int64_t>(slots.input_per_slot() / (2 * symbols_per_slot));
    const auto of_frame = static_cast<std::uint64_t>(slots.schedule().slots_per_frame());
    const auto pilots = [&](std::uint64_t slot) {
        std::vector<cf32> result(dmrs_pilot_count(allocation));
        dmrs_pilots(allocation, static_cast<int>(slot % of_frame), result);
        return result;
    };
    const auto is_behind = [&](std::uint64_t slot) { return found.at - slots.begin_of(slot) > tolerance; };
    std::uint64_t number = found.near;
    while (number > slots.schedule().first_slot() && !is_behind(number - 1))
        --number;
    while (is_behind(number))
        ++number;
    const std::vector<cf32> expected = pilots(static_cast<std::uint64_t>(found.searched));
    const auto is_like_it = [&](std::uint64_t slot) {
        return std::ranges::binary_search(slots.schedule().slots(), static_cast<int>(slot % of_frame)) &&
               pilots(slot) == expected;
    };
    while (!is_like_it(number))
        ++number;
    return number;
}

}  // namespace

std::optional<Track::Point> find_slot_near(const Host& host, const ReceiverConfig& config,
                                           CaptureSlots& slots, std::uint64_t slot,
                                           const SlotPlace& expected) {
    const SlotSchedule& schedule = slots.schedule();
    const auto of_frame = static_cast<std::uint64_t>(schedule.slots_per_frame());
    const auto frame = static_cast<std::int64_t>(std::llround(0.01 * *config.link.carrier.sample_rate));
    const auto length = static_cast<std::int64_t>(slots.signal().length());
    const auto of_slot = static_cast<std::int64_t>(slots.input_per_slot());
    const std::int64_t begin =
        std::max<std::int64_t>(std::min(slots.begin_of(slot) - of_slot, length - frame), 0);
    if (length - begin < of_slot) return {};
    const auto find_from = [&](const ReceiverConfig& searching_for, std::int64_t first) {
        const std::vector<std::byte> samples = slots.read_samples(
            static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(frame + 2 * of_slot));
        auto found = find_first_slot(host, searching_for, SymbolView(slots.format(), samples));
        if (found) found->first_sample += static_cast<std::uint64_t>(first);
        return found;
    };
    const DmrsConfig& dmrs = config.link.allocation.dmrs;
    const bool slots_are_equal = dmrs.transform_precoding && dmrs.hopping == SequenceHopping::none;
    std::vector<int> numbers = schedule.slots();
    const auto own = std::ranges::find(numbers, static_cast<int>(slot % of_frame));
    if (own != numbers.end()) std::rotate(numbers.begin(), own, numbers.end());
    for (const int searched : numbers) {
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
        const auto at = static_cast<std::int64_t>(found->first_sample);
        const std::uint64_t number =
            number_of(config.link.allocation, slots, {.near = slot, .searched = searched, .at = at});
        const std::int64_t late = at - slots.begin_of(number);
        return Track::Point{
            .slot = number,
            .place = {.late = expected.late + static_cast<double>(late), .frequency = expected.frequency}};
    }
    return {};
}

}  // namespace phy::detail
