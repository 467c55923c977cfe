#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "phy/pipeline/pipeline.hpp"

namespace phy::detail {

using PipelineClock = std::chrono::steady_clock;

/// Seconds since a run began.
struct Period {
    double begin = 0.0;
    double end = 0.0;
};

/// When a backend did what to a chunk; on a CPU there are no copies.
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

/// The memory that a chunk goes through, and the work on it. The next chunk comes when wait() has returned.
class Lane {
public:
    virtual ~Lane() = default;

    /// Memory for the source to write to, of the size that the lane was made for; allocated when first asked
    /// for.
    virtual std::span<std::byte> input() = 0;

    /// The same for what the sink is to have.
    virtual std::span<std::byte> output() = 0;

    /// Called by each thread of the pipeline's own before it calls anything else.
    virtual void enter_thread() = 0;

    virtual void start_run(const LaneRun& run) = 0;

    /// The next chunk, where its bytes are, and where the stage's are to lie.
    virtual void take(const Chunk& chunk, std::span<const std::byte> from, std::span<std::byte> to) = 0;

    // The steps of a chunk, in this order. On CUDA they only start something.
    virtual void copy_in() = 0;
    virtual void work() = 0;
    virtual void copy_out() = 0;

    /// Returns when the stage's bytes are where they are to lie.
    virtual void wait() = 0;

    /// Returns when nothing uses the chunk's memory any more, whatever happened; throws nothing.
    virtual void abandon() noexcept = 0;

    /// Of the chunk that was waited for; called once for each chunk of a backend, in their order. Nothing
    /// where it was not timed.
    virtual std::optional<LaneTimes> times() = 0;
};

/// Several lanes of one backend.
struct LaneConfig {
    Backend backend;
    std::size_t count;
    std::size_t bytes_in;  ///< of a chunk, at most
    std::size_t bytes_out;
};

using Lanes = std::vector<std::unique_ptr<Lane>>;

Lanes make_host_lanes(const LaneConfig& config, Stage& stage);
Lanes make_cuda_lanes(const LaneConfig& config, Stage& stage);

}  // namespace phy::detail
