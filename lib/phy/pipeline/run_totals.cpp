#include "phy/pipeline/run_totals.hpp"

#include <string>

namespace phy::detail {

using Step = PipelineSpan::Step;

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

}  // namespace phy::detail
