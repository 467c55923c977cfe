#include "phy/ofdm/transform_precoder.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/machine/thread_pool.hpp"
#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/check_precoding.hpp"
#include "phy/ofdm/math/fft_plan.hpp"

namespace phy {

struct PHY_HIDDEN TransformPrecoder::Impl {
    Impl(const Host& on, const Config& given)
        : host(on),
          config(given),
          size(detail::checked_precoding(given)),
          plan(size, detail::FactorOrder::pairs),
          fft(detail::fft_kernels(on.backend())),
          workspace(on.pool().size(), 2 * fft.lanes * size, fft.lanes * size),
          factor(detail::precoding_factor(size)) {}

    void transform(int part, const cf32* in, std::size_t count, cf32* out);

    Host host;
    Config config;
    std::size_t size;
    detail::FftPlan plan;
    const detail::FftKernels& fft;
    detail::FftWorkspace workspace;
    float factor;
};

/// Transforms as many symbols as there are lanes, or the last ones. The inverse swaps real and imaginary
/// parts.
void TransformPrecoder::Impl::transform(int part, const cf32* in, std::size_t count, cf32* out) {
    const bool inverse = config.direction == Config::Direction::undo;
    const detail::FftWork work = workspace.work(part);
    float* const re = work[0] + (inverse ? fft.lanes : 0);
    float* const im = work[0] + (inverse ? 0 : fft.lanes);
    for (std::size_t t = 0; t < fft.lanes; ++t) {
        for (std::size_t i = 0; i < size; ++i) {
            const cf32 point = t < count ? in[t * size + i] : cf32(0.0F);
            re[2 * i * fft.lanes + t] = point.real();
            im[2 * i * fft.lanes + t] = point.imag();
        }
    }
    float* const row = workspace.row(part);
    fft.scale(fft.transform_lanes(plan.fft(), work), fft.lanes * size, factor, row);
    for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t i = 0; i < size; ++i) {
            const float* const element = row + 2 * (i * fft.lanes + t);
            out[t * size + i] = inverse ? cf32(element[1], element[0]) : cf32(element[0], element[1]);
        }
    }
}

TransformPrecoder::TransformPrecoder(const Host& host, const Config& config)
    : impl_(std::make_unique<Impl>(host, config)) {}
void TransformPrecoder::operator()(std::span<const cf32> in, std::span<cf32> out) {
    const std::size_t size = impl_->size;
    detail::check_precoding_sizes(size, "in", in.size(), "out", out.size());
    const std::size_t symbols = in.size() / size;
    const std::size_t together = impl_->fft.lanes;
    impl_->host.pool().for_each((symbols + together - 1) / together, [&](int part, std::size_t i) noexcept {
        const std::size_t first = i * together;
        impl_->transform(part, in.data() + first * size, std::min(together, symbols - first),
                         out.data() + first * size);
    });
}

const Host& TransformPrecoder::host() const {
    return impl_->host;
}

const TransformPrecoder::Config& TransformPrecoder::config() const {
    return impl_->config;
}

namespace detail {

std::size_t checked_precoding(const TransformPrecoderConfig& config) {
    check_enum("direction", config.direction, TransformPrecoderConfig::Direction::undo);
    const int size = config.subcarriers;
    if (size >= 12 && size <= 3240 && size % 12 == 0 && has_small_factors(static_cast<std::size_t>(size)))
        return static_cast<std::size_t>(size);
    throw ArgumentError("subcarriers " + std::to_string(size) +
                        ": expected a multiple of 12 to 3240 without prime factors above 5");
}

void check_precoding_sizes(std::size_t size, const char* in_name, std::size_t in, const char* out_name,
                           std::size_t out) {
    if (in % size != 0)
        throw ArgumentError(std::string(in_name) + " has " + std::to_string(in) +
                            " elements: expected a multiple of " + std::to_string(size));
    check_size(out_name, out, in);
}

float precoding_factor(std::size_t size) {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(size)));
}

}  // namespace detail

}  // namespace phy
