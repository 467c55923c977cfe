#include "phy/files/receive/follow.hpp"

#include <algorithm>
#include <cmath>
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

/// What differs more from the prediction is a jump: over a prefix, and a ratio for the clock's change.
constexpr double max_step = 0.2;
constexpr double max_clock_change = 2e-6;

class Follower {
public:
    Follower(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
             const ReceiveOptions& options)
        : host_(host),
          config_(config),
          slots_(slots),
          options_(options),
          rate_(config.link.carrier.sample_rate.value()),
          prefix_(prefix * rate_ / config.link.carrier.subcarrier_spacing),
          slot_seconds_(0.01 / slots.schedule().slots_per_frame()),
          distance_(max_prefix_share * prefix / (max_clock_offset * config.link.carrier.subcarrier_spacing)) {
    }

    /// From an occasion whose offsets are corrected.
    void follow(std::uint64_t first, double late);

    [[nodiscard]] std::vector<Track::Stretch>& stretches() { return stretches_; }
    [[nodiscard]] const std::vector<Gap>& gaps() const { return gaps_; }

private:
    [[nodiscard]] std::vector<Track::Point>& points() { return stretches_.back().points; }
    [[nodiscard]] std::uint64_t first_occasion_from(std::uint64_t slot) const;
    [[nodiscard]] std::uint64_t measured_at(std::uint64_t occasion) const;
    [[nodiscard]] SlotPlace expected_at(std::uint64_t slot);
    [[nodiscard]] std::optional<std::uint64_t> next_after(std::uint64_t occasion);
    std::optional<Track::Point> measure(std::uint64_t occasion, const SlotPlace& expected);
    void take(std::uint64_t occasion);
    std::optional<Track::Point> search(std::uint64_t slot);
    void jump(const Track::Point& point, std::uint64_t slot);

    const Host& host_;
    const ReceiverConfig& config_;
    CaptureSlots& slots_;
    const ReceiveOptions& options_;
    double rate_;
    double prefix_;  ///< samples
    double slot_seconds_;
    double distance_;  ///< s to the next measurement
    std::vector<Track::Stretch> stretches_;
    std::vector<Gap> gaps_;
};

std::uint64_t Follower::first_occasion_from(std::uint64_t slot) const {
    return slots_.schedule().occasions(std::max(slot, slots_.schedule().first_slot()) -
                                       slots_.schedule().first_slot());
}

/// The slot in the middle of those that are measured from an occasion on.
std::uint64_t Follower::measured_at(std::uint64_t occasion) const {
    const std::uint64_t count =
        std::min(measured_slots, slots_.occasions() - std::min(occasion, slots_.occasions()));
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
    const std::uint64_t next = std::min(first_occasion_from(slot + ahead), last);
    return next > occasion ? std::optional(next) : std::nullopt;
}

std::optional<Track::Point> Follower::measure(std::uint64_t occasion, const SlotPlace& expected) {
    ReceiverConfig config = config_;
    config.link.carrier.frequency_shift -= expected.frequency;
    slots_.set_track(Track(SlotPlace{.late = expected.late}));
    if (occasion >= slots_.occasions()) return {};
    const Offsets offsets = measured_from(host_, config, slots_, occasion);
    if (offsets.coherence == 0.0) return {};
    const double read = slots_.lateness_of(slots_.schedule().slot(occasion));
    return Track::Point{.slot = measured_at(occasion),
                        .place = {.late = read + offsets.timing * rate_,
                                  .frequency = expected.frequency + offsets.frequency}};
}

/// Where a slot lies around the place of one that was expected there, and was not.
std::optional<Track::Point> Follower::search(std::uint64_t slot) {
    const SlotPlace expected = expected_at(slot);
    ReceiverConfig config = config_;
    config.link.carrier.frequency_shift -= expected.frequency;
    slots_.set_track(Track(SlotPlace{.late = expected.late}));
    return find_slot_near(host_, config, slots_, slot, expected);
}

