#include "phy/demapper/stage.hpp"

#include <cstdint>
#include <cstring>

#include "phy/core/check_enum.hpp"
#include "phy/core/version.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/demapper/stage_runners.hpp"
#include "phy/scrambling/math/check.hpp"

namespace phy {
namespace {

class DemapOnHost : public StageRunner {
public:
    DemapOnHost(const SoftDemapStage::Config& config, const Host& host, detail::SharedDemapCounters& total)
        : config_(config), demap_(host, config.demapper), total_(total) {}

    void start_run() override { of_run_ = {}; }

    void run_on_host(const HostWork& work) override {
        const SymbolView symbols(config_.input, work.in[0]);
        const SoftBitSpan llr(config_.output, work.out[0]);
        demap_(symbols, noise(work), llr, work.chunk.first, config_.counts ? &of_run_ : nullptr, signs(work));
    }

    void end_run() override { total_.add(of_run_); }

private:
    [[nodiscard]] NoiseVariance noise(const HostWork& work) {
        if (config_.noise_variance) return *config_.noise_variance;
        const std::span<const std::byte> bytes = work.in[1];
        const std::size_t count = bytes.size() / sizeof(float);
        if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(float) == 0)
            return std::span(reinterpret_cast<const float*>(bytes.data()), count);
        if (aligned_noise_.size() < count) aligned_noise_.resize(count);
        std::memcpy(aligned_noise_.data(), bytes.data(), count * sizeof(float));
        return std::span<const float>(aligned_noise_).first(count);
    }

    [[nodiscard]] std::span<const std::uint32_t> signs(const HostWork& work) const {
        if (!config_.descramble) return {};
        const std::span words(reinterpret_cast<std::uint32_t*>(work.scratch.data()),
                              detail::sign_words(config_, work.chunk.items));
        detail::for_codewords(config_, work.chunk, [&](const detail::SignBits& bits) {
            detail::write_signs(demap_.host(), config_.descramble->c_init, bits, words);
        });
        return words;
    }

    const SoftDemapStage::Config& config_;
    SoftDemapper demap_;
    DemapCounters of_run_;
    std::vector<float>
        aligned_noise_;  ///< of a chunk; symbols and soft bits may be unaligned, floats may not
    detail::SharedDemapCounters& total_;
};

void check_config(const SoftDemapStage::Config& config) {
    detail::check_enum("sample format", config.input, all_sample_formats.back());
    detail::check_enum("soft-bit format", config.output, all_soft_bit_formats.back());
    detail::check_config(config.demapper);
    if (config.noise_variance) detail::check_noise(config.noise_variance, 0, 0);
    if (!config.descramble) return;
    detail::check_c_init(config.descramble->c_init);
    if (config.descramble->codeword_symbols == 0)
        throw ArgumentError("codeword_symbols 0: expected at least 1");
}

}  // namespace

struct PHY_HIDDEN SoftDemapStage::Impl {
    Config config;
    detail::SharedDemapCounters counters = {};
};

SoftDemapStage::SoftDemapStage(const Config& config) {
    check_config(config);
    impl_.reset(new Impl{config});
}

SoftDemapStage::~SoftDemapStage() = default;
SoftDemapStage::SoftDemapStage(SoftDemapStage&&) noexcept = default;
SoftDemapStage& SoftDemapStage::operator=(SoftDemapStage&&) noexcept = default;

DemapCounters SoftDemapStage::counters() const {
    return impl_->counters.sum();
}

const SoftDemapStage::Config& SoftDemapStage::config() const {
    return impl_->config;
}

std::vector<Port> SoftDemapStage::inputs() const {
    std::vector<Port> ports = {{.name = "symbols", .bytes = size_of(impl_->config.input)}};
    if (!impl_->config.noise_variance) ports.push_back({.name = "noise_variance", .bytes = sizeof(float)});
    return ports;
}

std::vector<Port> SoftDemapStage::outputs() const {
    const Config& config = impl_->config;
    return {{.name = "llr", .bytes = bits_per_symbol(config.demapper.modulation) * size_of(config.output)}};
}

std::size_t SoftDemapStage::scratch_bytes(std::size_t items) const {
    const Config& config = impl_->config;
    return config.descramble ? detail::sign_words(config, items) * sizeof(std::uint32_t) : 0;
}

std::unique_ptr<StageRunner> SoftDemapStage::on(const Place& place) {
    if constexpr (built_with_cuda) {
        if (place.is_cuda())
            return detail::make_demap_on_device(impl_->config, place.device(), impl_->counters);
    }
    return std::make_unique<DemapOnHost>(impl_->config, place.host(), impl_->counters);
}

}  // namespace phy
