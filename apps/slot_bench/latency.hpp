#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/median.hpp"
#include "common/signal.hpp"
#include "phy/phy.hpp"

namespace phy::apps {

/// Seconds per call, over several equal calls.
struct Latency : Quartiles {
    double p99 = 0.0;
};

/// A path from symbols in host memory to soft bits there, or a part of one.
struct LatencyRow {
    std::string name;
    Latency latency;
    std::optional<double>
        of_parts;  ///< median / sum of the parts' medians; none for a part, and none on a CPU
};

/// The slot that each call demaps.
struct Slot {
    const Signal& signal;
    SoftDemapStage& stage;  ///< for the signal's formats and noise
    const Place& place;
    int calls;  ///< number of timed calls

    [[nodiscard]] std::size_t bytes_in() const { return signal.samples.size(); }
    [[nodiscard]] std::size_t bytes_out() const { return stage.outputs().front().bytes_of(signal.symbols); }
};

/// Times that many consecutive calls, after some that are not timed.
Latency time_calls(int calls, const std::function<void()>& call);

/// Times a pipeline that gets the slot as its only chunk. input: the symbols.
Latency time_pipeline(const Slot& slot, std::span<const std::byte> input, std::span<std::byte> output);

/// Measures all paths and parts. Throws Error if soft bits are wrong.
std::vector<LatencyRow> measure_latency(const Slot& slot);

/// Only in builds with CUDA.
std::vector<LatencyRow> measure_latency_on_cuda(const Slot& slot);

}  // namespace phy::apps
