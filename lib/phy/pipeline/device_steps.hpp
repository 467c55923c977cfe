#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "phy/cuda/stream.hpp"
#include "phy/pipeline/buffer_set.hpp"

namespace phy::detail {

/// Events before and after each step of a chunk, in order of time. Neighbouring steps on one stream share an
/// event.
using Marks = std::array<const gpu::Event*, 6>;

enum class ChunkTiming : std::uint8_t { off, stand_in, on };

/// State that the buffer sets of a device share: one stream per step, and the conversion of marks to host
/// time. Chunks follow each other on a step's stream, so its marks do not enclose the wait for the previous
/// chunk.
class DeviceSteps {
public:
    DeviceSteps(const gpu::Device& device, std::size_t buffer_sets)
        : copy_in(device), work(device), copy_out(device), known_(device), buffer_sets_(buffer_sets) {}

    gpu::Stream copy_in;
    gpu::Stream work;
    gpu::Stream copy_out;

    void start_run(const RunProperties& run);

    /// Waits for all streams and ignores errors: they have been reported already.
    void abandon() const noexcept;

    /// Seconds since the run began.
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(PipelineClock::now() - start_).count();
    }

    /// Counts a new chunk and returns how to time it. During the first chunks memory may be allocated and
    /// code loaded, so they are not timed; the very first stands in until a later chunk is timed.
    ChunkTiming count_chunk();

    /// Times of the next timed chunk. Its marks have passed. The host saw it in progress within `bounds`.
    /// Without a trace only the durations are measured, and the steps end with the bounds.
    ChunkTimes times(const Marks& marks, const Period& bounds);

private:
    gpu::Event known_;
    double offset_ = 0.0;  ///< time of known_ since the start of the run, in seconds
    PipelineClock::time_point start_;
    bool traces_ = false;
    std::uint64_t buffer_sets_;
    std::uint64_t chunks_ = 0;
    ChunkTimes last_;  ///< with a trace: times of the previous chunk
};

}  // namespace phy::detail
