#pragma once

#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Does what check() does, but for the search for resource elements with data. Allocates nothing.
void check_but_data(const SlotAllocation& allocation);

}  // namespace phy::detail
