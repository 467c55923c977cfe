#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/math/soft_bit_check.hpp"

namespace phy {
namespace detail {

void check_config(const SoftBitMeterConfig& config) {
    if (!(config.llr_scale >= 1.0F / 64 && config.llr_scale <= 4096.0F))
        throw ArgumentError("llr_scale is " + number_text(config.llr_scale) + ": expected 1/64 to 4096");
    if (config.llr_clip < 1 || config.llr_clip > 127)
        throw ArgumentError("llr_clip is " + std::to_string(config.llr_clip) + ": expected 1 to 127");
}

void check_call(SoftBitFormat format, const SoftBitCallSizes& sizes) {
    check_enum("soft-bit format", format, all_soft_bit_formats.back());
    if (sizes.row == 0) throw ArgumentError("row 0: expected rows of at least one soft bit");
    if (sizes.truth) check_size("truth", *sizes.truth, sizes.soft_bits);
    check_size("sums", sizes.sums, sizes.soft_bits / sizes.row + (sizes.soft_bits % sizes.row != 0 ? 1 : 0));
}

}  // namespace detail

SoftBitMeasurement measurement_of(const SoftBitSums& sums, const SoftBitMeterConfig& config,
                                  SoftBitFormat format) {
    detail::check_config(config);
    detail::check_enum("soft-bit format", format, all_soft_bit_formats.back());
    const double per_nat = format == SoftBitFormat::int8 ? double{config.llr_scale} : 1.0;
    const auto count = static_cast<double>(sums.soft_bits);
    return {.soft_bits = sums.soft_bits,
            .not_finite = sums.not_finite,
            .mean_magnitude = sums.magnitude / count / per_nat,
            .saturated = static_cast<double>(sums.saturated) / count,
            .zeros = static_cast<double>(sums.zeros) / count,
            .bit_error_rate = static_cast<double>(sums.bit_errors) / static_cast<double>(sums.compared)};
}

}  // namespace phy
