#include "phy/measure/soft_bit_meter.hpp"

#include <optional>

#include "phy/core/check.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/share.hpp"
#include "phy/measure/host/meter_rows.hpp"
#include "phy/measure/host/soft_bit_kernels.hpp"

#define PHY_KERNELS "phy/measure/host/soft_bit_kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const SoftBitKernels& soft_bit_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, SoftBitKernels);
}

}  // namespace
}  // namespace detail

struct PHY_HIDDEN SoftBitMeter::Impl {
    /// Min soft bits per thread.
    static constexpr std::size_t part = 16 * row_tree.block;

    Host host;
    Config config;
    const detail::SoftBitKernels& kernels;
    detail::MeterRows<SoftBitSums, JoinSoftBitSums> rows{host, row_tree.block, part};

    void run(SoftBitView soft_bits, std::optional<std::span<const std::uint8_t>> truth, std::size_t row,
             std::span<SoftBitSums> sums) {
        const SoftBitFormat format = soft_bits.format();
        detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
        if (row == 0) throw ArgumentError("row 0: expected rows of at least one soft bit");
        if (truth) detail::check_size("truth", truth->size(), soft_bits.size());
        detail::check_size("sums", sums.size(), detail::pieces_of(soft_bits.size(), row));
        const auto sum = kernels.sum[static_cast<std::size_t>(format)];
        const std::uint8_t* const bits = truth ? truth->data() : nullptr;
        rows(soft_bits.size(), row, sums, [&](std::size_t first, std::size_t count, int /*part*/) {
            return sum(
                {soft_bits.data() + first * size_of(format), bits == nullptr ? nullptr : bits + first, count},
                config.llr.clip);
        });
    }

    [[nodiscard]] SoftBitSums run(SoftBitView soft_bits, std::optional<std::span<const std::uint8_t>> truth) {
        SoftBitSums sums;
        const bool is_empty = soft_bits.size() == 0;
        run(soft_bits, truth, is_empty ? 1 : soft_bits.size(), std::span(&sums, is_empty ? 0 : 1));
        return sums;
    }
};

SoftBitMeter::SoftBitMeter(const Host& host, const Config& config) {
    detail::check_llr(config.llr);
    impl_.reset(new Impl{host, config, detail::soft_bit_kernels(host.backend())});
}

void SoftBitMeter::operator()(SoftBitView soft_bits, std::size_t row, std::span<SoftBitSums> sums) {
    impl_->run(soft_bits, std::nullopt, row, sums);
}

void SoftBitMeter::operator()(SoftBitView soft_bits, std::span<const std::uint8_t> truth, std::size_t row,
                              std::span<SoftBitSums> sums) {
    impl_->run(soft_bits, truth, row, sums);
}

SoftBitSums SoftBitMeter::operator()(SoftBitView soft_bits) {
    return impl_->run(soft_bits, std::nullopt);
}

SoftBitSums SoftBitMeter::operator()(SoftBitView soft_bits, std::span<const std::uint8_t> truth) {
    return impl_->run(soft_bits, truth);
}

const Host& SoftBitMeter::host() const {
    return impl_->host;
}

const SoftBitMeter::Config& SoftBitMeter::config() const {
    return impl_->config;
}

SoftBitMeasurement measurement_of(const SoftBitSums& sums, const SoftBitMeterConfig& config,
                                  SoftBitFormat format) {
    detail::check_llr(config.llr);
    detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    const double per_nat = format == SoftBitFormat::int8 ? double{config.llr.scale} : 1.0;
    const auto count = static_cast<double>(sums.soft_bits);
    return {.soft_bits = sums.soft_bits,
            .not_finite = sums.not_finite,
            .mean_magnitude = sums.magnitude / count / per_nat,
            .saturated = static_cast<double>(sums.saturated) / count,
            .zeros = static_cast<double>(sums.zeros) / count,
            .bit_error_rate = static_cast<double>(sums.bit_errors) / static_cast<double>(sums.compared)};
}

}  // namespace phy
