#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "phy/pipeline/lane.hpp"
#include "phy/pipeline/schedule.hpp"

namespace phy::detail {

/// One run of a pipeline: chunk k takes lane k modulo their number, so lanes are a ring, and three counts say
/// who has come how far around it.
class PipelineRun {
public:
    struct Task {
        Source& source;
        Stage& stage;
        Sink& sink;
        std::stop_token stop;
        Schedule schedule;
        IssueOrder order;
        bool trace;
    };

    struct Result {
        std::uint64_t items = 0;
        std::uint64_t chunks = 0;
        std::uint64_t timed_items = 0;  ///< of chunks whose copies and work were timed
        bool cancelled = false;
        double seconds = 0.0;
        std::array<double, 5> busy = {};  ///< by PipelineSpan::Step; of what was timed
        std::vector<PipelineSpan> spans;
    };

    PipelineRun(std::span<const std::unique_ptr<Lane>> lanes, Task task);

    Result run();

private:
    /// A chunk, where its bytes are, and where the stage's are to lie.
    struct Slot {
        Chunk chunk;
        std::span<const std::byte> from;
        std::span<std::byte> to;
        bool is_lent;  ///< by source and sink, which then have nothing to do
        Period read;
    };

    void run_alone(std::optional<Slot> slot);
    void run_overlapped(const Slot& first);
    void read_all();
    void issue_all();
    void write_all();

    std::optional<Slot> read_next();
    void issue(std::span<const Slot> slots);
    void write(const Slot& slot);
    void record(PipelineSpan::Step step, const Chunk& chunk, const Period& period);
    void record(const Chunk& chunk, const LaneTimes& times);

    [[nodiscard]] double now() const;
    [[nodiscard]] Lane& lane_of(const Slot& slot) const { return *lanes_[slot.chunk.lane]; }
    Slot& slot_of(std::uint64_t index) { return slots_[index % slots_.size()]; }

    template <typename Ready>
    bool wait_until(Ready ready);
    bool is_running();
    template <typename Change>
    void publish(Change change);
    template <typename Work>
    void guarded(Work work);

    std::span<const std::unique_ptr<Lane>> lanes_;
    Task task_;
    std::string stage_name_;
    PipelineClock::time_point start_ = PipelineClock::now();
    std::vector<Slot> slots_;  ///< by lane

    // Of the thread that calls the sink.
    Result result_;
    bool has_stand_in_ = false;

    std::mutex mutex_;  ///< of what follows
    std::condition_variable changed_;
    std::uint64_t read_ = 0;
    std::uint64_t issued_ = 0;
    std::uint64_t written_ = 0;
    bool all_read_ = false;
    bool all_written_ = false;
    bool stopping_ = false;
    std::exception_ptr error_;
};

}  // namespace phy::detail
