#pragma once

#include <cstdint>
#include <span>

#include "phy/core/view.hpp"

namespace phy::detail {

/// Hard decisions that are not the transmitted bits, of which there is one a byte for each soft bit. A soft
/// bit of 0 counts as bit 0.
std::uint64_t count_bit_errors(SoftBitView soft_bits, std::span<const std::uint8_t> truth);

}  // namespace phy::detail
