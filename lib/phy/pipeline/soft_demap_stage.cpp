#include "phy/pipeline/soft_demap_stage.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "phy/core/check_enum.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/demapper/plan.hpp"
#include "phy/pipeline/demap_on.hpp"

namespace phy {

using detail::DemapOn;

namespace {

/// Noise variances begin at a multiple of this: as far as devices load at once.
constexpr std::size_t piece = 16;

std::size_t noise_offset(SampleFormat format, std::size_t symbols) {
    return (symbols * size_of(format) + piece - 1) / piece * piece;
}

class DemapOnHost : public DemapOn {
public:
    DemapOnHost(const SoftDemapper::Config& config, bool counts) : demap_(config), counts_(counts) {}

    void run(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, std::uint64_t first_symbol,
             cudaStream_t /*stream*/) override {
        if (!counts_) return demap_(symbols, noise, llr, first_symbol);
        DemapCounters of_chunk;
        demap_(symbols, noise, llr, of_chunk, first_symbol);
        erasures_ += of_chunk.erasures;
        saturated_ += of_chunk.saturated;
    }

    [[nodiscard]] DemapCounters counters() const override { return {erasures_, saturated_}; }

private:
    SoftDemapper demap_;
    bool counts_;
    std::atomic<std::uint64_t> erasures_ = 0;
    std::atomic<std::uint64_t> saturated_ = 0;
};

SoftDemapper::Config host_config(const SoftDemapStage::Config& config, const Backend& backend) {
    return {.modulation = config.modulation,
            .method = config.method,
            .evaluator = config.evaluator,
            .llr_scale = config.llr_scale,
            .llr_clip = config.llr_clip,
            .full_scale = config.full_scale,
            .threads = config.threads,
            .backend = backend};
}

std::unique_ptr<DemapOn> make_demap_on(const SoftDemapStage::Config& config, const Backend& backend) {
    if constexpr (built_with_cuda) {
        if (backend.kind() == Backend::Kind::cuda) return detail::make_demap_on_cuda(config, backend);
    }
    return std::make_unique<DemapOnHost>(host_config(config, backend), config.counts);
}

void check_config(const SoftDemapStage::Config& config) {
    detail::check_enum("sample format", config.input, all_sample_formats.back());
    detail::check_enum("soft-bit format", config.output, all_soft_bit_formats.back());
    detail::checked_full_scale(config.full_scale);
    detail::checked_threads(config.threads);
    detail::Planner{host_config(config, Backend::scalar())};
    if (config.noise_variance) detail::check_noise(NoiseVariance(*config.noise_variance), 0);
}

}  // namespace

struct SoftDemapStage::Impl {
    struct Demapper {
        Backend backend;
        std::unique_ptr<DemapOn> demap;
    };

    [[nodiscard]] DemapOn* find(const Backend& backend) const {
        const auto found = std::ranges::find(demappers, backend, &Demapper::backend);
        return found == demappers.end() ? nullptr : found->demap.get();
    }

    Config config;
    std::vector<Demapper> demappers;
};

SoftDemapStage::SoftDemapStage(const Config& config) {
    check_config(config);
    impl_ = std::make_unique<Impl>(Impl{config, {}});
}

SoftDemapStage::~SoftDemapStage() = default;
SoftDemapStage::SoftDemapStage(SoftDemapStage&&) noexcept = default;
SoftDemapStage& SoftDemapStage::operator=(SoftDemapStage&&) noexcept = default;

SymbolSpan SoftDemapStage::samples_of(std::span<std::byte> input, std::size_t symbols) const {
    return {impl_->config.input, input.data(), symbols};
}

std::span<float> SoftDemapStage::noise_of(std::span<std::byte> input, std::size_t symbols) const {
    if (impl_->config.noise_variance) return {};
    std::byte* const first = input.data() + noise_offset(impl_->config.input, symbols);
    return {reinterpret_cast<float*>(first), symbols};
}

SoftBitSpan SoftDemapStage::soft_bits_of(std::span<std::byte> output) const {
    const SoftBitFormat format = impl_->config.output;
    return {format, output.data(), output.size() / size_of(format)};
}

DemapCounters SoftDemapStage::counters() const {
    DemapCounters sum;
    for (const Impl::Demapper& each : impl_->demappers) {
        const DemapCounters one = each.demap->counters();
        sum.erasures += one.erasures;
        sum.saturated += one.saturated;
    }
    return sum;
}

const SoftDemapStage::Config& SoftDemapStage::config() const {
    return impl_->config;
}

std::size_t SoftDemapStage::input_bytes(std::size_t items) const {
    const Config& config = impl_->config;
    if (config.noise_variance) return items * size_of(config.input);
    return noise_offset(config.input, items) + items * sizeof(float);
}

std::size_t SoftDemapStage::output_bytes(std::size_t items) const {
    return items * bits_per_symbol(impl_->config.modulation) * size_of(impl_->config.output);
}

void SoftDemapStage::prepare(const Backend& backend) {
    if (impl_->find(backend) == nullptr)
        impl_->demappers.push_back({backend, make_demap_on(impl_->config, backend)});
}

void SoftDemapStage::run(const Chunk& chunk, std::span<const std::byte> input, std::span<std::byte> output,
                         const Place& place) {
    const Config& config = impl_->config;
    NoiseVariance noise(config.noise_variance.value_or(0.0F));
    if (!config.noise_variance) {
        const std::byte* const first = input.data() + noise_offset(config.input, chunk.items);
        noise = NoiseVariance(std::span(reinterpret_cast<const float*>(first), chunk.items));
    }
    DemapOn* const demap = impl_->find(place.backend);
    if (demap == nullptr)
        throw ArgumentError("demap stage: " + place.backend.name() + " is used before it is prepared");
    demap->run({config.input, input.data(), chunk.items}, noise, soft_bits_of(output), chunk.first,
               place.stream);
}

}  // namespace phy
