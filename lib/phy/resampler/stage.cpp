#include "phy/resampler/stage.hpp"

#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/pipeline/operator_runner.hpp"
#include "phy/resampler/filter.hpp"

namespace phy {
namespace {

void check_count(const char* what, std::size_t count, std::size_t max) {
    if (count == 0 || count > max)
        throw ArgumentError(std::string(what) + " " + std::to_string(count) + ": expected 1 to " +
                            std::to_string(max));
}

}  // namespace

ResampleStage::ResampleStage(const Config& config) : config_(config) {
    detail::check_enum("sample format", config.format, all_sample_formats.back());
    check_count("rows", config.rows, detail::max_elements);
    check_count("inputs", config.inputs, detail::max_elements / config.rows);
    check_count("outputs", config.outputs, detail::max_elements / config.rows);
    static_cast<void>(
        detail::ResamplerPlan(config.resampler)
            .checked_sizes(config.rows, config.rows * config.inputs, config.rows * config.outputs));
}

std::vector<Port> ResampleStage::inputs() const {
    return {{.name = "samples", .bytes = config_.rows * config_.inputs * size_of(config_.format)},
            {.name = "rows", .bytes = config_.rows * sizeof(ResampledRow)}};
}

std::vector<Port> ResampleStage::outputs() const {
    return {{.name = "output", .bytes = config_.rows * config_.outputs * sizeof(cf32)}};
}

std::unique_ptr<StageRunner> ResampleStage::on(const Place& place) {
    return detail::operator_runner<Resampler, gpu::Resampler>(
        place, config_.resampler,
        [format = config_.format](auto& resample, const auto& work, const auto&... device) {
            resample({format, work.in[0]}, detail::elements_of<ResampledRow>(work.in[1], "rows"),
                     detail::elements_of<cf32>(work.out[0], "output"), device.stream...);
        });
}

}  // namespace phy
