#pragma once

#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Which DM-RS ports have power in a grid, by their codes in frequency and, with double symbols, in time.
///
/// grid: (slots, antennas, symbols_per_slot, subcarriers); slots: their numbers in the frame. The DM-RS must
/// be right except for their ports. A port counts from a tenth of the strongest port's power on. Ports of the
/// allocation stay where noise leaves that open. Returns the allocation's ports in their order, then others,
/// ascending; empty if there are none, or more than max_layers.
std::vector<int> active_ports(const SlotAllocation& allocation, std::span<const cf32> grid,
                              std::span<const int> slots, std::size_t antennas);

}  // namespace phy::detail
