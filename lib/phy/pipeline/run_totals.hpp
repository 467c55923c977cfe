#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/pipeline/buffer_set.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy::detail {

/// Totals of a run. For one thread.
class RunTotals {
public:
    explicit RunTotals(bool trace) : trace_(trace) {}

    void add_read(const Chunk& chunk, const Period& read) { add(PipelineSpan::Step::read, chunk, read); }

    /// For a chunk that was timed.
    void add_times(const Chunk& chunk, const ChunkTimes& times);

    /// The last call for a chunk.
    void add_written(const Chunk& chunk, const Period& write);

    [[nodiscard]] std::uint64_t items() const { return items_; }
    [[nodiscard]] std::uint64_t chunks() const { return chunks_; }

    /// In the order of the steps, with or without copies.
    [[nodiscard]] std::vector<PipelineReport::Busy> busy(std::string_view stage, bool copies) const;

    [[nodiscard]] std::vector<PipelineSpan> take_spans() { return std::move(spans_); }

private:
    void add(PipelineSpan::Step step, const Chunk& chunk, const Period& period);

    bool trace_;
    bool has_stand_in_ = false;
    std::uint64_t items_ = 0;
    std::uint64_t chunks_ = 0;
    std::uint64_t timed_items_ = 0;       ///< of chunks whose copies and work were timed
    std::array<double, 5> seconds_ = {};  ///< by PipelineSpan::Step; of timed chunks
    std::vector<PipelineSpan> spans_;
};

}  // namespace phy::detail
