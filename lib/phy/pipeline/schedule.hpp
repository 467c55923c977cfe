#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy::detail {

/// Bytes of the chunks with which a stream of this size crosses a link fastest. With larger chunks one
/// direction waits longer for the other at both ends of the stream; with smaller chunks there are more gaps.
/// The sum is smallest at the geometric mean of stream and gap.
std::size_t fast_chunk_bytes(double stream_bytes, const PipelineTuning& tuning);

/// Cuts a stream of items into chunks: all but the last are equal.
class Schedule {
public:
    /// max and min are multiples of the granularity.
    struct Limits {
        std::size_t max;              ///< max items per chunk
        std::size_t min;              ///< min items if there are several chunks; at most `max`
        std::size_t granularity = 1;  ///< all chunks but the last are multiples of it
    };

    /// All chunks but the last have `max` items.
    static Limits even(std::size_t items) { return {.max = items, .min = items}; }

    /// items may be Source::endless. first: index of the first item, a multiple of the granularity.
    Schedule(std::uint64_t items, const Limits& limits, std::uint64_t first = 0);

    /// The next chunk, without its buffer set; none at the end.
    std::optional<Chunk> next();

    /// Ends the stream after the last chunk returned.
    void end() { end_ = next_.first; }

    /// True if no chunks follow.
    [[nodiscard]] bool is_done() const { return next_.first == end_; }

    /// True if there is at most one chunk.
    [[nodiscard]] bool is_single() const { return is_single_; }

private:
    std::uint64_t end_;
    std::uint64_t full_;  ///< items of all chunks but the last
    bool is_single_;
    Chunk next_;
};

}  // namespace phy::detail
