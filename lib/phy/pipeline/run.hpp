#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/pipeline/buffer_set.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/schedule.hpp"

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

/// One run of a pipeline. Chunk k uses buffer set k modulo the number of buffer sets, so buffer sets are a
/// ring. Three counts hold how many chunks were read, issued and written.
class PipelineRun {
public:
    struct Task {
        Source& source;
        Stage& stage;
        Sink& sink;
        const StagePorts& ports;
        std::stop_token stop;
        Schedule schedule;
        IssueOrder order;
        bool trace;
    };

    /// The groups take chunks in turn.
    PipelineRun(std::span<const std::unique_ptr<BufferSetGroup>> groups, Task task);

    /// Returns the totals of what the sink took. Throws what stops the run, except a request to stop.
    RunTotals run();

    [[nodiscard]] bool cancelled() const { return !all_written_; }
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    /// The content of a buffer set.
    struct Slot {
        ChunkBuffers chunk;
        Period read;
    };

    void run_chunks();
    void run_alone(bool has_first);
    void run_overlapped();
    void read_all();
    void issue_all();
    void write_all();

    void start_stage();
    void end_stage();
    bool read_next();
    bool read_from_source(ChunkBuffers& chunk, BufferSet& buffer_set);
    void make_room_for_sink(ChunkBuffers& chunk, BufferSet& buffer_set);
    void issue(std::uint64_t first, std::uint64_t end);
    void write(std::uint64_t index);

    [[nodiscard]] double now() const;
    [[nodiscard]] BufferSet& buffer_set_of(std::uint64_t index) {
        return *buffer_sets_[index % buffer_sets_.size()];
    }
    Slot& slot_of(std::uint64_t index) { return slots_[index % slots_.size()]; }

    template <typename Ready>
    bool wait_until(Ready ready);
    bool is_running();
    template <typename Change>
    void publish(Change change);
    template <typename Work>
    void guarded(Work work);

    std::span<const std::unique_ptr<BufferSetGroup>> groups_;
    Task task_;
    std::string stage_name_;
    PipelineClock::time_point start_ = PipelineClock::now();
    std::vector<BufferSet*> buffer_sets_;
    std::vector<Slot> slots_;  ///< by buffer set
    bool overlaps_;            ///< several chunks may be in flight
    double seconds_ = 0.0;

    // For the thread that calls the sink.
    RunTotals totals_;
    std::vector<std::span<const std::byte>> arrays_of_sink_;

    std::mutex mutex_;  ///< guards the members below
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