/// The slots lie elsewhere from somewhere between the last point and a slot on.
void Follower::jump(const Track::Point& point, std::uint64_t slot) {
    // The slots around the last point may be measured in spite of a gap.
    const std::uint64_t last = first_occasion_from(points().back().slot);
    const std::uint64_t from =
        std::max(last - std::min(last, measured_slots), first_occasion_from(stretches_.back().first));
    const GapSearch find_gap(host_, config_, slots_);
    const Gap gap = find_gap({.first = from,
                              .end = first_occasion_from(slot) + 1,
                              .before = expected_at(slot),
                              .after = point.place});
    stretches_.back().end = gap.first_lost;
    stretches_.push_back({.first = gap.first_whole, .points = {point}});
    gaps_.push_back(gap);
}

void Follower::take(std::uint64_t occasion) {
    const std::uint64_t slot = measured_at(occasion);
    const SlotPlace expected = expected_at(slot);
    std::optional<Track::Point> point = measure(occasion, expected);
    if (!point) {
        point = search(slots_.schedule().slot(occasion));
        if (!point) return;
        if (const auto refined = measure(first_occasion_from(point->slot), point->place)) point = refined;
    }
    const double seconds = slot_seconds_ * static_cast<double>(point->slot - points().back().slot);
    const double most =
        max_step * prefix_ + (points().size() == 1 ? max_clock_offset : max_clock_change) * seconds * rate_;
    if (std::fabs(point->place.late - expected_at(point->slot).late) > most)
        jump(*point, point->slot);
    else if (point->slot > points().back().slot)
        points().push_back(*point);
}

void Follower::follow(std::uint64_t first, double late) {
    stretches_ = {{.points = {{.slot = measured_at(first), .place = {.late = late}}}}};
    std::optional<std::uint64_t> occasion = first;
    while ((occasion = next_after(*occasion)) && !options_.stop.stop_requested()) {
        if (options_.progress) options_.progress(0, 1);
        take(*occasion);
        distance_ = std::min(growth * distance_, max_distance);
    }
}

void report_gap(Reception& result, const MissingSamples& gap) {
    result.gaps.push_back(gap);
    const std::string name = result.capture.file.string();
    if (gap.missing < 0) {
        result.warnings.push_back(name + ": " + std::to_string(-gap.missing) +
                                  " samples too many at about sample " + std::to_string(gap.sample) + ": " +
                                  std::to_string(gap.lost_slots) + " slots are lost");
        return;
    }
    result.warnings.push_back(name + ": " + std::to_string(gap.missing) +
                              " samples are missing at about sample " + std::to_string(gap.sample) +
                              ", or whole frames more: " + std::to_string(gap.lost_slots) +
                              (gap.lost_slots == 1 ? " slot is lost" : " slots are lost"));
}

}  // namespace

void follow_slots(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                  const CorrectedOffsets& corrected, Reception& result, const ReceiveOptions& options) {
    const std::uint64_t first = corrected.first;
    Follower follower(host, config, slots, options);
    follower.follow(first, corrected.late);
    result.corrected = corrected.offsets;
    choose_corrections(host, config, slots, std::move(follower.stretches()), first, result);
    const double rate = *config.link.carrier.sample_rate;
    result.corrected.timing = slots.lateness_of(slots.schedule().slot(first)) / rate;
    const double ratio = slots.signal().recorded_rate() / rate;
    for (const Gap& gap : follower.gaps()) {
        const auto sample = static_cast<std::uint64_t>(std::max<std::int64_t>(gap.sample, 0));
        report_gap(result, {.sample = slots.signal().recorded(sample),
                            .missing = std::llround(gap.missing * ratio),
                            .first_lost = gap.first_lost,
                            .lost_slots = gap.first_whole - gap.first_lost});
    }
}

}  // namespace phy::detail
