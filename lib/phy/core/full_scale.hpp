#pragma once

#include "phy/core/check.hpp"
#include "phy/core/export.hpp"
#include "phy/core/format.hpp"

namespace phy {

/// The integer that stands for 1.0 in integer samples, which are divided by it. Floating-point samples are
/// not scaled. The default is that of the format: 2^(bits-1).
class PHY_EXPORT FullScale {
public:
    constexpr FullScale() = default;

    /// Not explicit, so that a configuration takes a number: {.full_scale = 2048.0F}. Throws ArgumentError
    /// unless the value lies from 2^-126 to 2^126.
    FullScale(float value) : value_(value) {  // NOLINT(google-explicit-constructor)
        // The normal numbers whose reciprocals are normal too. NaN is refused.
        const bool is_in_range = value >= 0x1p-126F && value <= 0x1p126F;
        if (!is_in_range)
            throw ArgumentError("full_scale " + detail::number_text(value) +
                                ": expected a number from 2^-126 to 2^126");
    }

    /// Returns the given value, or 2^(bits-1) if none was given; 1 for floating-point formats.
    [[nodiscard]] constexpr float value_for(SampleFormat format) const {
        const float of_format = default_full_scale(format);
        const bool is_integer = of_format != 1.0F;
        return is_integer && value_ != 0.0F ? value_ : of_format;
    }

    friend constexpr bool operator==(FullScale, FullScale) = default;

private:
    float value_ = 0.0F;  ///< 0: none was given
};

}  // namespace phy
