#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/pipeline/ports.hpp"
#include "phy/pipeline/size_error.hpp"
#include "phy/pipeline/tuning.hpp"

namespace phy::detail {

/// Chunks in flight, and what of them the user wanted so.
struct WantedSizes {
    std::size_t chunk;   ///< items of each
    std::size_t lanes;   ///< of all places
    std::size_t places;  ///< each of which has scratch memory
    bool chunk_is_given = false;
    bool lanes_are_given = false;
};

/// How many items chunks of a stage are to have: always a multiple of its granularity.
class ChunkSizes {
public:
    ChunkSizes(const Stage& stage, const StagePorts& ports);

    [[nodiscard]] std::size_t granularity() const { return granularity_; }

    /// At least as many.
    [[nodiscard]] std::size_t rounded(std::size_t items) const { return round_up(items, granularity_); }

    /// Those that have that many bytes, in the direction that has more of them.
    [[nodiscard]] std::size_t of_bytes(std::size_t bytes) const;

    /// Those with which a stream gets over a link soonest.
    [[nodiscard]] std::size_t fast(std::uint64_t items, const PipelineTuning& tuning) const;

    /// Throws PipelineSizeError where there are too many lanes, or where they take more than half of this
    /// machine's memory. Refused before anything is allocated: memory that is never used may be had, and the
    /// system ends whoever uses it.
    void check_memory(const WantedSizes& wanted) const;

private:
    /// Where the answer is more than enough, of a part.
    [[nodiscard]] double memory_of(const WantedSizes& wanted, double enough) const;
    [[nodiscard]] PipelineSizeError::Culprit culprit_of(const WantedSizes& wanted, double most) const;

    const Stage& stage_;
    const StagePorts& ports_;
    std::size_t granularity_;
    std::size_t bytes_of_sample_;  ///< of some items, in the direction that has more
};

}  // namespace phy::detail
