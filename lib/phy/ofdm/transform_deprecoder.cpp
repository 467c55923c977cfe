#include "phy/ofdm/transform_deprecoder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "phy/machine/thread_pool.hpp"
#include "phy/ofdm/math/check_precoding.hpp"
#include "phy/ofdm/math/deprecoding-inl.h"
#include "phy/ofdm/transform_precoder.hpp"
#include "phy/reduce/lanes.hpp"

namespace phy {
namespace {

namespace scalar = detail::scalar;
using Ops = scalar::Ops;
constexpr auto lanes = static_cast<std::size_t>(scalar::precoding_lanes);

using Lanes = std::array<float, lanes>;

struct Sums {
    Lanes weights = {};
    Lanes noises = {};

    void add(std::size_t lane, float weight, float noise) {
        weights[lane] = Ops::add(weights[lane], weight);
        noises[lane] = Ops::add(noises[lane], scalar::subcarrier_noise<Ops>(noise));
    }
};

/// Weights the subcarriers of an OFDM symbol and replaces their noise variances by those of its symbols.
template <bool mmse>
void weigh(cf32* symbols, float* noise_variance, std::size_t count) {
    Sums sums;
    for (std::size_t first = 0; first < count; first += lanes) {
        const std::size_t here = std::min(lanes, count - first);
        for (std::size_t lane = 0; lane < here; ++lane) {
            const float noise = noise_variance[first + lane];
            const float weight = scalar::subcarrier_weight<Ops>(mmse, noise);
            sums.add(lane, weight, noise);
            auto& symbol = symbols[first + lane];
            symbol = {Ops::mul(symbol.real(), weight), Ops::mul(symbol.imag(), weight)};
        }
    }
    const scalar::PrecodedSymbol common = scalar::precoded_symbol<Ops>(
        mmse, detail::sum_of_lanes<lanes>(sums.weights.data()),
        detail::sum_of_lanes<lanes>(sums.noises.data()), static_cast<float>(count));
    noise_variance[0] = common.mean_weight;
    std::fill(noise_variance + 1, noise_variance + count, common.noise);
}

/// After the DFT, with the noise variances that weigh() left.
void finish(cf32* symbols, float* noise_variance, std::size_t count) {
    const scalar::PrecodedSymbol common = {noise_variance[0], noise_variance[1]};
    for (std::size_t i = 0; i < count; ++i) {
        float re = symbols[i].real();
        float im = symbols[i].imag();
        scalar::finish_symbol<Ops>(common, re, im, noise_variance[i]);
        symbols[i] = {re, im};
    }
}

}  // namespace

struct PHY_HIDDEN TransformDeprecoder::Impl {
    Config config;
    TransformPrecoder transform;
};

TransformDeprecoder::TransformDeprecoder(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(
          Impl{config, TransformPrecoder(host, {.subcarriers = config.subcarriers,
                                                .direction = TransformPrecoderConfig::Direction::undo})})) {}
void TransformDeprecoder::operator()(std::span<cf32> symbols, std::span<float> noise_variance) {
    const auto count = static_cast<std::size_t>(impl_->config.subcarriers);
    detail::check_precoding_sizes(count, "symbols", symbols.size(), "noise_variance", noise_variance.size());
    const auto for_rows = [&](const auto& job) {
        host().pool().for_each(symbols.size() / count, [&](int /*part*/, std::size_t row) noexcept {
            job(symbols.data() + row * count, noise_variance.data() + row * count, count);
        });
    };
    for_rows(impl_->config.mmse ? weigh<true> : weigh<false>);
    impl_->transform(symbols, symbols);
    for_rows(finish);
}

const Host& TransformDeprecoder::host() const {
    return impl_->transform.host();
}

const TransformDeprecoder::Config& TransformDeprecoder::config() const {
    return impl_->config;
}

}  // namespace phy
