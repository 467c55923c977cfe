#include <bit>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/dmrs/pilots.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy {
namespace {

constexpr std::uint32_t all_subcarriers = (1U << subcarriers_per_resource_block) - 1;

/// The subcarriers that carry data in DM-RS symbols.
std::uint32_t mask_beside(const DmrsConfig& dmrs) {
    std::uint32_t mask = all_subcarriers;
    for (int group = 0; group < dmrs.cdm_groups_without_data; ++group) {
        for (int i = 0; i < pilots_per_resource_block(dmrs.type); ++i)
            mask &= ~(1U << pilot_subcarrier(dmrs.type, group, i));
    }
    return mask;
}

}  // namespace

ResourceMap::ResourceMap(const SlotAllocation& allocation) {
    detail::check_but_data(allocation);
    const auto carrier = static_cast<std::size_t>(allocation.carrier_resource_blocks);
    entries_.resize(carrier * symbols_per_slot);
    const auto entry = [&](int symbol, int block) -> Entry& {
        return entries_[static_cast<std::size_t>(symbol) * carrier + static_cast<std::size_t>(block)];
    };
    const auto for_each_entry = [&](const auto& action) {
        for (int symbol = 0; symbol < allocation.symbols; ++symbol) {
            for (const ResourceBlocks& range : allocation.resource_blocks) {
                for (int block = 0; block < range.count; ++block)
                    action(entry(allocation.first_symbol + symbol, range.first + block));
            }
        }
    };

    for_each_entry([](Entry& e) { e.mask = all_subcarriers; });
    const std::uint32_t beside_dmrs = mask_beside(allocation.dmrs);
    for (const int symbol : allocation.dmrs.symbols) {
        for (int block = 0; block < allocation.carrier_resource_blocks; ++block)
            entry(symbol, block).mask &= beside_dmrs;
    }
    for (const ReservedElements& reserved : allocation.reserved) {
        std::uint32_t mask = 0;
        for (const int subcarrier : reserved.subcarriers)
            mask |= 1U << subcarrier;
        for (const int symbol : reserved.symbols) {
            for (int block = 0; block < reserved.resource_blocks.count; ++block)
                entry(symbol, reserved.resource_blocks.first + block).mask &= ~mask;
        }
    }
    if (allocation.ptrs) {
        const std::vector<PtrsPort> ports = ptrs_ports(allocation);
        for (const int symbol : ptrs_symbols(allocation)) {
            for (const PtrsPort& port : ports) {
                for (const int k : port.subcarriers)
                    entry(symbol, k / subcarriers_per_resource_block).mask &=
                        ~(1U << k % subcarriers_per_resource_block);
            }
        }
    }
    for_each_entry([&](Entry& e) {
        if (e.mask != 0) e.first = static_cast<std::uint32_t>(elements_);
        elements_ += static_cast<std::size_t>(std::popcount(e.mask));
    });
    if (elements_ == 0) throw ArgumentError("the allocation has no resource element for data");
}

}  // namespace phy
