#include "phy/detector/math/plan.hpp"

#include <string>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {

LlrRange llr_range(const LlrConfig& config, SoftBitFormat format) {
    if (format == SoftBitFormat::int8) return {config.scale, static_cast<float>(config.clip) / config.scale};
    return {1.0F, soft_bit_format_facts[static_cast<std::size_t>(format)].largest};
}

void check(const JointDetectorConfig& config) {
    check_enum("modulation", config.modulation, all_modulations.back());
    check_llr(config.llr);
    if (bits_per_symbol(config.modulation) == 1)
        throw ArgumentError("detection of two layers with " + std::string(to_string(config.modulation)) +
                            ": expected QPSK or a modulation of more bits");
    if (config.llr.method != Method::max_log)
        throw ArgumentError("detection of two layers with log-MAP: expected max-log");
}

void check(const JointDetectorConfig& config, const DetectorSizes& sizes, SoftBitFormat format) {
    check_enum("soft-bit format", format, all_soft_bit_formats.back());
    check_size("llr", sizes.llr, 2 * sizes.pairs * bits_per_symbol(config.modulation));
    if (sizes.signs != 0) check_size("signs", sizes.signs, (sizes.llr + 31) / 32);
    if (sizes.priors != 0) check_size("priors", sizes.priors, sizes.llr);
}

}  // namespace phy::detail
