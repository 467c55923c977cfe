#include "phy/capture/broadcast.hpp"

#include <functional>
#include <numeric>
#include <utility>

namespace phy::detail {
namespace {

std::uint64_t size_of(const Dimensions& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

Dimensions without_ones(Dimensions shape) {
    std::erase(shape, 1);
    return shape;
}

bool is_element_for_element(const Dimensions& from, const Dimensions& to) {
    if (size_of(from) != size_of(to)) return false;
    const Dimensions a = without_ones(from);
    const Dimensions b = without_ones(to);
    return a.size() <= 1 || b.size() <= 1 || a == b;
}

bool fits(const Dimensions& from, const Dimensions& to) {
    return std::equal(from.begin(), from.end(), to.begin(), to.end(),
                      [](std::uint64_t a, std::uint64_t b) { return a == b || a == 1; });
}

/// Pads a shape with ones in front or behind.
Dimensions padded(Dimensions shape, std::size_t rank, bool in_front) {
    shape.insert(in_front ? shape.begin() : shape.end(), rank - shape.size(), 1);
    return shape;
}

}  // namespace

std::optional<Broadcast> Broadcast::of(const Dimensions& from, const Dimensions& to) {
    if (is_element_for_element(from, to)) return along({size_of(to)}, {size_of(to)});
    if (size_of(from) == 1) return along(Dimensions(to.size(), 1), to);
    if (from.size() > to.size()) return std::nullopt;
    const Dimensions behind = padded(from, to.size(), true);
    const Dimensions in_front = padded(from, to.size(), false);
    if (!fits(behind, to) || (in_front != behind && fits(in_front, to))) return std::nullopt;
    return along(behind, to);
}

Broadcast Broadcast::along(const Dimensions& from, const Dimensions& to) {
    std::vector<Axis> axes;
    std::uint64_t stride = 1;
    for (std::size_t n = to.size(); n-- > 0;) {
        if (to[n] == 1) continue;
        const bool repeats = from[n] == 1;
        const bool joins = !axes.empty() && (axes.front().stride == 0) == repeats;
        if (joins) {
            axes.front().size *= to[n];
        } else {
            axes.insert(axes.begin(), {to[n], repeats ? 0 : stride});
        }
        stride *= from[n];
    }
    if (axes.empty()) axes.push_back({1, 0});
    return Broadcast(std::move(axes));
}

std::uint64_t Broadcast::begin_of(std::uint64_t row) const {
    std::uint64_t element = 0;
    for (std::size_t n = axes_.size() - 1; n-- > 0;) {
        element += row % axes_[n].size * axes_[n].stride;
        row /= axes_[n].size;
    }
    return element;
}

}  // namespace phy::detail
