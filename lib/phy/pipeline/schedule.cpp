#include "phy/pipeline/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace phy::detail {
namespace {

/// A stream has about this many chunks or more, unless they become too small, so that steps overlap.
constexpr std::uint64_t min_pieces = 4;

/// Chunks are multiples of this: of the granularity and, if chunks remain small enough, of 64 items, so that
/// aligned arrays give aligned chunks whatever the size of an item.
std::uint64_t unit_of(const Schedule::Limits& limits) {
    constexpr std::uint64_t alignment = 64;
    const std::uint64_t factor = alignment / std::gcd<std::uint64_t>(alignment, limits.granularity);
    const std::uint64_t most = std::max<std::uint64_t>(limits.min, alignment);
    return limits.granularity <= most / factor ? limits.granularity * factor : limits.granularity;
}

std::uint64_t piece_of(std::uint64_t items, std::uint64_t unit) {
    const std::uint64_t units = items / unit + (items % unit == 0 ? 0 : 1);
    return unit * (units / min_pieces + (units % min_pieces == 0 ? 0 : 1));
}

}  // namespace

std::size_t fast_chunk_bytes(double stream_bytes, const PipelineTuning& tuning) {
    const double best = std::sqrt(stream_bytes * static_cast<double>(tuning.gap_bytes));
    return static_cast<std::size_t>(
        std::clamp(best, static_cast<double>(tuning.min_bytes), static_cast<double>(tuning.chunk_bytes)));
}

Schedule::Schedule(std::uint64_t items, const Limits& limits, std::uint64_t first)
    : end_(items > Source::endless - first ? Source::endless : first + items),
      full_(std::clamp<std::uint64_t>(piece_of(items, unit_of(limits)), limits.min, limits.max)),
      is_single_(items <= full_) {
    next_.first = first;
}

std::optional<Chunk> Schedule::next() {
    if (is_done()) return std::nullopt;
    next_.items = static_cast<std::size_t>(std::min(full_, end_ - next_.first));
    const Chunk chunk = next_;
    next_.first += next_.items;
    ++next_.index;
    return chunk;
}

}  // namespace phy::detail
