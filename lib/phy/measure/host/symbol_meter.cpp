#include "phy/measure/symbol_meter.hpp"
#include "phy/core/integers.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/host/meter_rows.hpp"
#include "phy/measure/host/symbol_kernels.hpp"
#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/measure/host/symbol_kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const SymbolKernels& symbol_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, SymbolKernels);
}

}  // namespace
}  // namespace detail

namespace {

using detail::SymbolScale;

constexpr std::size_t block = symbol_tree.block;

/// A thread's copy of a block as aligned binary32.
struct alignas(64) Widened {
    float iq[2 * block + detail::padding];
};

SymbolSums sums_of(const detail::SymbolRoots& roots, std::size_t symbols) {
    return {.i = roots.sums[detail::sum_i],
            .q = roots.sums[detail::sum_q],
            .ii = roots.sums[detail::sum_ii],
            .qq = roots.sums[detail::sum_qq],
            .iq = roots.sums[detail::sum_iq],
            .error = roots.sums[detail::sum_error],
            .decided = roots.sums[detail::sum_decided],
            .rotated = roots.sums[detail::sum_rotated],
            .clear = roots.sums[detail::sum_clear],
            .outer = roots.sums[detail::sum_outer],
            .clear_error = roots.sums[detail::sum_clear_error],
            .expected_error = roots.sums[detail::sum_expected_error],
            .peak = roots.peak,
            .error_peak = roots.error_peak,
            .symbols = symbols - roots.not_finite,
            .not_finite = roots.not_finite};
}

/// What all blocks of a call share.
struct Call {
    SymbolView symbols;
    const cf32* sent;
    const float* noise_variance;
    std::uint64_t first_symbol;
    SymbolScale scale;
    const detail::SymbolKernels& kernels;
    detail::ArrayKernels::Widen widen;
    bool widens;

    [[nodiscard]] SymbolSums sum_block(std::size_t first, std::size_t count, Widened& widened) const {
        const std::byte* const stored = symbols.data() + first * size_of(symbols.format());
        const float* iq = reinterpret_cast<const float*>(stored);
        if (widens) {
            widen(stored, widened.iq, 2 * count, 1.0F);
            iq = widened.iq;
        }
        const auto* const points = sent == nullptr ? nullptr : reinterpret_cast<const float*>(sent + first);
        const float* const noise = noise_variance == nullptr ? nullptr : noise_variance + first;
        const int phase = static_cast<int>((first_symbol + first) % 2);
        return sums_of(kernels.sum(scale, {iq, points, noise, count, phase}), count);
    }
};

}  // namespace

struct PHY_HIDDEN SymbolMeter::Impl {
    /// Min symbols per thread.
    static constexpr std::size_t part = 8 * block;

    Host host;
    Config config;
    const detail::SymbolKernels& kernels;
    const detail::ArrayKernels& arrays;
    std::vector<Widened> widened;
    detail::MeterRows<SymbolSums, JoinSymbolSums> rows{host, block, part};

    void run(SymbolView symbols, const cf32* sent, const float* noise_variance, std::uint64_t first_symbol,
             std::size_t row, std::span<SymbolSums> sums) {
        detail::check_enum("sample format", symbols.format(), all_sample_formats.back());
        detail::check_rows(symbols.size(), row, sums.size());
        const bool is_float = symbols.format() == SampleFormat::cf32;
        const Call call = {symbols,
                           sent,
                           noise_variance,
                           first_symbol,
                           detail::symbol_scale(config, symbols.format()),
                           kernels,
                           arrays.widen[static_cast<std::size_t>(symbols.format())],
                           !is_float || !detail::is_aligned(symbols.data(), alignof(float))};
        rows(symbols.size(), row, sums, [&](std::size_t first, std::size_t count, int part) {
            return call.sum_block(first, count, widened[static_cast<std::size_t>(part)]);
        });
    }
};

SymbolMeter::SymbolMeter(const Host& host, const Config& config) {
    detail::check_config(config);
    const auto threads = static_cast<std::size_t>(host.threads());
    impl_.reset(new Impl{host, config, detail::symbol_kernels(host.backend()),
                         detail::array_kernels(host.backend()), std::vector<Widened>(threads)});
}

void SymbolMeter::operator()(SymbolView symbols, std::size_t row, std::span<SymbolSums> sums,
                             std::uint64_t first_symbol) {
    impl_->run(symbols, nullptr, nullptr, first_symbol, row, sums);
}

void SymbolMeter::operator()(SymbolView symbols, std::span<const cf32> sent, std::size_t row,
                             std::span<SymbolSums> sums) {
    detail::check_size("sent", sent.size(), symbols.size());
    impl_->run(symbols, sent.data(), nullptr, 0, row, sums);
}

void SymbolMeter::operator()(std::span<const cf32> symbols, std::span<const float> noise_variance,
                             std::size_t row, std::span<SymbolSums> sums, std::uint64_t first_symbol) {
    detail::check_size("noise_variance", noise_variance.size(), symbols.size());
    impl_->run(symbols, nullptr, noise_variance.data(), first_symbol, row, sums);
}

SymbolSums SymbolMeter::operator()(SymbolView symbols, std::uint64_t first_symbol) {
    SymbolSums sums;
    if (symbols.size() > 0) (*this)(symbols, symbols.size(), std::span(&sums, 1), first_symbol);
    return sums;
}

const Host& SymbolMeter::host() const {
    return impl_->host;
}

const SymbolMeter::Config& SymbolMeter::config() const {
    return impl_->config;
}

namespace {

/// The median over blocks: a few symbols that are far too large, or blocks of zeros, do not change it.
double median_power(const Host& host, const SymbolMeterConfig& config, SymbolView symbols) {
    std::vector<SymbolSums> rows(symbols.size() / block + (symbols.size() % block != 0 ? 1 : 0));
    SymbolMeter(host, config)(symbols, block, rows);
    std::vector<double> powers;
    for (const SymbolSums& sums : rows) {
        const double power = detail::mean_power(sums, config, symbols.format());
        if (power > 0.0) powers.push_back(power);
    }
    if (powers.empty()) throw ArgumentError("no symbol is finite and nonzero: expected at least one");
    const auto middle = powers.begin() + static_cast<std::ptrdiff_t>(powers.size() / 2);
    std::nth_element(powers.begin(), middle, powers.end());
    return *middle;
}

}  // namespace

GainAndNoise estimate_gain(const Host& host, const SymbolMeterConfig& config, SymbolView symbols,
                           std::uint64_t first_symbol) {
    SymbolMeterConfig tried = config;
    tried.gain = 1.0F;
    GainAndNoise found = {.gain = std::sqrt(median_power(host, tried, symbols)), .noise_variance = 0.0};
    constexpr int max_turns = 8;
    for (int turn = 0; turn < max_turns; ++turn) {
        tried.gain = static_cast<float>(found.gain);
        const SymbolMeasurement measured =
            measurement_of(SymbolMeter(host, tried)(symbols, first_symbol), tried, symbols.format());
        const double before = found.gain;
        if (!(measured.gain >= 0x1p-40 && measured.gain <= 0x1p40)) break;
        found = {.gain = measured.gain, .noise_variance = measured.noise_variance};
        if (std::abs(found.gain - before) < 1e-5 * before) break;
    }
    return found;
}

}  // namespace phy
