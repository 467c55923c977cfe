#include "phy/pipeline/run.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "phy/core/error.hpp"

namespace phy::detail {

using Step = PipelineSpan::Step;

namespace {

/// Number of chunks that go through a step together. In parallel order half of the buffer sets, so that one
/// half is copied in while the other is copied out.
std::uint64_t group_size(IssueOrder order, std::size_t buffer_sets) {
    return order == IssueOrder::parallel ? std::max<std::uint64_t>(1, buffer_sets / 2) : 1;
}

}  // namespace

void RunTotals::add(Step step, const Chunk& chunk, const Period& period) {
    seconds_[static_cast<std::size_t>(step)] += period.end - period.begin;
    if (trace_) spans_.push_back({step, chunk, period.begin, period.end});
}

void RunTotals::add_times(const Chunk& chunk, const ChunkTimes& times) {
    if (has_stand_in_ && !times.stands_in) {
        for (const Step step : {Step::copy_in, Step::work, Step::copy_out})
            seconds_[static_cast<std::size_t>(step)] = 0.0;
        timed_items_ = 0;
    }
    has_stand_in_ = times.stands_in;
    if (times.copy_in) add(Step::copy_in, chunk, *times.copy_in);
    add(Step::work, chunk, times.work);
    if (times.copy_out) add(Step::copy_out, chunk, *times.copy_out);
    timed_items_ += chunk.items;
}

void RunTotals::add_written(const Chunk& chunk, const Period& write) {
    add(Step::write, chunk, write);
    items_ += chunk.items;
    ++chunks_;
}

std::vector<PipelineReport::Busy> RunTotals::busy(std::string_view stage, bool copies) const {
    const double all_of_timed =
        timed_items_ == 0 ? 0.0 : static_cast<double>(items_) / static_cast<double>(timed_items_);
    const auto seconds = [&](Step step) {
        const double timed = seconds_[static_cast<std::size_t>(step)];
        return step == Step::read || step == Step::write ? timed : timed * all_of_timed;
    };
    std::vector<PipelineReport::Busy> busy;
    busy.push_back({"read", seconds(Step::read)});
    if (copies) busy.push_back({"copy_in", seconds(Step::copy_in)});
    busy.push_back({std::string(stage), seconds(Step::work)});
    if (copies) busy.push_back({"copy_out", seconds(Step::copy_out)});
    busy.push_back({"write", seconds(Step::write)});
    return busy;
}

PipelineRun::PipelineRun(std::span<const std::unique_ptr<BufferSetGroup>> groups, Task task)
    : groups_(groups), task_(std::move(task)), stage_name_(task_.stage.name()), totals_(task_.trace) {
    for (std::size_t i = 0; i < groups.front()->buffer_sets().size(); ++i) {
        for (const std::unique_ptr<BufferSetGroup>& group : groups)
            buffer_sets_.push_back(group->buffer_sets()[i].get());
    }
    overlaps_ = task_.order != IssueOrder::serial && buffer_sets_.size() > 1 && !task_.schedule.is_single();
    arrays_of_sink_.reserve(task_.ports.outputs.size());
    Slot slot;
    slot.chunk.from.resize(task_.ports.inputs.size());
    slot.chunk.to.resize(task_.ports.outputs.size());
    slots_.assign(buffer_sets_.size(), slot);
}

double PipelineRun::now() const {
    return std::chrono::duration<double>(PipelineClock::now() - start_).count();
}

/// Returns false if the run stops.
template <typename Ready>
bool PipelineRun::wait_until(Ready ready) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || ready(); });
    return !stopping_;
}

bool PipelineRun::is_running() {
    return wait_until([] { return true; });
}

template <typename Change>
void PipelineRun::publish(Change change) {
    {
        const std::lock_guard lock(mutex_);
        change();
    }
    changed_.notify_all();
}

