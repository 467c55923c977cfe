#include <utility>

#include "common/interrupt.hpp"
#include "common/median.hpp"
#include "ladder/ladder.hpp"

namespace phy::apps {

Climb climb(const gpu::Device& device, std::string title, const Copy& copy, std::span<const Step> steps,
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
    result.title = std::move(title);
    result.copy = copy.name;
    std::vector<double> copies;
    for (const Step& step : steps) {
        throw_if_interrupted();
        const PairedTime time = time_paired(device, copy.launch, step.launch, rounds);
        copies.push_back(time.reference_seconds);
        result.rungs.push_back({step.name, step.what, step.threads, time.seconds, time.share});
    }
    result.copy_seconds = median(copies);
    return result;
}

}  // namespace phy::apps
