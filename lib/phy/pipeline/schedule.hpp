#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy::detail {

/// Bytes of the chunks with which a stream of so many gets over a link soonest. The larger they are, the
/// longer one direction waits for the other at both ends of the stream; the smaller, the more gaps there are
/// between them. The sum of both is least at the geometric mean of stream and gap.
std::size_t fast_chunk_bytes(double stream_bytes, const PipelineTuning& tuning);

/// How a stream of items is cut: all chunks but the last are equal.
class Schedule {
public:
    /// `most` and `least` are multiples of the granularity.
    struct Limits {
        std::size_t most;             ///< items of a chunk
        std::size_t least;            ///< for a chunk that is one of several; at most `most`
        std::size_t granularity = 1;  ///< all chunks but the last are multiples of it
    };

    /// All chunks but the last have `most` items.
    static Limits even(std::size_t most) { return {.most = most, .least = most}; }

    /// items may be Source::endless.
    Schedule(std::uint64_t items, const Limits& limits);

    /// The next chunk but for its lane; nothing at the end.
    std::optional<Chunk> next();

    /// The last chunk has been the last one.
    void end() { items_ = next_.first; }

    /// There are no further chunks.
    [[nodiscard]] bool is_done() const { return next_.first == items_; }

    /// There is one chunk, or none.
    [[nodiscard]] bool is_single() const { return items_ <= full_; }

private:
    std::uint64_t items_;
    std::uint64_t full_;  ///< items of all chunks but the last
    Chunk next_;
};

}  // namespace phy::detail
