#pragma once

#include <cstddef>
#include <span>

#include "phy/dmrs/dmrs.hpp"

namespace phy::detail {

/// phi(n) of tables 5.2.2.2-1 to -4: -3, -1, 1 or 3. length is 6, 12, 18 or 24.
int low_papr_phase(std::size_t length, int u, std::size_t n);

/// Writes the sequence of clause 6.4.1.1.1.2 for a symbol. Both symbols of a double DM-RS use the first.
void transform_precoded_pilots(const DmrsConfig& dmrs, int slot, int symbol, std::span<cf32> pilots);

}  // namespace phy::detail
