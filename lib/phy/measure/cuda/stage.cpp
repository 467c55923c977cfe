#include "phy/measure/cuda/soft_bit_launch.hpp"
#include "phy/measure/cuda/symbol_launch.hpp"
#include "phy/measure/soft_bit_meter_cuda.hpp"
#include "phy/measure/stage_runners.hpp"
#include "phy/measure/symbol_meter_cuda.hpp"

namespace phy::detail {
namespace {

class MeasureOnDevice : public StageRunner {
public:
    MeasureOnDevice(const MeasureStage::Config& config, const gpu::Device& device)
        : config_(config), measure_(device, config.meter) {
        const gpu::CurrentDevice current(device);
        gpu::detail::load_symbol_kernels(config.input);
    }

    void run_on_device(const DeviceWork& work) override {
        const gpu::SymbolView symbols(config_.input, work.in[0]);
        const auto sums = gpu::elements_of<SymbolSums>(work.out[0]);
        if (config_.sent) {
            const auto sent = gpu::elements_of<cf32>(work.in[1]);
            measure_(symbols, sent, config_.row, sums, work.scratch, work.stream);
        } else {
            measure_(symbols, config_.row, sums, work.scratch, work.stream, work.chunk.first);
        }
    }

private:
    const MeasureStage::Config& config_;
    gpu::SymbolMeter measure_;
};

class SoftBitsOnDevice : public StageRunner {
public:
    SoftBitsOnDevice(const SoftBitMeasureStage::Config& config, const gpu::Device& device)
        : config_(config), measure_(device, config.meter) {
        const gpu::CurrentDevice current(device);
        gpu::detail::load_soft_bit_kernels(config.input);
    }

    void run_on_device(const DeviceWork& work) override {
        const gpu::SoftBitView soft_bits(config_.input, work.in[0]);
        const auto sums = gpu::elements_of<SoftBitSums>(work.out[0]);
        if (config_.truth) {
            const auto truth = gpu::elements_of<std::uint8_t>(work.in[1]);
            measure_(soft_bits, truth, config_.row, sums, work.scratch, work.stream);
        } else {
            measure_(soft_bits, config_.row, sums, work.scratch, work.stream);
        }
    }

private:
    const SoftBitMeasureStage::Config& config_;
    gpu::SoftBitMeter measure_;
};

}  // namespace

std::unique_ptr<StageRunner> make_measure_on_device(const MeasureStage::Config& config, int device) {
    return std::make_unique<MeasureOnDevice>(config, gpu::Device(device));
}

std::size_t measure_scratch_bytes(std::size_t symbols, std::size_t row) {
    // For the smallest units, so that more symbols never need less.
    return gpu::detail::symbol_workspace(symbols, row, {}) * sizeof(SymbolSums);
}

std::unique_ptr<StageRunner> make_soft_bits_on_device(const SoftBitMeasureStage::Config& config, int device) {
    return std::make_unique<SoftBitsOnDevice>(config, gpu::Device(device));
}

std::size_t soft_bit_scratch_bytes(std::size_t soft_bits, std::size_t row) {
    // For the smallest units, so that more soft bits never need less.
    return gpu::detail::soft_bit_workspace(soft_bits, row, {}) * sizeof(SoftBitSums);
}

}  // namespace phy::detail
