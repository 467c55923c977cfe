#include "phy/measure/stage.hpp"

#include <cstdint>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/cuda/symbol_launch.hpp"
#include "phy/measure/math/symbol_scale.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/pipeline/operator_runner.hpp"

namespace phy {

MeasureStage::MeasureStage(const Config& config) : config_(config) {
    detail::check_config(config.meter);
    detail::check_enum("sample format", config.input, all_sample_formats.back());
    if (config.row == 0) throw ArgumentError("row 0: expected rows of at least one symbol");
}

std::vector<Port> MeasureStage::inputs() const {
    std::vector<Port> ports = {{.name = "symbols", .bytes = size_of(config_.input)}};
    if (config_.sent) ports.push_back({.name = "sent", .bytes = sizeof(cf32)});
    return ports;
}

std::vector<Port> MeasureStage::outputs() const {
    return {{.name = "symbol_sums", .bytes = sizeof(SymbolSums), .items = config_.row}};
}

std::size_t MeasureStage::scratch_bytes(std::size_t items) const {
    if constexpr (built_with_cuda) {
        // For the smallest units, so that more symbols never need less.
        return gpu::detail::symbol_workspace(items, config_.row, {}) * sizeof(SymbolSums);
    }
    return 0;
}

std::unique_ptr<StageRunner> MeasureStage::on(const Place& place) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) {
            const gpu::CurrentDevice current(place.device());
            gpu::detail::load_symbol_kernels(config_.input);
        }
    }
    const auto run = [&config = config_](auto& measure, const auto& work, const auto&... device) {
        const auto sums = detail::elements_of<SymbolSums>(work.out[0], "symbol_sums");
        if (config.sent) {
            measure({config.input, work.in[0]}, detail::elements_of<cf32>(work.in[1], "sent"), config.row,
                    sums, device.scratch..., device.stream...);
        } else {
            measure({config.input, work.in[0]}, config.row, sums, device.scratch..., device.stream...,
                    config.first_symbol + work.chunk.first);
        }
    };
    return detail::operator_runner<SymbolMeter, gpu::SymbolMeter>(place, config_.meter, run);
}

}  // namespace phy
