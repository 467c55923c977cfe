#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "phy/cuda/stream.hpp"
#include "phy/pipeline/lane.hpp"

namespace phy::detail {

/// Before and after each step of a chunk, in the order of time; what lies between two steps on one stream is
/// one mark.
using Marks = std::array<const gpu::Event*, 6>;

enum class ChunkTiming : std::uint8_t { off, stand_in, on };

/// What the lanes of a device share: a stream for each step, where chunks come one after another, so that
/// what two marks enclose is the step and no waiting for the chunk before; and what the marks mean to the
/// host.
class DeviceSteps {
public:
    DeviceSteps(const gpu::Device& device, std::size_t lanes)
        : copy_in(device), work(device), copy_out(device), known_(device), lanes_(lanes) {}

    gpu::Stream copy_in;
    gpu::Stream work;
    gpu::Stream copy_out;

    void start_run(const LaneRun& run);

    /// Waits for all streams, whatever went wrong in them: whoever issued the work has been told.
    void abandon() const noexcept;

    /// Seconds since the run began.
    [[nodiscard]] double now() const {
        return std::chrono::duration<double>(PipelineClock::now() - start_).count();
    }

    /// Counts a chunk that comes, and says how it is to be timed. Beside a run's first chunks memory may be
    /// allocated and code loaded: the very first stands in for later ones.
    ChunkTiming count_chunk();

    /// Of the next chunk that was timed; its marks have passed, and the host knows that it was under way
    /// within `bounds`. Without a trace the steps are as long as they were, and end with the bounds.
    LaneTimes times(const Marks& marks, const Period& bounds);

private:
    gpu::Event known_;
    double offset_ = 0.0;  ///< of known_ from the start of the run, in seconds
    PipelineClock::time_point start_;
    bool traces_ = false;
    std::uint64_t lanes_;
    std::uint64_t chunks_ = 0;
    LaneTimes last_;  ///< with a trace: of the chunk before
};

}  // namespace phy::detail
