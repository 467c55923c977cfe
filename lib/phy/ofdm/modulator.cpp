#include "phy/ofdm/modulator.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "phy/machine/thread_pool.hpp"
#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/check.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/ofdm/math/phases.hpp"
#include "phy/ofdm/math/symbol_phase-inl.h"
#include "phy/simd/arrays.hpp"

namespace phy {

using ScalarOps = detail::scalar::Ops;
using ScalarComplex = detail::scalar::Complex<ScalarOps>;

struct PHY_HIDDEN OfdmModulator::Impl {
    /// A symbol of one antenna.
    struct Symbol {
        std::uint64_t slot;
        std::size_t number;  ///< in its slot
        const cf32* elements;
        cf32* slot_samples;
    };

    Impl(const Host& on, const Config& given);

    void modulate(int part, const Symbol& symbol);
    void fill_bins(const Symbol& symbol, std::size_t first_sample, float* bins) const;

    Host host;
    Config config;
    OfdmTiming timing;
    detail::FftPlan plan;
    detail::PhaseTables phases;
    std::vector<cf32> rotation;  ///< factors from the longest prefix's first sample on; empty: none
    detail::FftWorkspace workspace;
    const detail::FftKernels& fft;
};

OfdmModulator::Impl::Impl(const Host& on, const Config& given)
    : host(on),
      config(given),
      timing(detail::checked_timing(given)),
      plan(timing.fft_size(), detail::FactorOrder::vectors),
      phases(given, timing, detail::PhaseTables::Side::transmitter),
      workspace(on.pool().size(), 4 * timing.fft_size(), timing.fft_size()),
      fft(detail::fft_kernels(on.backend())) {
    if (!phases.shifts()) return;
    const std::size_t prefix = timing.prefix_samples(0, 0);
    phases.append_rotation(-static_cast<std::int64_t>(prefix), prefix + timing.fft_size(), rotation);
}

/// Swaps real and imaginary parts: the transform then gives the inverse transform, also swapped.
void OfdmModulator::Impl::fill_bins(const Symbol& symbol, std::size_t first_sample, float* bins) const {
    const auto phase = detail::scalar::symbol_phase<ScalarOps>(
        phases.symbols(), timing.symbol_of_subframe(symbol.slot, symbol.number),
        timing.slot_start(symbol.slot) + first_sample);
    const auto size = static_cast<float>(timing.fft_size());
    const ScalarComplex factor = {phase.re / size, phase.im / size};
    std::fill_n(bins, 2 * timing.fft_size(), 0.0F);
    const std::size_t zero = timing.zero_subcarrier();
    for (std::size_t i = 0; i < timing.subcarriers(); ++i) {
        const ScalarComplex element = {symbol.elements[i].real(), symbol.elements[i].imag()};
        const auto scaled = detail::scalar::product<ScalarOps>(element, factor);
        const std::size_t bin = i < zero ? timing.fft_size() - zero + i : i - zero;
        bins[2 * bin] = scaled.im;
        bins[2 * bin + 1] = scaled.re;
    }
}

void OfdmModulator::Impl::modulate(int part, const Symbol& symbol) {
    const std::size_t size = timing.fft_size();
    const std::size_t prefix = timing.prefix_samples(symbol.slot, symbol.number);
    const std::size_t start = timing.symbol_start(symbol.slot, symbol.number);
    float* const points = workspace.row(part);
    fill_bins(symbol, start + prefix, points);
    fft.transform_in_place(plan.fft(), points, workspace.work(part));
    cf32* const out = symbol.slot_samples + start;
    const cf32* const turns =
        rotation.empty() ? nullptr : rotation.data() + timing.prefix_samples(0, 0) - prefix;
    for (std::size_t i = 0; i < prefix + size; ++i) {
        const std::size_t from = i < prefix ? size - prefix + i : i - prefix;
        ScalarComplex sample = {points[2 * from + 1], points[2 * from]};
        if (turns != nullptr)
            sample = detail::scalar::product<ScalarOps>(sample, {turns[i].real(), turns[i].imag()});
        sample = detail::scalar::with_one_nan<ScalarOps>(sample);
        out[i] = {sample.re, sample.im};
    }
}

OfdmModulator::OfdmModulator(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(host, config)) {}
void OfdmModulator::operator()(std::span<const cf32> grid, const OfdmSlots& slots, std::span<cf32> samples) {
    const OfdmTiming& timing = impl_->timing;
    const detail::OfdmSizes sizes =
        detail::checked_sizes(impl_->config, timing, slots, samples.size(), grid.size());
    impl_->host.pool().for_each(sizes.rows, [&](int part, std::size_t index) noexcept {
        const detail::OfdmRow row = sizes.row(index);
        impl_->modulate(part,
                        {.slot = slots.first + row.slot,
                         .number = row.symbol,
                         .elements = grid.data() + sizes.first_element(timing, row),
                         .slot_samples = samples.data() + sizes.first_sample(timing, slots.first, row)});
    });
}

const OfdmTiming& OfdmModulator::timing() const {
    return impl_->timing;
}

const Host& OfdmModulator::host() const {
    return impl_->host;
}

const OfdmModulator::Config& OfdmModulator::config() const {
    return impl_->config;
}

}  // namespace phy
