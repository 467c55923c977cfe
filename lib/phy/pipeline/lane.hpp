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

/// When a place did what to a chunk; on a CPU there are no copies.
struct LaneTimes {
    std::optional<Period> copy_in;
    Period work;
    std::optional<Period> copy_out;
    bool stands_in = false;  ///< counts until there are times of a chunk that does not stand in
};

/// What lanes have to know of a run.
struct LaneRun {
    PipelineClock::time_point start;
    bool overlaps;  ///< several chunks may be in flight
    bool trace;     ///< times of all chunks are wanted
};

/// A chunk, where its records are, and where the stage's are to lie: an array for each port.
struct LaneChunk {
    Chunk chunk;
    std::vector<std::span<const std::byte>> from;
    std::vector<std::span<std::byte>> to;
    bool source_lends = false;  ///< `from` is not in memory of the lane
    bool sink_lends = false;    ///< neither is `to`
};

/// The memory that a chunk goes through, and the work on it. The next chunk comes when wait() has returned.
class Lane {
public:
    virtual ~Lane() = default;

    /// Arrays in memory of the lane that the source is to write the records of that many items to; the memory
    /// is allocated when first asked for, and for the largest chunk.
    virtual std::span<const std::span<std::byte>> input(std::size_t items) = 0;

    /// The same for what the sink is to have.
    virtual std::span<const std::span<std::byte>> output(std::size_t items) = 0;

    /// The next chunk, which stays where it is as long as it is in the lane.
    virtual void take(const LaneChunk& chunk) = 0;

    // The steps of a chunk, in this order. On CUDA they only start something.
    virtual void copy_in() = 0;
    virtual void work() = 0;
    virtual void copy_out() = 0;

    /// Returns when the stage's bytes are where they are to lie.
    virtual void wait() = 0;

    /// Of the chunk that was waited for; called once for each chunk of a place, in their order. Nothing where
    /// it was not timed.
    virtual std::optional<LaneTimes> times() = 0;
};

/// The lanes of one place, and what they share: the stage on that place, and its scratch memory.
class LaneGroup {
public:
    virtual ~LaneGroup() = default;

    [[nodiscard]] virtual std::span<const std::unique_ptr<Lane>> lanes() const = 0;

    /// Called by each thread of the pipeline's own before it calls anything else.
    virtual void enter_thread() = 0;

    /// Starts a run of the lanes and of the stage.
    virtual void start_run(const LaneRun& run) = 0;

    /// Ends the stage's run. All chunks were waited for.
    virtual void end_run() = 0;

    /// Returns when nothing uses any chunk's memory any more, whatever happened; throws nothing.
    virtual void abandon() noexcept = 0;
};

struct LaneConfig {
    const Place& place;
    Stage& stage;
    const StagePorts& ports;
    std::size_t lanes;
    std::size_t chunk;  ///< items at most
};

// Both make the stage ready on the place.
std::unique_ptr<LaneGroup> make_host_lanes(const LaneConfig& config);
std::unique_ptr<LaneGroup> make_cuda_lanes(const LaneConfig& config);

}  // namespace phy::detail
