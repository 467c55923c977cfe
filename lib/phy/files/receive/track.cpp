#include "phy/files/receive/track.hpp"

#include <algorithm>

namespace phy::detail {
namespace {

constexpr std::size_t neighbours = 4;

double distance(std::uint64_t from, std::uint64_t to) {
    return static_cast<double>(static_cast<std::int64_t>(to - from));
}

}  // namespace

const Track::Stretch& Track::stretch_of(std::uint64_t slot) const {
    const auto after = std::ranges::upper_bound(stretches_, slot, {}, &Stretch::first);
    return after == stretches_.begin() ? *after : *(after - 1);
}

bool Track::is_lost(std::uint64_t slot) const {
    const Stretch& stretch = stretch_of(slot);
    return slot < stretch.first || slot >= stretch.end;
}

SlotPlace Track::at(std::uint64_t slot) const {
    const std::vector<Point>& points = stretch_of(slot).points;
    if (points.size() == 1) return points.front().place;
    const auto after = std::ranges::upper_bound(points, slot, {}, &Point::slot);
    const auto next = std::clamp(after, points.begin() + 1, points.end() - 1);
    const Point& a = *(next - 1);
    const Point& b = *next;
    const double share = distance(a.slot, slot) / distance(a.slot, b.slot);
    const double inside = std::clamp(share, 0.0, 1.0);
    return {.late = a.place.late + share * (b.place.late - a.place.late),
            .frequency = a.place.frequency + inside * (b.place.frequency - a.place.frequency),
            .clock = a.place.clock + inside * (b.place.clock - a.place.clock)};
}

double slope_at(std::span<const Track::Point> points, std::size_t point) {
    const std::size_t first = point - std::min(point, neighbours);
    const auto near = points.subspan(first, std::min(point + neighbours + 1, points.size()) - first);
    double slots = 0.0;
    double late = 0.0;
    for (const Track::Point& other : near) {
        slots += distance(points[point].slot, other.slot) / static_cast<double>(near.size());
        late += other.place.late / static_cast<double>(near.size());
    }
    double covariance = 0.0;
    double variance = 0.0;
    for (const Track::Point& other : near) {
        const double apart = distance(points[point].slot, other.slot) - slots;
        covariance += apart * (other.place.late - late);
        variance += apart * apart;
    }
    return variance > 0.0 ? covariance / variance : 0.0;
}

}  // namespace phy::detail
