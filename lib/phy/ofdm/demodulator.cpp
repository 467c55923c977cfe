#include "phy/ofdm/demodulator.hpp"

#include <cstddef>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/check.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/ofdm/math/phases.hpp"
#include "phy/ofdm/math/symbol_phase-inl.h"
#include "phy/simd/arrays.hpp"

namespace phy {

using detail::scalar::symbol_phase;
using ScalarOps = detail::scalar::Ops;

struct PHY_HIDDEN OfdmDemodulator::Impl {
    /// A symbol of one antenna.
    struct Symbol {
        std::uint64_t slot;
        std::size_t number;  ///< in its slot
        const std::byte* slot_samples;
        cf32* elements;
    };

    Impl(const Host& on, const Config& given);

    void demodulate(SampleFormat format, int part, const Symbol& symbol);
    const float* points_of(SampleFormat format, int part, const std::byte* window);

    Host host;
    Config config;
    OfdmTiming timing;
    std::size_t window_offset;
    detail::FftPlan plan;
    detail::PhaseTables phases;
    std::vector<cf32> rotation;  ///< factors of samples in the order of the transform; empty: none
    detail::FftWorkspace workspace;
    const detail::FftKernels& fft;
    const detail::ArrayKernels& arrays;
};

OfdmDemodulator::Impl::Impl(const Host& on, const Config& given)
    : host(on),
      config(given),
      timing(detail::checked_timing(given.ofdm)),
      window_offset(detail::checked_window_offset(given, timing)),
      plan(timing.fft_size(), detail::FactorOrder::vectors),
      phases(given.ofdm, timing, detail::PhaseTables::Side::receiver),
      rotation(detail::receiver_rotation(window_offset, timing, phases)),
      workspace(on.pool().size(), 4 * timing.fft_size(), timing.fft_size() + detail::padding),
      fft(detail::fft_kernels(on.backend())),
      arrays(detail::array_kernels(on.backend())) {}

/// The samples in the order of the transform, as binary32, rotated.
const float* OfdmDemodulator::Impl::points_of(SampleFormat format, int part, const std::byte* window) {
    const std::size_t size = timing.fft_size();
    if (format == SampleFormat::cf32 && window_offset == 0 && rotation.empty())
        return reinterpret_cast<const float*>(window);
    const auto widen = arrays.widen[static_cast<std::size_t>(format)];
    const float unit = detail::unit_of(config, format);
    float* const row = workspace.row(part);
    // In this order, because vectors write beyond the end.
    widen(window + window_offset * size_of(format), row, 2 * (size - window_offset), unit);
    if (window_offset > 0) widen(window, row + 2 * (size - window_offset), 2 * window_offset, unit);
    if (!rotation.empty()) fft.multiply(row, reinterpret_cast<const float*>(rotation.data()), size, row);
    return row;
}

void OfdmDemodulator::Impl::demodulate(SampleFormat format, int part, const Symbol& symbol) {
    const std::size_t first =
        timing.symbol_start(symbol.slot, symbol.number) + timing.prefix_samples(symbol.slot, symbol.number);
    const std::size_t window = first - window_offset;
    const float* const points = points_of(format, part, symbol.slot_samples + window * size_of(format));
    const auto phase =
        symbol_phase<ScalarOps>(phases.symbols(), timing.symbol_of_subframe(symbol.slot, symbol.number),
                                timing.slot_start(symbol.slot) + first);
    fft.transform(plan.fft(), points, workspace.work(part),
                  {.out = reinterpret_cast<float*>(symbol.elements),
                   .count = timing.subcarriers(),
                   .zero = timing.zero_subcarrier(),
                   .factor = {phase.re, phase.im}});
}

OfdmDemodulator::OfdmDemodulator(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(host, config)) {}
void OfdmDemodulator::operator()(SymbolView samples, const OfdmSlots& slots, std::span<cf32> grid) {
    const OfdmTiming& timing = impl_->timing;
    const SampleFormat format = samples.format();
    detail::check_enum("sample format", format, all_sample_formats.back());
    const detail::OfdmSizes sizes =
        detail::checked_sizes(impl_->config.ofdm, timing, slots, samples.size(), grid.size());
    impl_->host.pool().for_each(sizes.rows, [&](int part, std::size_t index) noexcept {
        const detail::OfdmRow row = sizes.row(index);
        const std::size_t start = sizes.first_sample(timing, slots.first, row);
        impl_->demodulate(format, part,
                          {.slot = slots.first + row.slot,
                           .number = row.symbol,
                           .slot_samples = samples.data() + start * size_of(format),
                           .elements = grid.data() + sizes.first_element(timing, row)});
    });
}

const OfdmTiming& OfdmDemodulator::timing() const {
    return impl_->timing;
}

const Host& OfdmDemodulator::host() const {
    return impl_->host;
}

const OfdmDemodulator::Config& OfdmDemodulator::config() const {
    return impl_->config;
}

}  // namespace phy
