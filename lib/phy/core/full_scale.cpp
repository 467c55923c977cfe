#include "phy/core/full_scale.hpp"

#include "phy/core/error.hpp"
#include "phy/core/number_text.hpp"

namespace phy {

FullScale::FullScale(float value) : value_(value) {
    // The normal numbers whose reciprocals are normal too. NaN is refused.
    const bool is_in_range = value >= 0x1p-126F && value <= 0x1p126F;
    if (!is_in_range)
        throw ArgumentError("full_scale " + detail::number_text(value) +
                            ": expected a number from 2^-126 to 2^126");
}

}  // namespace phy
