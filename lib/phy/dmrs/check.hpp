#pragma once

#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Does what check() does, without the search for data elements. Allocates nothing.
void check_but_data(const SlotAllocation& allocation);

}  // namespace phy::detail
