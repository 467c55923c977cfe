#pragma once

#include <cstddef>
#include <optional>

#include "phy/core/format.hpp"
#include "phy/measure/soft_bit_sums.hpp"

/// What meters of soft bits refuse, wherever their memory is.
namespace phy::detail {

/// Throws ArgumentError if a value is out of its range.
void check_config(const SoftBitMeterConfig& config);

/// The sizes of a call's arrays.
struct SoftBitCallSizes {
    std::size_t soft_bits;
    std::optional<std::size_t> truth;  ///< none: nothing to compare with
    std::size_t row;
    std::size_t sums;
};

/// Throws ArgumentError unless they fit each other.
void check_call(SoftBitFormat format, const SoftBitCallSizes& sizes);

}  // namespace phy::detail
