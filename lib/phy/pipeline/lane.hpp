#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "phy/pipeline/place.hpp"
#include "phy/pipeline/ports.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy::detail {

using PipelineClock = std::chrono::steady_clock;

/// Seconds since a run began.
struct Period {
    double begin = 0.0;
    double end = 0.0;
};

/// Times of the steps of a chunk. On a CPU there are no copies.
struct LaneTimes {
    std::optional<Period> copy_in;
    Period work;
    std::optional<Period> copy_out;
    bool stands_in = false;  ///< counts only until another chunk is timed
};

/// Properties of a run that lanes need.
struct LaneRun {
    PipelineClock::time_point start;
    bool overlaps;  ///< several chunks may be in flight
    bool trace;     ///< all chunks are timed
};

/// A chunk, its records, and the memory for the stage's output: one array per port.
struct LaneChunk {
    Chunk chunk;
    std::vector<std::span<const std::byte>> from;
    std::vector<std::span<std::byte>> to;
    bool source_lends = false;  ///< `from` is not memory of the lane
    bool sink_lends = false;    ///< `to` is not memory of the lane
};

/// A chunk's memory and the work on it. A lane takes the next chunk after wait() has returned.
class Lane {
public:
    virtual ~Lane() = default;

    /// Arrays in the lane's memory for the records of this many items, which the source writes. Allocated at
    /// the first call, for the largest chunk.
    virtual std::span<const std::span<std::byte>> input(std::size_t items) = 0;

    /// The same for the stage's output.
    virtual std::span<const std::span<std::byte>> output(std::size_t items) = 0;

    /// Starts the next chunk. It must stay valid until wait() returns.
    virtual void take(const LaneChunk& chunk) = 0;

    // The steps of a chunk, in this order. On CUDA they only issue work.
    virtual void copy_in() = 0;
    virtual void work() = 0;
    virtual void copy_out() = 0;

    /// Returns when the stage's output is in `to`.
    virtual void wait() = 0;

    /// Times of the chunk that wait() was called for; none if it was not timed. Called once per chunk of a
    /// place, in order.
    virtual std::optional<LaneTimes> times() = 0;
};

/// The lanes of one place, and what they share: the stage at that place and its scratch memory.
class LaneGroup {
public:
    virtual ~LaneGroup() = default;

    [[nodiscard]] virtual std::span<const std::unique_ptr<Lane>> lanes() const = 0;

    /// Each thread that the pipeline starts calls this first.
    virtual void enter_thread() = 0;

    /// Starts a run of the lanes and the stage.
    virtual void start_run(const LaneRun& run) = 0;

    /// Ends the stage's run. All chunks have been waited for.
    virtual void end_run() = 0;

    /// Returns when no work uses the memory of any chunk, also after an error. Never throws.
    virtual void abandon() noexcept = 0;
};

struct LaneConfig {
    const Place& place;
    Stage& stage;
    const StagePorts& ports;
    std::size_t lanes;
    std::size_t chunk;  ///< max items per chunk
};

// Both prepare the stage for the place.
std::unique_ptr<LaneGroup> make_host_lanes(const LaneConfig& config);
std::unique_ptr<LaneGroup> make_cuda_lanes(const LaneConfig& config);

}  // namespace phy::detail
