#include <utility>

#include <fmt/format.h>

#include "common/chunk_demapper.hpp"
#include "phy/phy_cuda.hpp"

namespace phy::apps {
namespace {

/// Copies in, demaps and copies out, one after the other.
class CudaChunkDemapper : public ChunkDemapper {
public:
    CudaChunkDemapper(const Config& config, const gpu::Device& device)
        : demap_(device, {.modulation = config.demapper.modulation,
                          .method = config.demapper.method,
                          .evaluator = config.demapper.evaluator,
                          .llr_scale = config.demapper.llr_scale,
                          .llr_clip = config.demapper.llr_clip,
                          .full_scale = config.demapper.full_scale}),
          stream_(device),
          samples_(device, config.chunk * size_of(config.samples)),
          noise_(device, config.noise_variance ? 0 : config.chunk),
          soft_bits_(device,
                     config.chunk * bits_per_symbol(config.demapper.modulation) * size_of(config.soft_bits)),
          counters_(device, 1) {
        if (config.noise_variance) demap_.prepare(*config.noise_variance, config.soft_bits);
        gpu::fill_async(counters_, 0, stream_);
    }

    HostMemory allocate(std::size_t bytes) override {
        const gpu::CurrentDevice current(demap_.device());
        const auto memory = std::make_shared<gpu::PinnedBuffer<std::byte>>(bytes);
        return {memory, memory->data()};
    }

    void demap(SymbolView symbols, NoiseVariance noise, SoftBitSpan soft_bits,
               std::uint64_t first_symbol) override {
        copy_in(samples_, std::span(symbols.data(), symbols.size() * size_of(symbols.format())));
        if (noise.is_per_symbol()) {
            copy_in(noise_, noise.values());
            noise = NoiseVariance(std::span<const float>(noise_).first(symbols.size()));
        }
        const std::size_t bytes = soft_bits.size() * size_of(soft_bits.format());
        demap_(SymbolView(symbols.format(), samples_.data(), symbols.size()), noise,
               SoftBitSpan(soft_bits.format(), soft_bits_.data(), soft_bits.size()), stream_, first_symbol,
               counters_.data());
        gpu::copy_async(std::span(soft_bits.data(), bytes), std::span(soft_bits_).first(bytes), stream_);
        stream_.synchronize();
    }

    DemapCounters counters() override {
        DemapCounters counters;
        gpu::copy_async(std::span(&counters, 1), counters_, stream_);
        stream_.synchronize();
        return counters;
    }

    [[nodiscard]] Backend backend() const override {
        return Backend::parse(fmt::format("cuda[{}]", demap_.device().ordinal()));
    }

    [[nodiscard]] std::optional<std::string> device() const override { return demap_.device().name(); }

private:
    template <typename T>
    void copy_in(const gpu::DeviceBuffer<T>& to, std::span<const T> from) const {
        gpu::copy_async(std::span(to).first(from.size()), from, stream_);
    }

    gpu::SoftDemapper demap_;
    gpu::Stream stream_;
    gpu::DeviceBuffer<std::byte> samples_;
    gpu::DeviceBuffer<float> noise_;
    gpu::DeviceBuffer<std::byte> soft_bits_;
    gpu::DeviceBuffer<DemapCounters> counters_;
};

}  // namespace

std::unique_ptr<ChunkDemapper> make_cuda_chunk_demapper(const ChunkDemapper::Config& config) {
    const Backend& backend = config.demapper.backend;
    try {
        return std::make_unique<CudaChunkDemapper>(config, gpu::Device(backend.device()));
    } catch (const gpu::CudaError& error) {
        if (!error.out_of_memory()) throw;
        throw Error(
            fmt::format("{}: out of GPU memory: a --chunk of {} symbols is more than its free memory holds",
                        backend.name(), config.chunk));
    }
}

}  // namespace phy::apps
