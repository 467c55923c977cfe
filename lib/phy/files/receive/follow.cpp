#include "phy/files/receive/follow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/correct.hpp"
#include "phy/files/receive/gap.hpp"

namespace phy::detail {
namespace {

/// Until a clock is known: a ratio.
constexpr double max_clock_offset = 30e-6;

/// A prediction may be off by this share of a prefix.
constexpr double max_prefix_share = 0.25;
constexpr double prefix = 144.0 / 2048.0;

/// Between measurements, in s.
constexpr double max_distance = 0.5;
constexpr double growth = 2.0;

/// Of the slots between a point and one that is elsewhere.
constexpr int max_halvings = 8;

/// A place is doubtful if its coherence is below this share of the one before, or its noise above this
/// multiple: at a wrong place DM-RS may agree, but other symbols disturb them.
constexpr double clear_share = 0.8;
constexpr double clear_noise = 2.0;

/// What differs more from the prediction may be a jump: over a prefix, and a ratio for the clock's change. In
/// fading the timing changes from path to path, but by less than a prefix.
constexpr double max_step = 0.2;
constexpr double max_clock_change = 2e-6;

/// A measured point, and how well the DM-RS agree there.
struct Measured {
    Track::Point point;
    double coherence = 0.0;
    double noise = 0.0;  ///< over all antennas
};

double sum_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

class Follower {
public:
    Follower(const Host& host, const ReceiverConfig& config, CaptureSlots& slots, const Offsets& offsets,
             const ReceiveOptions& options)
        : host_(host),
          config_(config),
          slots_(slots),
          options_(options),
          rate_(config.link.carrier.sample_rate.value()),
          prefix_(prefix * rate_ / config.link.carrier.subcarrier_spacing),
          slot_seconds_(0.01 / slots.schedule().slots_per_frame()),
          distance_(max_prefix_share * prefix / (max_clock_offset * config.link.carrier.subcarrier_spacing)),
          coherence_(offsets.coherence),
          noise_(sum_of(offsets.noise)) {}

    /// From an occasion whose offsets are corrected.
    void follow(std::uint64_t first, double late);

    [[nodiscard]] const std::vector<Track::Stretch>& stretches() const { return stretches_; }
    [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }

    /// The first slot whose DM-RS agree less than before, where equal DM-RS of slots do not tell why.
    [[nodiscard]] std::optional<std::uint64_t> doubtful() const { return doubtful_; }

private:
    [[nodiscard]] std::vector<Track::Point>& points() { return stretches_.back().points; }
    [[nodiscard]] std::uint64_t measured_at(std::uint64_t occasion,
                                            std::uint64_t most = measured_slots) const;
    [[nodiscard]] SlotPlace expected_at(std::uint64_t slot);
    [[nodiscard]] std::optional<std::uint64_t> next_after(std::uint64_t occasion);
    std::optional<Measured> measure(std::uint64_t occasion, const SlotPlace& expected,
                                    std::uint64_t most = measured_slots);
    void take(std::uint64_t occasion, bool is_last, int halvings = 0);
    std::optional<Measured> search(std::uint64_t slot);
    [[nodiscard]] double distance_from(const Track::Point& point);
    [[nodiscard]] double drift_to(const Track::Point& point);
    [[nodiscard]] bool is_elsewhere(const Track::Point& point) {
        return distance_from(point) > max_step * prefix_ + drift_to(point);
    }
    void measure_beside(const Gap& gap, std::uint64_t first, Measured& behind);
    void jump(Measured found);

