#include "phy/pipeline/device_steps.hpp"

#include <algorithm>

#include "phy/pipeline/tuning.hpp"

namespace phy::detail {
namespace {

double seconds(const gpu::Event& from, const gpu::Event& to) {
    return 1e-3 * static_cast<double>(to.milliseconds_since(from));
}

/// Moves a period behind the same step of the previous chunk: rounding errors exceed the gap between them.
Period after(const std::optional<Period>& before, const Period& period) {
    const double end = std::max(period.begin, period.end);
    return {before ? std::clamp(before->end, period.begin, end) : period.begin, end};
}

}  // namespace

void DeviceSteps::start_run(const RunProperties& run) {
    start_ = run.start;
    traces_ = run.trace;
    chunks_ = 0;
    last_ = {};
    if (!traces_) return;
    const double before = now();
    known_.record(copy_in);
    known_.synchronize();
    offset_ = (before + now()) / 2;
}

void DeviceSteps::abandon() const noexcept {
    for (const gpu::Stream* stream : {&copy_in, &work, &copy_out}) {
        try {
            stream->synchronize();
        } catch (...) {
        }
    }
}

ChunkTiming DeviceSteps::count_chunk() {
    const std::uint64_t index = chunks_++;
    if (traces_) return ChunkTiming::on;
    if (index < buffer_sets_) return index == 0 ? ChunkTiming::stand_in : ChunkTiming::off;
    return (index - buffer_sets_) % timed_one_of == 0 ? ChunkTiming::on : ChunkTiming::off;
}

ChunkTimes DeviceSteps::times(const Marks& marks, const Period& bounds) {
    // Not all relative to known_: after a minute a float does not resolve microseconds.
    std::array<double, 6> at{};
    at[5] = traces_ ? offset_ + seconds(known_, *marks[5]) : bounds.end;
    for (std::size_t i = 5; i-- > 0;)
        at[i] = at[i + 1] - (marks[i] == marks[i + 1] ? 0.0 : seconds(*marks[i], *marks[i + 1]));
    for (double& time : at)
        time = std::clamp(time, bounds.begin, bounds.end);
    const ChunkTimes times{Period{at[0], at[1]}, {at[2], at[3]}, Period{at[4], at[5]}};
    if (!traces_) return times;
    last_ = {after(last_.copy_in, *times.copy_in), after(last_.work, times.work),
             after(last_.copy_out, *times.copy_out)};
    return last_;
}

}  // namespace phy::detail
