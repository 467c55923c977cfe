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
struct ChunkTimes {
    std::optional<Period> copy_in;
    Period work;
    std::optional<Period> copy_out;
    bool stands_in = false;  ///< counts only until another chunk is timed
};

/// Properties of a run that buffer sets need.
struct RunProperties {
    PipelineClock::time_point start;
    bool overlaps;  ///< several chunks may be in flight
    bool trace;     ///< all chunks are timed
};

/// A chunk, its records, and the memory for the stage's output: one array per port.
struct ChunkBuffers {
    Chunk chunk;
    std::vector<std::span<const std::byte>> from;
    std::vector<std::span<std::byte>> to;
    bool source_lends = false;  ///< `from` is not memory of the buffer set
    bool sink_lends = false;    ///< `to` is not memory of the buffer set
};

/// A chunk's memory and the work on it. A buffer set takes the next chunk after wait() has returned.
class BufferSet {
public:
    virtual ~BufferSet() = default;

    /// Arrays in the buffer set's memory for the records of this many items, which the source writes.
    /// Allocated at the first call, for the largest chunk.
    virtual std::span<const std::span<std::byte>> input(std::size_t items) = 0;

    /// The same for the stage's output.
    virtual std::span<const std::span<std::byte>> output(std::size_t items) = 0;

    /// Starts the next chunk. It must stay valid until wait() returns.
    virtual void take(const ChunkBuffers& chunk) = 0;

    // The steps of a chunk, in this order. On CUDA they only issue work.
    virtual void copy_in() = 0;
    virtual void work() = 0;
    virtual void copy_out() = 0;

    /// Returns when the stage's output is in `to`.
    virtual void wait() = 0;

    /// Times of the chunk that wait() was called for; none if it was not timed. Called once per chunk of a
    /// place, in order.
    virtual std::optional<ChunkTimes> times() = 0;
};

/// The buffer sets of one place, and what they share: the stage at that place and its scratch memory.
class BufferSetGroup {
public:
    virtual ~BufferSetGroup() = default;

    [[nodiscard]] virtual std::span<const std::unique_ptr<BufferSet>> buffer_sets() const = 0;

    /// Each thread that the pipeline starts calls this first.
    virtual void enter_thread() = 0;

    /// Starts a run of the buffer sets and the stage.
    virtual void start_run(const RunProperties& run) = 0;

    /// Ends the stage's run. All chunks have been waited for.
    virtual void end_run() = 0;

    /// Returns when no work uses the memory of any chunk, also after an error. Never throws.
    virtual void abandon() noexcept = 0;
};

struct BufferSetConfig {
    const Place& place;
    Stage& stage;
    const StagePorts& ports;
    std::size_t buffer_sets;
    std::size_t chunk;  ///< max items per chunk
};

/// Prepares the stage for the place. Throws Error if the stage returns no runner.
std::unique_ptr<StageRunner> make_runner(const BufferSetConfig& config);

// Both prepare the stage for the place.
std::unique_ptr<BufferSetGroup> make_host_buffer_sets(const BufferSetConfig& config);
std::unique_ptr<BufferSetGroup> make_cuda_buffer_sets(const BufferSetConfig& config);

}  // namespace phy::detail
