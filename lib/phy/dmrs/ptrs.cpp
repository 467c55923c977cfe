#include "phy/dmrs/ptrs.hpp"

#include <algorithm>
#include <string>

#include "phy/core/error.hpp"
#include "phy/dmrs/pilots.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy {
namespace {

/// The resource blocks of the allocation in ascending order, and where they are in the order of its list.
struct AllocatedBlock {
    int block;
    int index;
};

std::vector<AllocatedBlock> ascending_blocks(const SlotAllocation& allocation) {
    std::vector<AllocatedBlock> blocks;
    for (const ResourceBlocks& range : allocation.resource_blocks)
        for (int i = 0; i < range.count; ++i)
            blocks.push_back({range.first + i, static_cast<int>(blocks.size())});
    std::ranges::sort(blocks, {}, &AllocatedBlock::block);
    return blocks;
}

/// Which of a CDM group's pilots in a resource block lies where PT-RS of the port are (tables 6.4.1.2.2.1-1
/// and 7.4.1.2.2-1).
int pilot_of_block(int type, int port, int resource_element_offset) {
    const int in_pair = port % 2;
    return type == 1 ? resource_element_offset + resource_element_offset / 2 + in_pair
                     : (resource_element_offset + in_pair) % 4;
}

const PtrsConfig& checked_ptrs(const SlotAllocation& allocation) {
    detail::check_but_data(allocation);
    if (!allocation.ptrs) throw ArgumentError("the allocation has no ptrs: expected it");
    return *allocation.ptrs;
}

}  // namespace

/// By clauses 6.4.1.2.2.1 and 7.4.1.2.2: the count begins anew at each DM-RS.
std::vector<int> ptrs_symbols(const SlotAllocation& allocation) {
    const int density = checked_ptrs(allocation).time_density;
    const std::vector<int>& dmrs = allocation.dmrs.symbols;
    std::vector<int> symbols;
    if (density > 1 && allocation.symbols <= density) return symbols;
    int reference = allocation.first_symbol;
    for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l) {
        if (std::ranges::find(dmrs, l) != dmrs.end())
            reference = l;
        else if ((l - reference) % density == 0)
            symbols.push_back(l);
    }
    return symbols;
}

std::vector<PtrsPort> ptrs_ports(const SlotAllocation& allocation) {
    const PtrsConfig& ptrs = checked_ptrs(allocation);
    const int type = allocation.dmrs.type;
    const std::vector<AllocatedBlock> blocks = ascending_blocks(allocation);
    const auto count = static_cast<int>(blocks.size());
    const int odd_blocks = count % ptrs.frequency_density;
    const int first = static_cast<int>(ptrs.rnti) % (odd_blocks == 0 ? ptrs.frequency_density : odd_blocks);
    std::vector<PtrsPort> ports;
    for (const int port : detail::ports_of_ptrs(allocation)) {
        const int pilot = pilot_of_block(type, port, ptrs.resource_element_offset);
        const int subcarrier = pilot_subcarrier(type, dmrs_port(type, port).cdm_group, pilot);
        PtrsPort& to = ports.emplace_back();
        to.port = port;
        for (int i = first; i < count; i += ptrs.frequency_density) {
            const auto& [block, index] = blocks[static_cast<std::size_t>(i)];
            to.subcarriers.push_back(subcarriers_per_resource_block * block + subcarrier);
            to.pilots.push_back(pilots_per_resource_block(type) * index + pilot);
        }
    }
    return ports;
}

float ptrs_amplitude(const SlotAllocation& allocation) {
    constexpr float by_layers[] = {0.0F, 3.0F, 4.77F, 6.0F};
    const PtrsConfig& ptrs = checked_ptrs(allocation);
    const float power_db = ptrs.power_db.value_or(by_layers[allocation.layers() - 1]);
    return static_cast<float>(detail::elementary::exp10(static_cast<double>(power_db) / 20.0));
}

namespace detail {

std::span<const int> ports_of_ptrs(const SlotAllocation& allocation) {
    if (!allocation.ptrs->ports.empty()) return allocation.ptrs->ports;
    return {std::ranges::min_element(allocation.dmrs.ports), 1};
}

}  // namespace detail
}  // namespace phy
