#pragma once

#include <cstddef>
#include <optional>

#include "phy/core/format.hpp"
#include "phy/measure/soft_bit_sums.hpp"

/// Argument checks of soft-bit meters, for host and device memory.
namespace phy::detail {

/// Throws ArgumentError if a value is out of its range.
void check_config(const SoftBitMeterConfig& config);

/// The sizes of a call's arrays.
struct SoftBitCallSizes {
    std::size_t soft_bits;
    std::optional<std::size_t> truth;  ///< none: no comparison
    std::size_t row;
    std::size_t sums;
};

/// Throws ArgumentError unless they match.
void check_call(SoftBitFormat format, const SoftBitCallSizes& sizes);

}  // namespace phy::detail
