#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/signal.hpp"
#include "phy/phy.hpp"

namespace phy::apps {

/// Seconds that one of several equal things took.
struct Latency {
    double median = 0.0;
    double p99 = 0.0;
};

/// A way from the symbols in the host's memory to the soft bits there, or a part of it.
struct LatencyRow {
    std::string name;
    Latency latency;
    std::optional<double>
        of_parts;  ///< median over the sum of the parts' medians; none of a part, or on a CPU
};

/// What goes that way again and again.
struct Slot {
    const Signal& signal;
    SoftDemapStage& stage;  ///< for the signal's formats and noise
    const Place& place;
    int calls;  ///< that are timed

    [[nodiscard]] std::size_t bytes_in() const { return signal.samples.size(); }
    [[nodiscard]] std::size_t bytes_out() const { return stage.outputs().front().bytes_of(signal.symbols); }
};

/// Of that many calls one after another, after some that are not timed.
Latency time_calls(int calls, const std::function<void()>& call);

/// Of a pipeline that gets the slot as its one chunk; input holds the symbols.
Latency time_pipeline(const Slot& slot, std::span<const std::byte> input, std::span<std::byte> output);

/// All ways and parts. Throws Error if soft bits are wrong.
std::vector<LatencyRow> measure_latency(const Slot& slot);

/// Only where phy was built with CUDA.
std::vector<LatencyRow> measure_latency_on_cuda(const Slot& slot);

}  // namespace phy::apps
