#include "slot_bench/latency.hpp"

#include <algorithm>
#include <chrono>

#include "common/check_soft_bits.hpp"
#include "common/interrupt.hpp"

namespace phy::apps {
namespace {

std::vector<LatencyRow> measure_latency_on_cpu(const Slot& slot) {
    const SoftDemapStage::Config& config = slot.stage.config();
    SoftDemapper demap(slot.place.host(), config.demapper);
    std::vector<std::byte> soft_bits(slot.bytes_out());
    std::vector<LatencyRow> rows;
    spoil_soft_bits(slot.stage, soft_bits);
    rows.push_back(
        {"SoftDemapper",
         time_calls(slot.calls,
                    [&] {
                        demap(slot.signal.view(), slot.signal.noise_variance, {config.output, soft_bits});
                    }),
         std::nullopt});
    check_soft_bits(slot.stage, slot.signal.samples, soft_bits);
    rows.push_back({"Pipeline", time_pipeline(slot, slot.signal.samples, soft_bits), std::nullopt});
    return rows;
}

}  // namespace

Latency time_calls(int calls, const std::function<void()>& call) {
    constexpr int one_of_warm_up = 20;
    std::vector<double> seconds;
    for (int i = -calls / one_of_warm_up - 3; i < calls; ++i) {
        throw_if_interrupted();
        const auto start = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (i >= 0) seconds.push_back(took.count());
    }
    std::ranges::sort(seconds);
    return {quartiles(seconds), seconds[(seconds.size() * 99 - 1) / 100]};
}

Latency time_pipeline(const Slot& slot, std::span<const std::byte> input, std::span<std::byte> output) {
    MemorySource source(slot.stage.inputs(), {input});
    MemorySink sink(slot.stage.outputs(), {output});
    Pipeline pipeline({slot.place}, slot.stage, {.items = slot.signal.symbols});
    spoil_soft_bits(slot.stage, output);
    const Latency latency = time_calls(slot.calls, [&] { pipeline.run(source, sink); });
    check_soft_bits(slot.stage, input, output);
    return latency;
}

std::vector<LatencyRow> measure_latency(const Slot& slot) {
    if constexpr (built_with_cuda) {
        if (slot.place.is_cuda()) return measure_latency_on_cuda(slot);
    }
    return measure_latency_on_cpu(slot);
}

}  // namespace phy::apps
