#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace phy::detail {

/// How a slot lies in a recording.
struct SlotPlace {
    double late = 0.0;       ///< samples of the receiver from where the link's timing puts it to where it is
    double frequency = 0.0;  ///< Hz, beyond the link's frequency_shift; positive: too high
    double clock = 0.0;      ///< the recorder's clock is fast by this ratio

    friend bool operator==(const SlotPlace&, const SlotPlace&) = default;
};

/// The places of slots: linear between measured ones, with jumps where samples are missing.
class Track {
public:
    struct Point {
        std::uint64_t slot = 0;  ///< number as in SlotSchedule
        SlotPlace place;
    };

    /// Slots without a gap.
    struct Stretch {
        std::uint64_t first = 0;                                        ///< the first slot that is whole
        std::uint64_t end = std::numeric_limits<std::uint64_t>::max();  ///< behind the last one
        std::vector<Point> points;                                      ///< by slot; at least one
    };

    /// All slots alike.
    explicit Track(const SlotPlace& place = {}) : stretches_{{.points = {{.place = place}}}} {}

    /// stretches: by slot.
    explicit Track(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {}

    /// Beyond the measured slots of a stretch, the lateness goes on as between the nearest ones.
    [[nodiscard]] SlotPlace at(std::uint64_t slot) const;

    /// True for slots with missing samples.
    [[nodiscard]] bool is_lost(std::uint64_t slot) const;

    [[nodiscard]] std::span<const Stretch> stretches() const { return stretches_; }
    [[nodiscard]] std::span<Stretch> stretches() { return stretches_; }

private:
    [[nodiscard]] const Stretch& stretch_of(std::uint64_t slot) const;

    std::vector<Stretch> stretches_;
};

/// Slope of the lateness, in samples per slot, around a point: over it and up to four measured ones to either
/// side. 0 for a single point.
double slope_at(std::span<const Track::Point> points, std::size_t point);

}  // namespace phy::detail
