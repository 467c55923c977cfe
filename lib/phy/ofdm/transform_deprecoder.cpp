#include "phy/receiver/host/precoding_undoer.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "phy/receiver/chain/undo_precoding-inl.h"
#include "phy/reduce/reduce_host.hpp"

namespace phy::detail {
namespace {

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

/// Weighs the subcarriers of an OFDM symbol; the noise of all of them becomes that of its symbols.
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
        mmse, scalar::join_precoding_lanes(sums.weights.data()),
        scalar::join_precoding_lanes(sums.noises.data()), static_cast<float>(count));
    noise_variance[0] = common.mean_weight;
    std::fill(noise_variance + 1, noise_variance + count, common.noise);
}

/// After the DFT, which weigh() has left the noise for.
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

PrecodingUndoer::PrecodingUndoer(const Host& host, std::size_t subcarriers, Equalization equalization)
    : host_(host),
      subcarriers_(subcarriers),
      mmse_(equalization == Equalization::mmse),
      undo_(host, {.subcarriers = static_cast<int>(subcarriers),
                   .direction = TransformPrecoderConfig::Direction::undo}) {}

void PrecodingUndoer::operator()(std::span<cf32> symbols, std::span<float> noise_variance) {
    const std::size_t rows = symbols.size() / subcarriers_;
    share_pieces(host_, rows, 1, [&](std::uint64_t row, std::uint64_t /*end*/) {
        const std::size_t first = row * subcarriers_;
        const auto weigh_row = mmse_ ? &weigh<true> : &weigh<false>;
        weigh_row(symbols.data() + first, noise_variance.data() + first, subcarriers_);
    });
    undo_(symbols, symbols);
    share_pieces(host_, rows, 1, [&](std::uint64_t row, std::uint64_t /*end*/) {
        const std::size_t first = row * subcarriers_;
        finish(symbols.data() + first, noise_variance.data() + first, subcarriers_);
    });
}

}  // namespace phy::detail
