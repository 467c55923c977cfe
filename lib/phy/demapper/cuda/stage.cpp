#include "phy/demapper/demapper_cuda.hpp"
#include "phy/demapper/stage_runners.hpp"

namespace phy::detail {
namespace {

class DemapOnDevice : public StageRunner {
public:
    DemapOnDevice(const SoftDemapStage::Config& config, const gpu::Device& device, SharedDemapCounters& total)
        : config_(config),
          demap_(device, config.demapper),
          stream_(device),
          counters_(device, config.counts ? 1 : 0),
          total_(total) {
        demap_.prepare(noise(gpu::DeviceSpan<const float>()), config.output);
    }

    void start_run() override {
        if (!config_.counts) return;
        gpu::fill_async(counters_, 0, stream_);
        stream_.synchronize();
    }

    void run_on_device(const DeviceWork& work) override {
        const gpu::SymbolView symbols(config_.input, work.in[0]);
        const gpu::SoftBitSpan llr(config_.output, work.out[0]);
        const bool is_per_symbol = !config_.noise_variance;
        const auto values =
            is_per_symbol ? gpu::elements_of<float>(work.in[1]) : gpu::DeviceSpan<const float>();
        demap_(symbols, noise(values), llr, work.stream, work.chunk.first, counters_, signs(work));
    }

    void end_run() override {
        if (!config_.counts) return;
        DemapCounters of_run;
        gpu::copy_async(std::span(&of_run, 1), counters_, stream_);
        stream_.synchronize();
        total_.add(of_run);
    }

private:
    [[nodiscard]] gpu::NoiseVariance noise(gpu::DeviceSpan<const float> values) const {
        if (config_.noise_variance) return *config_.noise_variance;
        return values;
    }

    [[nodiscard]] gpu::DeviceSpan<const std::uint32_t> signs(const DeviceWork& work) const {
        if (!config_.descramble) return {};
        const std::size_t words = sign_words(config_, work.chunk.items);
        const auto signs = gpu::elements_of<std::uint32_t>(work.scratch.first(words * sizeof(std::uint32_t)));
        for_codewords(config_, work.chunk, [&](const SignBits& bits) {
            write_signs(demap_.device(), config_.descramble->c_init, bits, signs, work.stream);
        });
        return signs;
    }

    const SoftDemapStage::Config& config_;
    gpu::SoftDemapper demap_;
    gpu::Stream stream_;
    gpu::DeviceBuffer<DemapCounters> counters_;  ///< of the run; empty without counting
    SharedDemapCounters& total_;
};

}  // namespace

std::unique_ptr<StageRunner> make_demap_on_device(const SoftDemapStage::Config& config, int device,
                                                  SharedDemapCounters& total) {
    return std::make_unique<DemapOnDevice>(config, gpu::Device(device), total);
}

}  // namespace phy::detail
