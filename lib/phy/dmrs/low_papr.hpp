#pragma once

#include <span>

#include "phy/dmrs/dmrs.hpp"

namespace phy::detail {

/// The sequence of 6.4.1.1.1.2 in a symbol; of a double DM-RS that is its first, for both.
void transform_precoded_pilots(const DmrsConfig& dmrs, int slot, int symbol, std::span<cf32> pilots);

}  // namespace phy::detail
