#include "phy/demapper/stage.hpp"

#include <cstdint>
#include <cstring>
#include <mutex>

#include "phy/core/check.hpp"
#include "phy/core/integers.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/math/plan.hpp"
#include "phy/pipeline/operator_runner.hpp"
#include "phy/scrambling/gold.hpp"
#include "phy/scrambling/signs.hpp"

namespace phy {
namespace {

using Config = SoftDemapStage::Config;

/// Counts of all runners of a stage, in completed runs.
class SharedDemapCounters {
public:
    void add(const DemapCounters& counters) {
        const std::lock_guard lock(mutex_);
        sum_.erasures += counters.erasures;
        sum_.saturated += counters.saturated;
    }

    [[nodiscard]] DemapCounters sum() const {
        const std::lock_guard lock(mutex_);
        return sum_;
    }

private:
    mutable std::mutex mutex_;
    DemapCounters sum_;
};

/// For one bit per soft bit of so many symbols; 0 without descrambling.
std::size_t sign_bytes(const Config& config, std::size_t symbols) {
    if (!config.descramble) return 0;
    return (symbols * bits_per_symbol(config.demapper.modulation) + 31) / 32 * sizeof(std::uint32_t);
}

/// What both places do. The configuration and the counters outlive the runner.
class DemapRunner : public StageRunner {
protected:
    DemapRunner(const Config& config, SharedDemapCounters& total) : config_(config), total_(total) {}

    /// place: the host or the device of demap.
    void demap_chunk(auto& demap, const auto& place, const auto& noise, auto counters, const auto& work,
                     const auto&... device) const {
        const std::size_t bytes = sign_bytes(config_, work.chunk.items);
        const auto signs = detail::elements_of<std::uint32_t>(work.scratch.first(bytes), "scratch");
        std::uint64_t first_symbol = work.chunk.first;
        if (const auto& descramble = config_.descramble) {
            first_symbol += descramble->first_symbol;
            const std::uint64_t qm = bits_per_symbol(config_.demapper.modulation);
            const auto write = [&](std::uint64_t begin, std::uint64_t count, std::uint64_t first) {
                const detail::SignBits bits{.begin = begin * qm, .count = count * qm, .first = first * qm};
                detail::write_signs(place, descramble->c_init, bits, signs, device.stream...);
            };
            detail::for_codewords(first_symbol, work.chunk.items, descramble->codeword_symbols, write);
        }
        demap({config_.input, work.in[0]}, noise, {config_.output, work.out[0]}, device.stream...,
              first_symbol, counters, signs);
    }

    const Config& config_;
    SharedDemapCounters& total_;
};

class DemapOnHost : public DemapRunner {
public:
    DemapOnHost(const Host& host, const Config& config, SharedDemapCounters& total)
        : DemapRunner(config, total), demap_(host, config.demapper) {}

    void start_run() override { of_run_ = {}; }

    void run_on_host(const HostWork& work) override {
        demap_chunk(demap_, demap_.host(), noise(work), config_.counts ? &of_run_ : nullptr, work);
    }

    void end_run() override { total_.add(of_run_); }

private:
    [[nodiscard]] NoiseVariance noise(const HostWork& work) {
        if (config_.noise_variance) return *config_.noise_variance;
        const std::span<const std::byte> bytes = work.in[1];
        const std::size_t count = bytes.size() / sizeof(float);
        if (detail::is_aligned(bytes.data(), alignof(float)))
            return std::span(reinterpret_cast<const float*>(bytes.data()), count);
        if (aligned_noise_.size() < count) aligned_noise_.resize(count);
        std::memcpy(aligned_noise_.data(), bytes.data(), count * sizeof(float));
        return std::span<const float>(aligned_noise_).first(count);
    }

    SoftDemapper demap_;
    DemapCounters of_run_;
    /// Of a chunk: symbols and soft bits may be unaligned, floats may not.
    std::vector<float> aligned_noise_;
};

/// A template, so that a build without CUDA compiles none of its functions.
template <class Demapper>
class DemapOnDevice : public DemapRunner {
public:
    DemapOnDevice(const gpu::Device& device, const Config& config, SharedDemapCounters& total)
        : DemapRunner(config, total),
          demap_(device, config.demapper),
          stream_(device),
          counters_(device, config.counts ? 1 : 0) {
        demap_.prepare(noise({}), config.output);
    }

    void start_run() override {
        if (!config_.counts) return;
        gpu::fill_async(counters_, 0, stream_);
        stream_.synchronize();
    }

    void run_on_device(const DeviceWork& work) override {
        const auto per_symbol = config_.noise_variance ? gpu::DeviceSpan<const std::byte>() : work.in[1];
        demap_chunk(demap_, demap_.device(), noise(per_symbol), counters_.span(), work, work);
    }

    void end_run() override {
        if (!config_.counts) return;
        DemapCounters of_run;
        gpu::copy_async(std::span(&of_run, 1), counters_, stream_);
        stream_.synchronize();
        total_.add(of_run);
    }

private:
    [[nodiscard]] gpu::NoiseVariance noise(gpu::DeviceSpan<const std::byte> per_symbol) const {
        if (config_.noise_variance) return *config_.noise_variance;
        return gpu::elements_of<float>(per_symbol);
    }

    Demapper demap_;
    gpu::Stream stream_;
    gpu::DeviceBuffer<DemapCounters> counters_;  ///< of the run; empty without counting
};

void check_config(const Config& config) {
    detail::check_enum("sample format", config.input, all_sample_formats.back());
    detail::check_enum("soft-bit format", config.output, all_soft_bit_formats.back());
    detail::check_config(config.demapper);
    if (config.noise_variance) detail::check_noise(config.noise_variance, 0, 0);
    if (!config.descramble) return;
    detail::check_c_init(config.descramble->c_init);
    if (config.descramble->codeword_symbols == 0)
        throw ArgumentError("codeword_symbols 0: expected at least 1");
    const bool is_rotating = config.demapper.modulation == Modulation::pi2_bpsk;
    if (is_rotating && config.descramble->codeword_symbols.value_or(0) % 2 != 0)
        throw ArgumentError("codeword_symbols " + std::to_string(*config.descramble->codeword_symbols) +
                            ": expected an even number for pi/2-BPSK, whose rotation begins anew in each");
}

}  // namespace

struct PHY_HIDDEN SoftDemapStage::Impl {
    Config config;
    SharedDemapCounters counters = {};
};

SoftDemapStage::SoftDemapStage(const Config& config) {
    check_config(config);
    impl_.reset(new Impl{config});
}

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
    return sign_bytes(impl_->config, items);
}

std::unique_ptr<StageRunner> SoftDemapStage::on(const Place& place) {
    return detail::runner_at<DemapOnHost, DemapOnDevice<gpu::SoftDemapper>>(place, impl_->config,
                                                                            impl_->counters);
}

}  // namespace phy
