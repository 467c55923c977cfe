#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/ports.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy::detail {

/// Chunks in flight, and which sizes the user gave.
struct WantedSizes {
    std::size_t chunk;        ///< items per chunk
    std::size_t buffer_sets;  ///< in all places
    std::size_t places;       ///< each has scratch memory
    bool chunk_is_given = false;
    bool buffer_sets_are_given = false;
};

/// The number of items in a stage's chunks: always a multiple of its granularity.
class ChunkSizes {
public:
    ChunkSizes(const Stage& stage, const StagePorts& ports);

    [[nodiscard]] std::size_t granularity() const { return granularity_; }

    /// items rounded up to a multiple of the granularity.
    [[nodiscard]] std::size_t rounded(std::size_t items) const { return round_up(items, granularity_); }

    /// Items of a chunk with this many bytes in its larger direction (input or output).
    [[nodiscard]] std::size_t items_for_bytes(std::size_t bytes) const;

    /// Items of the chunks with which a stream crosses a link fastest.
    [[nodiscard]] std::size_t fast(std::uint64_t items, const PipelineTuning& tuning) const;

    /// Throws PipelineSizeError if there are too many buffer sets, or if they need more than half of this
    /// machine's memory. Checked before any allocation: the system grants more memory than it has and kills
    /// processes that use it.
    void check_memory(const WantedSizes& wanted) const;

private:
    /// Bytes needed. May omit scratch memory if the rest already exceeds `enough`.
    [[nodiscard]] double memory_of(const WantedSizes& wanted, double enough) const;
    [[nodiscard]] PipelineSizeError::Culprit culprit_of(const WantedSizes& wanted, double most) const;

    const Stage& stage_;
    const StagePorts& ports_;
    std::size_t granularity_;
    std::size_t bytes_of_sample_;  ///< of `sample` items, in the larger direction
};

}  // namespace phy::detail