    const Host& host_;
    const ReceiverConfig& config_;
    CaptureSlots& slots_;
    const ReceiveOptions& options_;
    double rate_;
    double prefix_;  ///< samples
    double slot_seconds_;
    double distance_;           ///< s to the next measurement
    double coherence_;          ///< of the last point
    double noise_;              ///< of the last point
    std::uint64_t absent_ = 0;  ///< measurements without DM-RS since then
    std::vector<Track::Stretch> stretches_;
    std::vector<Gap> gaps_;
    std::optional<std::uint64_t> doubtful_;
};

/// The slot in the middle of those that are measured from an occasion on.
std::uint64_t Follower::measured_at(std::uint64_t occasion, std::uint64_t most) const {
    const std::uint64_t count = std::min(most, slots_.occasions() - std::min(occasion, slots_.occasions()));
    return slots_.schedule().slot(occasion + (std::max<std::uint64_t>(count, 1) - 1) / 2);
}

/// With the slope of the points before.
SlotPlace Follower::expected_at(std::uint64_t slot) {
    const Track::Point& last = points().back();
    const double slots = static_cast<double>(static_cast<std::int64_t>(slot - last.slot));
    SlotPlace place = last.place;
    place.late += slots * slope_at(points(), points().size() - 1);
    return place;
}

std::optional<std::uint64_t> Follower::next_after(std::uint64_t occasion) {
    const std::uint64_t slot = slots_.schedule().slot(occasion);
    slots_.set_track(Track(expected_at(slot)));
    const std::uint64_t all = slots_.occasions();
    const std::uint64_t last = all - std::min(measured_slots, all);
    const auto ahead = static_cast<std::uint64_t>(std::ceil(distance_ / slot_seconds_));
    const std::uint64_t next = std::min(slots_.occasion_from(slot + ahead), last);
    return next > occasion ? std::optional(next) : std::nullopt;
}

std::optional<Measured> Follower::measure(std::uint64_t occasion, const SlotPlace& expected,
                                          std::uint64_t most) {
    ReceiverConfig config = config_;
    config.link.carrier.frequency_shift -= expected.frequency;
    slots_.set_track(Track(SlotPlace{.late = expected.late}));
    if (occasion >= slots_.occasions()) return {};
    const Offsets offsets = measured_from(host_, config, slots_, occasion, most);
    if (offsets.coherence == 0.0) return {};
    const double read = slots_.lateness_of(slots_.schedule().slot(occasion));
    return Measured{.point = {.slot = measured_at(occasion, most),
                              .place = {.late = read + offsets.timing * rate_,
                                        .frequency = expected.frequency + offsets.frequency}},
                    .coherence = offsets.coherence,
                    .noise = sum_of(offsets.noise)};
}

/// Where a slot lies around the place of one that was expected there, and is not or seems to be elsewhere:
/// DM-RS show the timing modulo a part of a symbol.
std::optional<Measured> Follower::search(std::uint64_t slot) {
    const SlotPlace expected = expected_at(slot);
    ReceiverConfig config = config_;
    config.link.carrier.frequency_shift -= expected.frequency;
    slots_.set_track(Track(SlotPlace{.late = expected.late}));
    const auto found = find_slot_near(host_, config, slots_, slot, expected);
    if (!found) return {};
    const auto refined = measure(slots_.occasion_from(found->slot), found->place, 1);
    const bool agrees =
        refined && std::fabs(refined->point.place.late - found->place.late) < max_prefix_share * prefix_;
    return agrees ? refined : Measured{.point = *found, .coherence = coherence_, .noise = noise_};
}

/// Samples from where it was expected.
double Follower::distance_from(const Track::Point& point) {
    return std::fabs(point.place.late - expected_at(point.slot).late);
}

/// Samples that a change of the clock explains.
double Follower::drift_to(const Track::Point& point) {
    const auto slots = static_cast<double>(static_cast<std::int64_t>(point.slot - points().back().slot));
    const double change = points().size() == 1 ? max_clock_offset : max_clock_change;
    return change * slot_seconds_ * std::fabs(slots) * rate_;
}

/// Slots beside the gap show their places best: others may have been measured together with slots behind it.
/// first: occasion before the gap; behind: a slot behind it.
void Follower::measure_beside(const Gap& gap, std::uint64_t first, Measured& behind) {
    const SlotPlace expected = expected_at(gap.first_lost);
    const std::uint64_t lost = slots_.occasion_from(gap.first_lost);
    const auto is_late = [&](const Track::Point& its) {
        return slots_.occasion_from(its.slot) + measured_slots / 2 >= lost;
    };
    const auto is_near = [&](const std::optional<Measured>& measured, const SlotPlace& place) {
        return measured && std::fabs(measured->point.place.late - place.late) < prefix_;
    };
    const std::uint64_t count = std::min(lost - first, measured_slots);
    const auto ahead = count > 0 ? measure(lost - count, expected, count) : std::nullopt;
    if (is_near(ahead, expected)) {
        std::erase_if(points(),
                      [&](const Track::Point& its) { return is_late(its) || its.slot >= ahead->point.slot; });
        points().push_back(ahead->point);
    } else {
        std::erase_if(points(), [&, front = points().front().slot](const Track::Point& its) {
            return is_late(its) && its.slot != front;
        });
    }
    const auto next = measure(slots_.occasion_from(gap.first_whole), behind.point.place);
    if (is_near(next, behind.point.place)) behind = *next;
}

/// The slots lie elsewhere from somewhere between the last point and this one on, if slots show it.
void Follower::jump(Measured found) {
    // The slots around the last point may be measured in spite of a gap.
    const std::uint64_t last = slots_.occasion_from(points().back().slot);
    const std::uint64_t from =
        std::max(last - std::min(last, measured_slots), slots_.occasion_from(stretches_.back().first));
    slots_.set_track(Track(found.point.place));
    const std::uint64_t end =
        std::min(slots_.occasion_from(found.point.slot) + measured_slots / 2, slots_.occasions());
    if (from >= end) return;
    const Gap gap = GapSearch(host_, config_, slots_)(
        {.first = from, .end = end, .before = expected_at(found.point.slot), .after = found.point.place});
    if (!gap.is_clear) return;
    const std::vector<Track::Point> known = points();
    measure_beside(gap, from, found);
    // Slots beside the gap show that it is none.
    if (distance_from(found.point) < max_step * prefix_) {
        points() = known;
        return;
    }
    stretches_.back().end = gap.first_lost;
    gaps_.push_back(gap);
    gaps_.back().missing = expected_at(found.point.slot).late - found.point.place.late;
    // The clock goes on as before.
    Track::Point before = points().back();
    before.place.late -= gaps_.back().missing;
    stretches_.push_back({.first = gap.first_whole, .points = {found.point}});
    if (before.slot < found.point.slot) points().insert(points().begin(), before);
    coherence_ = found.coherence;
    noise_ = found.noise;
    absent_ = 0;
}

void Follower::take(std::uint64_t occasion, bool is_last, int halvings) {
    const std::optional<Measured> measured = measure(occasion, expected_at(measured_at(occasion)));
    // In a long pause searches become rare.
    absent_ = measured ? 0 : absent_ + 1;
    if (absent_ > 1 && !is_last && !std::has_single_bit(absent_)) return;
    const bool is_clear = measured && measured->coherence >= clear_share * coherence_;
    if (!is_clear || measured->noise > clear_noise * noise_ || is_elsewhere(measured->point)) {
        // The last of the measured slots: a gap among them lies before it.
        const std::uint64_t searched = std::min(occasion + measured_slots, slots_.occasions()) - 1;
        const auto found = search(slots_.schedule().slot(searched));
        if (found && is_elsewhere(found->point)) {
            // There may be several gaps, and the clock goes on: the nearer the slots, the clearer is where
            // they lie.
            const std::uint64_t last = slots_.occasion_from(points().back().slot);
            if (halvings < max_halvings && occasion > last + 2 * measured_slots) {
                const std::size_t known = points().size() + gaps_.size();
                take(last + (occasion - last) / 2, false, halvings + 1);
                const bool helped = points().size() + gaps_.size() > known;
                return take(occasion, is_last, helped ? halvings + 1 : max_halvings);
            }
            jump(*found);
            return;
        }
    }
    const DmrsConfig& dmrs = config_.link.allocation.dmrs;
    if (!is_clear && measured && dmrs.transform_precoding && dmrs.hopping == SequenceHopping::none &&
        !doubtful_)
        doubtful_ = slots_.schedule().slot(occasion);
    if (!measured || is_last || measured->point.slot <= points().back().slot) return;
    if (distance_from(measured->point) > prefix_ + drift_to(measured->point)) return;
    points().push_back(measured->point);
    coherence_ = measured->coherence;
    noise_ = measured->noise;
}

void Follower::follow(std::uint64_t first, double late) {
    stretches_ = {{.points = {{.slot = measured_at(first), .place = {.late = late}}}}};
    // A gap among the slots that were measured first raised their noise.
    if (const auto alone = measure(first, {.late = late}, 1)) noise_ = std::min(noise_, alone->noise);
    std::uint64_t last = first;
    while (const auto next = next_after(last)) {
        if (options_.stop.stop_requested()) return;
        if (options_.progress) options_.progress(0, 1);
        take(*next, false);
        last = *next;
        distance_ = std::min(growth * distance_, max_distance);
    }
    // A gap in the slots that were measured together.
    if (last + 1 < slots_.occasions()) take(slots_.occasions() - 1, true);
}

void report_gap(Reception& result, const MissingSamples& gap) {
    result.gaps.push_back(gap);
    const std::string lost = gap.lost_slots == 0   ? "no slot of the link is lost"
                             : gap.lost_slots == 1 ? "1 slot is lost"
                                                   : std::to_string(gap.lost_slots) + " slots are lost";
    const std::string place = " at about sample " + std::to_string(gap.sample);
    result.warnings.push_back(
        name_of(result.capture) + ": " +
        (gap.missing < 0 ? std::to_string(-gap.missing) + " samples are too many" + place + ": " + lost
                         : std::to_string(gap.missing) + " samples are missing" + place +
                               ", or whole frames more: " + lost));
}

}  // namespace

void follow_slots(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                  const CorrectedOffsets& corrected, Reception& result, const ReceiveOptions& options) {
    const std::uint64_t first = corrected.first;
    Follower follower(host, config, slots, corrected.offsets, options);
    follower.follow(first, corrected.late);
    result.corrected = corrected.offsets;
    choose_corrections(host, config, slots, follower.stretches(), first, result);
    const double rate = *config.link.carrier.sample_rate;
    result.corrected.timing = slots.lateness_of(slots.schedule().slot(first)) / rate;
    if (const auto slot = follower.doubtful())
        result.warnings.push_back(name_of(result.capture) + ": the DM-RS agree less at slot " +
                                  std::to_string(*slot) +
                                  " than before: samples may be missing before it, which DM-RS that are the "
                                  "same in every slot do not show");
    const double ratio = slots.signal().recorded_rate() / rate;
    for (const Gap& gap : follower.gaps()) {
        const auto sample = static_cast<std::uint64_t>(std::max<std::int64_t>(gap.sample, 0));
        report_gap(result, {.sample = slots.signal().recorded(sample),
                            .missing = std::llround(gap.missing * ratio),
                            .first_lost = gap.first_lost,
                            .end_lost = gap.first_whole,
                            .lost_slots =
                                slots.occasion_from(gap.first_whole) - slots.occasion_from(gap.first_lost)});
    }
}

}  // namespace phy::detail
