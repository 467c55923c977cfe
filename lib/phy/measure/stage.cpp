#include "phy/measure/stage.hpp"

#include <cstdint>

#include "phy/core/check_enum.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/measure/math/soft_bit_check.hpp"
#include "phy/measure/math/symbol_scale.hpp"
#include "phy/measure/soft_bit_meter.hpp"
#include "phy/measure/soft_bit_stage.hpp"
#include "phy/measure/stage_runners.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/pipeline/elements_of.hpp"

namespace phy {
namespace {

class MeasureOnHost : public StageRunner {
public:
    MeasureOnHost(const MeasureStage::Config& config, const Host& host)
        : config_(config), measure_(host, config.meter) {}

    void run_on_host(const HostWork& work) override {
        const SymbolView symbols(config_.input, work.in[0]);
        const auto sums = detail::elements_of<SymbolSums>(work.out[0], "symbol_sums");
        if (config_.sent) {
            measure_(symbols, detail::elements_of<const cf32>(work.in[1], "sent"), config_.row, sums);
        } else {
            measure_(symbols, config_.row, sums, work.chunk.first);
        }
    }

private:
    const MeasureStage::Config& config_;
    SymbolMeter measure_;
};

class SoftBitsOnHost : public StageRunner {
public:
    SoftBitsOnHost(const SoftBitMeasureStage::Config& config, const Host& host)
        : config_(config), measure_(host, config.meter) {}

    void run_on_host(const HostWork& work) override {
        const SoftBitView soft_bits(config_.input, work.in[0]);
        const auto sums = detail::elements_of<SoftBitSums>(work.out[0], "soft_bit_sums");
        if (config_.truth) {
            const auto truth = detail::elements_of<const std::uint8_t>(work.in[1], "truth");
            measure_(soft_bits, truth, config_.row, sums);
        } else {
            measure_(soft_bits, config_.row, sums);
        }
    }

private:
    const SoftBitMeasureStage::Config& config_;
    SoftBitMeter measure_;
};

}  // namespace

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
    if constexpr (built_with_cuda) return detail::measure_scratch_bytes(items, config_.row);
    return 0;
}

std::unique_ptr<StageRunner> MeasureStage::on(const Place& place) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return detail::make_measure_on_device(config_, place.device());
    }
    return std::make_unique<MeasureOnHost>(config_, place.host());
}

SoftBitMeasureStage::SoftBitMeasureStage(const Config& config) : config_(config) {
    detail::check_config(config.meter);
    detail::check_enum("soft-bit format", config.input, all_soft_bit_formats.back());
    if (config.row == 0) throw ArgumentError("row 0: expected rows of at least one soft bit");
}

std::vector<Port> SoftBitMeasureStage::inputs() const {
    std::vector<Port> ports = {{.name = "llr", .bytes = size_of(config_.input)}};
    if (config_.truth) ports.push_back({.name = "truth", .bytes = sizeof(std::uint8_t)});
    return ports;
}

std::vector<Port> SoftBitMeasureStage::outputs() const {
    return {{.name = "soft_bit_sums", .bytes = sizeof(SoftBitSums), .items = config_.row}};
}

std::size_t SoftBitMeasureStage::scratch_bytes(std::size_t items) const {
    if constexpr (built_with_cuda) return detail::soft_bit_scratch_bytes(items, config_.row);
    return 0;
}

std::unique_ptr<StageRunner> SoftBitMeasureStage::on(const Place& place) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda()) return detail::make_soft_bits_on_device(config_, place.device());
    }
    return std::make_unique<SoftBitsOnHost>(config_, place.host());
}

}  // namespace phy
