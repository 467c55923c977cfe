#pragma once

#include "phy/core/check_enum.hpp"
#include "phy/core/error.hpp"
#include "phy/core/number_text.hpp"
#include "phy/scaling/scaler.hpp"

namespace phy::detail {

/// Throws ArgumentError if a value is out of its range.
inline void check_config(const SymbolScaler::Config& config) {
    const auto is_scale = [](double value) { return value >= 0x1p-126 && value <= 0x1p126; };
    if (!(config.gain >= 0x1p-40F && config.gain <= 0x1p40F))
        throw ArgumentError("gain " + number_text(config.gain) + ": expected a number from 2^-40 to 2^40");
    if (config.full_scale == 0.0F) return;
    if (!is_scale(config.full_scale) || !is_scale(double{config.full_scale} * double{config.gain}))
        throw ArgumentError("full_scale " + number_text(config.full_scale) + " with gain " +
                            number_text(config.gain) +
                            ": expected 0 or a number that is, also times the gain, from 2^-126 to 2^126");
}

/// What components are multiplied by.
inline float scaling_factor(const SymbolScaler::Config& config, SampleFormat format) {
    check_enum("sample format", format, all_sample_formats.back());
    const float of_format = default_full_scale(format);
    const bool is_given = of_format != 1.0F && config.full_scale != 0.0F;
    const double full_scale = is_given ? config.full_scale : of_format;
    return static_cast<float>(1.0 / (full_scale * double{config.gain}));
}

}  // namespace phy::detail
