#include "phy/measure/soft_bit_meter.hpp"

#include <optional>

#include "phy/measure/host/meter_rows.hpp"
#include "phy/measure/host/soft_bit_kernels.hpp"
#include "phy/measure/math/soft_bit_check.hpp"

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
        detail::check_call(format, {.soft_bits = soft_bits.size(),
                                    .truth = truth ? std::optional(truth->size()) : std::nullopt,
                                    .row = row,
                                    .sums = sums.size()});
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
    detail::check_config(config);
    impl_.reset(new Impl{host, config, detail::soft_bit_kernels(host.backend())});
}

SoftBitMeter::~SoftBitMeter() = default;
SoftBitMeter::SoftBitMeter(SoftBitMeter&&) noexcept = default;
SoftBitMeter& SoftBitMeter::operator=(SoftBitMeter&&) noexcept = default;

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

}  // namespace phy
