#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Does what check() does, without the search for data elements. Allocates nothing.
void check_but_data(const SlotAllocation& allocation);

/// Whether SlotAllocation::reserved has the element.
bool is_reserved(const SlotAllocation& allocation, int symbol, int subcarrier);

/// The DM-RS ports of SlotAllocation::ptrs, which must be there. Allocates nothing.
std::span<const int> ports_of_ptrs(const SlotAllocation& allocation);

/// Returns the positions of PT-RS as an allocation of their own: see ptrs_allocation(). With transform
/// precoding, samples in the place of subcarriers.
std::optional<SlotAllocation> ptrs_positions(const SlotAllocation& allocation);

/// Returns the allocation without ptrs.
SlotAllocation without_ptrs(SlotAllocation allocation);

/// N_group and N_samp of TS 38.214 table 6.2.3.2-1.
struct PtrsGroups {
    int count;
    int samples;
};
inline constexpr PtrsGroups ptrs_groups[] = {{2, 2}, {2, 4}, {4, 2}, {4, 4}, {8, 4}};

/// The first sample of a group, of table 6.4.1.2.2.2-1. group: from 0 on.
int first_of_ptrs_group(const PtrsConfig& ptrs, int group, int resource_blocks);

/// Writes the sequence of clause 6.4.1.1.1.2 for a symbol. Both symbols of a double DM-RS use the first.
void transform_precoded_pilots(const DmrsConfig& dmrs, int slot, int symbol, std::span<cf32> pilots);

}  // namespace phy::detail
