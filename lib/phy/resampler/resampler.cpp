#include "phy/resampler/resampler.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/resampler/filter.hpp"
#include "phy/simd/aligned_vector.hpp"
#include "phy/simd/arrays.hpp"

#define PHY_KERNELS "phy/resampler/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const ResamplerKernels& resampler_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, ResamplerKernels);
}

/// Outputs per piece of work, and max input samples that they span.
constexpr std::size_t max_outputs = 2048;
constexpr std::uint64_t max_span = 8192;

}  // namespace
}  // namespace detail

struct PHY_HIDDEN Resampler::Impl {
    Impl(const Host& on, const Config& given);

    void load(SymbolView samples, std::int64_t first, float* pairs) const;
    void resample(int part, SymbolView samples, const ResampledRow& row, std::span<cf32> output);

    Host host;
    Config config;
    detail::PolyphaseFilter filter;
    std::size_t piece;                       ///< outputs
    std::size_t window;                      ///< input samples of a piece
    std::size_t plane;                       ///< numbers, with what vectors write beyond a window
    detail::AlignedVector<float> workspace;  ///< per thread: pairs, re, im
    const detail::ResamplerKernels& kernels;
    const detail::ArrayKernels& arrays;
};

Resampler::Impl::Impl(const Host& on, const Config& given)
    : host(on),
      config(given),
      filter(given),
      piece(std::clamp<std::size_t>((detail::max_span << 32U) / filter.max_step(), 1, detail::max_outputs)),
      window(((piece * filter.max_step()) >> 32U) + 2 + 2 * filter.margin()),
      plane(window + detail::padding),
      workspace(4 * plane * static_cast<std::size_t>(on.pool().size())),
      kernels(detail::resampler_kernels(on.backend())),
      arrays(detail::array_kernels(on.backend())) {}

/// The window from sample `first` on; samples outside of the row are 0.
void Resampler::Impl::load(SymbolView samples, std::int64_t first, float* pairs) const {
    const auto end = static_cast<std::int64_t>(samples.size());
    const auto last = first + static_cast<std::int64_t>(window);
    const std::int64_t from = std::clamp<std::int64_t>(first, 0, end);
    const std::int64_t to = std::clamp<std::int64_t>(last, from, end);
    const auto there = static_cast<std::size_t>(to - from);
    const auto before = std::min(static_cast<std::size_t>(from - std::min(first, from)), window);
    const SymbolView part = samples.subspan(static_cast<std::size_t>(from), there);
    const auto unit = static_cast<float>(1.0 / double{config.full_scale.value_for(samples.format())});
    std::fill_n(pairs, 2 * before, 0.0F);
    arrays.widen[static_cast<std::size_t>(samples.format())](part.data(), pairs + 2 * before, 2 * there,
                                                             unit);
    std::fill_n(pairs + 2 * (before + there), 2 * (window - before - there), 0.0F);
}

void Resampler::Impl::resample(int part, SymbolView samples, const ResampledRow& row,
                               std::span<cf32> output) {
    float* const pairs = workspace.data() + static_cast<std::size_t>(part) * 4 * plane;
    float* const re = pairs + 2 * plane;
    float* const im = re + plane;
    const auto whole = static_cast<std::int64_t>(row.position >> 32U);
    load(samples, whole - static_cast<std::int64_t>(filter.margin() - 1), pairs);
    kernels.split(pairs, window, re, im);
    const ResampledRow in_window = {.position = row.position & 0xFFFFFFFFU, .step = row.step};
    kernels.resample(filter.view(), re, im, in_window, output.size(), output.data());
}

Resampler::Resampler(const Host& host, const Config& config) : impl_(std::make_unique<Impl>(host, config)) {}
Resampler::~Resampler() = default;
Resampler::Resampler(Resampler&&) noexcept = default;
Resampler& Resampler::operator=(Resampler&&) noexcept = default;

void Resampler::operator()(SymbolView input, std::span<const ResampledRow> rows, std::span<cf32> output) {
    detail::check_enum("sample format", input.format(), all_sample_formats.back());
    const detail::ResampledSizes sizes =
        impl_->filter.checked_sizes(rows.size(), input.size(), output.size());
    for (const ResampledRow& row : rows) {
        if (!impl_->filter.allows(row.step))
            throw ArgumentError("step " + std::to_string(row.step) + ": expected " + std::to_string(step()) +
                                " within one part in 1,000");
        if (row.position >= detail::max_position)
            throw ArgumentError("position " + std::to_string(row.position) + ": expected less than 2^62");
    }
    const std::size_t pieces = (sizes.outputs + impl_->piece - 1) / impl_->piece;
    impl_->host.pool().for_each(sizes.rows * pieces, [&](int part, std::size_t index) noexcept {
        const std::size_t number = index / pieces;
        const std::size_t first = index % pieces * impl_->piece;
        const ResampledRow row = {.position = rows[number].position + first * rows[number].step,
                                  .step = rows[number].step};
        impl_->resample(
            part, input.subspan(number * sizes.inputs, sizes.inputs), row,
            output.subspan(number * sizes.outputs + first, std::min(impl_->piece, sizes.outputs - first)));
    });
}

std::size_t Resampler::margin() const {
    return impl_->filter.margin();
}

std::uint64_t Resampler::step() const {
    return impl_->filter.step();
}

const Host& Resampler::host() const {
    return impl_->host;
}

const Resampler::Config& Resampler::config() const {
    return impl_->config;
}

}  // namespace phy