/// Keeps the first exception, which stops the run.
template <typename Work>
void PipelineRun::guarded(Work work) {
    try {
        work();
    } catch (...) {
        publish([this] {
            if (!error_) error_ = std::current_exception();
            stopping_ = true;
        });
    }
}

/// On the caller's thread alone. A device still has one chunk per buffer set in flight.
void PipelineRun::run_alone(bool has_first) {
    const std::uint64_t together = group_size(task_.order, buffer_sets_.size());
    const std::uint64_t max_in_flight = task_.order == IssueOrder::serial ? 1 : buffer_sets_.size();
    const auto read_more = [this] { return is_running() && read_next(); };
    std::uint64_t read = has_first ? 1 : 0;
    std::uint64_t issued = 0;
    std::uint64_t written = 0;
    while (issued < read) {
        while (read - issued < together && read_more())
            ++read;
        if (!is_running()) return;
        issue(issued, read);
        issued = read;
        while (written < issued && issued - written + together > max_in_flight && is_running())
            write(written++);
        if (read_more()) ++read;
    }
    while (written < issued && is_running())
        write(written++);
    all_written_ = written == issued && task_.schedule.is_done();
}

void PipelineRun::read_all() {
    for (std::uint64_t index = 1; !task_.schedule.is_done(); ++index) {
        if (!wait_until([&] { return index < written_ + buffer_sets_.size(); })) return;
        const bool has_read = read_next();
        publish([&] {
            read_ += has_read ? 1 : 0;
            all_read_ = task_.schedule.is_done();
            all_written_ = all_read_ && written_ == read_;
        });
    }
}

void PipelineRun::issue_all() {
    const std::uint64_t together = group_size(task_.order, buffer_sets_.size());
    std::uint64_t ready = 0;
    for (std::uint64_t next = 0; wait_until([&] {
             ready = std::min(read_ - next, together);
             return ready == together || all_read_;
         });
         next += ready) {
        if (ready == 0) return;
        issue(next, next + ready);
        publish([&] { issued_ += ready; });
    }
}

void PipelineRun::write_all() {
    bool more = true;
    for (std::uint64_t index = 0; wait_until([&] {
             more = index < issued_;
             return more || (all_read_ && index == read_);
         });
         ++index) {
        if (!more) return;
        write(index);
        publish([&] {
            ++written_;
            all_written_ = all_read_ && written_ == read_;
        });
    }
}

/// The first chunk has been read already.
void PipelineRun::run_overlapped() {
    read_ = 1;
    all_read_ = task_.schedule.is_done();
    std::jthread reader;
    std::jthread writer;
    const auto start_thread = [this](auto work) {
        try {
            return std::jthread([this, work] {
                guarded([&] {
                    groups_.front()->enter_thread();
                    work();
                });
            });
        } catch (const std::system_error& error) {
            throw Error(std::string("pipeline: a thread cannot be started: ") + error.what());
        }
    };
    guarded([&] {
        reader = start_thread([this] { read_all(); });
        writer = start_thread([this] { write_all(); });
        issue_all();
    });
}

void PipelineRun::run_chunks() {
    if (!is_running()) return;
    const bool has_first = read_next();
    const bool is_lent = has_first && slots_.front().chunk.source_lends && slots_.front().chunk.sink_lends;
    const bool alone = !has_first || is_lent || !overlaps_;
    alone ? run_alone(has_first) : run_overlapped();
}

RunTotals PipelineRun::run() {
    {
        const std::stop_callback stop(task_.stop, [this] { publish([this] { stopping_ = true; }); });
        guarded([&] {
            if (is_running()) start_stage();
            run_chunks();
        });
    }
    if (all_written_ && !error_) guarded([&] { end_stage(); });
    if (!all_written_ || error_) {
        for (const std::unique_ptr<BufferSetGroup>& group : groups_)
            group->abandon();
    }
    if (error_) std::rethrow_exception(error_);
    seconds_ = now();
    return std::move(totals_);
}

}  // namespace phy::detail
