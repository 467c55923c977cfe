#pragma once

#include <span>

#include "phy/dmrs/dmrs.hpp"

namespace phy::detail {

/// Writes the sequence of clause 6.4.1.1.1.2 for a symbol. Both symbols of a double DM-RS use the first.
void transform_precoded_pilots(const DmrsConfig& dmrs, int slot, int symbol, std::span<cf32> pilots);

}  // namespace phy::detail
