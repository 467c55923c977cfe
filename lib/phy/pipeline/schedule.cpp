#include "phy/pipeline/schedule.hpp"

#include <algorithm>

namespace phy::detail {
namespace {

/// So that chunks of what is aligned are aligned, whatever an item's size.
constexpr std::uint64_t unit = 64;

/// A stream is cut into about this many pieces or more, if they are not too small, so that steps overlap.
constexpr std::uint64_t fewest_pieces = 4;

/// Full chunks are this many times as large as the first and the last.
constexpr std::uint64_t ramp = 8;

std::uint64_t whole_units(std::uint64_t items) {
    return std::max(unit, items / unit * unit);
}

std::uint64_t piece_of(std::uint64_t items) {
    const std::uint64_t units = items / unit + (items % unit == 0 ? 0 : 1);
    return unit * (units / fewest_pieces + (units % fewest_pieces == 0 ? 0 : 1));
}

}  // namespace

Schedule::Schedule(std::uint64_t items, const Limits& limits) : items_(items) {
    full_ = std::min<std::uint64_t>(limits.most, std::max<std::uint64_t>(limits.least, piece_of(items)));
    small_ = limits.ramps ? std::min(full_, std::max<std::uint64_t>(limits.least, whole_units(full_ / ramp)))
                          : full_;
}

/// Doubles from the first on, and halves towards the last.
std::uint64_t Schedule::next_size() const {
    const std::uint64_t left = items_ - next_.first;
    const std::uint64_t growing = std::min(full_, next_.first + small_);
    if (left < 2 * small_) return std::min(left, growing);
    return std::min(growing, std::max(small_, whole_units(left / 2)));
}

std::optional<Chunk> Schedule::next() {
    if (is_done()) return std::nullopt;
    next_.items = static_cast<std::size_t>(next_size());
    const Chunk chunk = next_;
    next_.first += next_.items;
    ++next_.index;
    return chunk;
}

}  // namespace phy::detail
