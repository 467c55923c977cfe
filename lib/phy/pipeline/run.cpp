#include "phy/pipeline/run.hpp"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"
#include "phy/pipeline/range.hpp"

namespace phy::detail {

using Step = PipelineSpan::Step;

namespace {

void check_filled(std::size_t items, std::size_t asked) {
    if (items > asked)
        throw ArgumentError("pipeline: the source filled " + std::to_string(items) +
                            " items: expected at most " + std::to_string(asked));
}

/// Chunks that go through a step together. In parallel order half of the lanes, so that while the one half is
/// copied out the other is copied in.
std::uint64_t group_size(IssueOrder order, std::size_t lanes) {
    return order == IssueOrder::parallel ? std::max<std::uint64_t>(1, lanes / 2) : 1;
}

}  // namespace

PipelineRun::PipelineRun(std::span<const std::unique_ptr<Lane>> lanes, Task task)
    : lanes_(lanes), task_(std::move(task)), stage_name_(task_.stage.name()), slots_(lanes.size()) {}

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

/// The first exception of all is kept, and stops the run.
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

/// Nothing when the source has come to its end.
std::optional<PipelineRun::Slot> PipelineRun::read_next() {
    std::optional<Chunk> next = task_.schedule.next();
    if (!next) return std::nullopt;
    const Range range("read");
    next->lane = static_cast<std::size_t>(next->index % lanes_.size());
    Slot slot{*next, task_.source.view(*next), {}, false, {now(), 0.0}};
    Lane& lane = lane_of(slot);
    const bool is_filled = slot.from.empty();
    if (is_filled) {
        const std::span<std::byte> input = lane.input();
        const std::size_t asked = slot.chunk.items;
        slot.chunk.items = task_.source.fill(slot.chunk, input.first(task_.stage.input_bytes(asked)));
        check_filled(slot.chunk.items, asked);
        if (slot.chunk.items < asked) task_.schedule.end();
        if (slot.chunk.items == 0) return std::nullopt;
        slot.from = input.first(task_.stage.input_bytes(slot.chunk.items));
    }
    const std::size_t bytes_out = task_.stage.output_bytes(slot.chunk.items);
    slot.to = task_.sink.view(slot.chunk);
    slot.is_lent = !is_filled && !slot.to.empty();
    if (slot.to.empty()) slot.to = lane.output().first(bytes_out);
    check_size("pipeline: the source's view", slot.from.size(), task_.stage.input_bytes(slot.chunk.items));
    check_size("pipeline: the sink's view", slot.to.size(), bytes_out);
    slot.read.end = now();
    return slot;
}

void PipelineRun::issue(std::span<const Slot> slots) {
    for (const Slot& slot : slots) {
        const Range range("copy_in");
        lane_of(slot).take(slot.chunk, slot.from, slot.to);
        lane_of(slot).copy_in();
    }
    for (const Slot& slot : slots) {
        const Range range(stage_name_.c_str());
        lane_of(slot).work();
    }
    for (const Slot& slot : slots) {
        const Range range("copy_out");
        lane_of(slot).copy_out();
    }
}

void PipelineRun::record(Step step, const Chunk& chunk, const Period& period) {
    result_.busy[static_cast<std::size_t>(step)] += period.end - period.begin;
    if (task_.trace) result_.spans.push_back({step, chunk, period.begin, period.end});
}

void PipelineRun::record(const Chunk& chunk, const LaneTimes& times) {
    if (has_stand_in_ && !times.stands_in) {
        for (const Step step : {Step::copy_in, Step::work, Step::copy_out})
            result_.busy[static_cast<std::size_t>(step)] = 0.0;
        result_.timed_items = 0;
    }
    has_stand_in_ = times.stands_in;
    if (times.copy_in) record(Step::copy_in, chunk, *times.copy_in);
    record(Step::work, chunk, times.work);
    if (times.copy_out) record(Step::copy_out, chunk, *times.copy_out);
    result_.timed_items += chunk.items;
}

void PipelineRun::write(const Slot& slot) {
    lane_of(slot).wait();
    const Range range("write");
    const double begin = now();
    task_.sink.take(slot.chunk, slot.to);
    record(Step::read, slot.chunk, slot.read);
    if (const std::optional<LaneTimes> times = lane_of(slot).times()) record(slot.chunk, *times);
    record(Step::write, slot.chunk, {begin, now()});
    result_.items += slot.chunk.items;
    ++result_.chunks;
}

/// On the caller's thread alone. A device has as many chunks in flight as there are lanes nevertheless.
void PipelineRun::run_alone(std::optional<Slot> slot) {
    const std::uint64_t together = group_size(task_.order, lanes_.size());
    const std::uint64_t most_in_flight = task_.order == IssueOrder::serial ? 1 : lanes_.size();
    const auto read_more = [this] { return is_running() ? read_next() : std::nullopt; };
    std::uint64_t issued = 0;
    std::uint64_t written = 0;
    std::vector<Slot> group;
    while (slot) {
        for (group.clear(); slot; slot = group.size() < together ? read_more() : std::nullopt)
            group.push_back(*slot);
        if (!is_running()) return;
        for (const Slot& each : group)
            slot_of(issued++) = each;
        issue(group);
        while (written < issued && issued - written + together > most_in_flight && is_running())
            write(slot_of(written++));
        slot = read_more();
    }
    while (written < issued && is_running())
        write(slot_of(written++));
    all_written_ = written == issued && task_.schedule.is_done();
}

void PipelineRun::read_all() {
    for (std::uint64_t index = 1; !task_.schedule.is_done(); ++index) {
        if (!wait_until([&] { return index < written_ + lanes_.size(); })) return;
        const std::optional<Slot> slot = read_next();
        if (slot) slot_of(index) = *slot;
        publish([&] {
            read_ += slot ? 1 : 0;
            all_read_ = task_.schedule.is_done();
            all_written_ = all_read_ && written_ == read_;
        });
    }
}

void PipelineRun::issue_all() {
    const std::uint64_t together = group_size(task_.order, lanes_.size());
    std::vector<Slot> group;
    std::uint64_t ready = 0;
    for (std::uint64_t next = 0; wait_until([&] {
             ready = std::min(read_ - next, together);
             return ready == together || all_read_;
         });
         next += ready) {
        if (ready == 0) return;
        group.clear();
        for (std::uint64_t i = 0; i < ready; ++i)
            group.push_back(slot_of(next + i));
        issue(group);
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
        write(slot_of(index));
        publish([&] {
            ++written_;
            all_written_ = all_read_ && written_ == read_;
        });
    }
}

void PipelineRun::run_overlapped(const Slot& first) {
    slot_of(0) = first;
    read_ = 1;
    all_read_ = task_.schedule.is_done();
    std::jthread reader;
    std::jthread writer;
    const auto start_thread = [this](auto work) {
        try {
            return std::jthread([this, work] {
                guarded([&] {
                    lanes_.front()->enter_thread();
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

PipelineRun::Result PipelineRun::run() {
    {
        const std::stop_callback stop(task_.stop, [this] { publish([this] { stopping_ = true; }); });
        guarded([&] {
            const bool overlaps =
                task_.order != IssueOrder::serial && lanes_.size() > 1 && !task_.schedule.is_single();
            for (const std::unique_ptr<Lane>& lane : lanes_)
                lane->start_run({start_, overlaps, task_.trace});
            if (!is_running()) return;
            const std::optional<Slot> first = read_next();
            const bool alone = !first || first->is_lent || !overlaps;
            alone ? run_alone(first) : run_overlapped(*first);
        });
    }
    if (!all_written_) {
        for (const std::unique_ptr<Lane>& lane : lanes_)
            lane->abandon();
    }
    if (error_) std::rethrow_exception(error_);
    result_.cancelled = !all_written_;
    result_.seconds = now();
    return std::move(result_);
}

}  // namespace phy::detail
