#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "common/interrupt.hpp"
#include "common/median.hpp"
#include "ladder/ladder.hpp"

namespace phy::apps {

Task demap_task(std::string_view what, const LadderOptions& options) {
    constexpr std::size_t bytes_a_symbol =
        sizeof(cf32) + bits_per_symbol(Modulation::qam256) * sizeof(std::int8_t);
    return {.title = fmt::format("{}, {} symbols at {:g} dB", what, options.symbols, options.snr_db),
            .count = options.symbols,
            .unit = "symbols",
            .rate = "Gsymbol/s",
            .bytes = options.symbols * bytes_a_symbol,
            .settings = {{"snr_db", options.snr_db}}};
}

Climb climb(const gpu::Device& device, Task task, const Limit& limit, std::span<const Step> steps,
            const std::function<void(const Step&)>& check) {
    constexpr int rounds = 20;
    for (const Step& step : steps) {
        throw_if_interrupted();
        const gpu::Stream stream(device);
        step.launch(stream);
        stream.synchronize();
        check(step);
    }
    Climb result;
    result.task = std::move(task);
    result.limit_kind = limit.kind;
    result.limit = limit.name;
    std::vector<double> limits;
    for (const Step& step : steps) {
        throw_if_interrupted();
        const PairedTime time = time_paired(device, limit.launch, step.launch, rounds);
        limits.push_back(time.reference_seconds);
        result.rungs.push_back({step.name, step.what, step.threads, time.seconds, time.share});
    }
    result.limit_seconds = median(limits);
    return result;
}

}  // namespace phy::apps
