#include "phy/demapper/demapper_cuda.hpp"
#include "phy/pipeline/demap_on.hpp"

namespace phy::detail {
namespace {

class DemapOnCuda : public DemapOn {
public:
    DemapOnCuda(const SoftDemapStage::Config& config, const gpu::Device& device)
        : demap_(device, {.modulation = config.modulation,
                          .method = config.method,
                          .evaluator = config.evaluator,
                          .llr_scale = config.llr_scale,
                          .llr_clip = config.llr_clip,
                          .full_scale = config.full_scale}),
          counts_(config.counts),
          stream_(device),
          counters_(device, 1) {
        const NoiseVariance per_symbol{std::span<const float>()};
        demap_.prepare(config.noise_variance ? NoiseVariance(*config.noise_variance) : per_symbol,
                       config.output);
        const gpu::CurrentDevice current(device);
        gpu::fill_async(counters_, 0, stream_);
        stream_.synchronize();
    }

    void run(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, std::uint64_t first_symbol,
             cudaStream_t stream) override {
        demap_(symbols, noise, llr, stream, first_symbol, counts_ ? counters_.data() : nullptr);
    }

    [[nodiscard]] DemapCounters counters() const override {
        DemapCounters counters;
        gpu::copy_async(std::span(&counters, 1), counters_, stream_);
        stream_.synchronize();
        return counters;
    }

private:
    gpu::SoftDemapper demap_;
    bool counts_;
    gpu::Stream stream_;
    gpu::DeviceBuffer<DemapCounters> counters_;
};

}  // namespace

std::unique_ptr<DemapOn> make_demap_on_cuda(const SoftDemapStage::Config& config, const Backend& backend) {
    return std::make_unique<DemapOnCuda>(config, gpu::Device(backend.device()));
}

}  // namespace phy::detail
