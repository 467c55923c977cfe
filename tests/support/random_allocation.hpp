#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "phy/dmrs/slot_allocation.hpp"

namespace phy_test {

/// From first to last, both included.
inline int random_int(std::mt19937& random, int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(random);
}

/// Ports of `layers` layers in any order, and CDM groups without data that cover them.
inline void choose_ports(phy::DmrsConfig& dmrs, int layers, std::mt19937& random) {
    const int groups = dmrs.type == 1 ? 2 : 3;
    std::vector<int> ports;
    for (int port = 0; port < 2 * groups * dmrs.length; ++port)
        ports.push_back(port);
    std::shuffle(ports.begin(), ports.end(), random);
    ports.resize(static_cast<std::size_t>(layers));
    int needed = 1;
    for (const int port : ports)
        needed = std::max(needed, port / 2 % groups + 1);
    dmrs.ports = ports;
    dmrs.cdm_groups_without_data = random_int(random, needed, groups);
}

/// Ranges that do not overlap, in any order.
inline std::vector<phy::ResourceBlocks> random_ranges(int carrier, std::mt19937& random) {
    std::vector<phy::ResourceBlocks> ranges;
    for (int block = random_int(random, 0, carrier / 2); block < carrier;) {
        const int count = random_int(random, 1, std::max(1, (carrier - block) / 2));
        ranges.push_back({block, count});
        block += count + random_int(random, 0, 3);
    }
    std::shuffle(ranges.begin(), ranges.end(), random);
    ranges.resize(static_cast<std::size_t>(random_int(random, 1, static_cast<int>(ranges.size()))));
    return ranges;
}

/// A valid allocation with 1 to 4 layers and pseudo-random DM-RS; some have reserved elements.
inline phy::SlotAllocation random_allocation(std::mt19937& random, int max_resource_blocks = 60) {
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = random_int(random, 1, max_resource_blocks);
    allocation.first_crb = random_int(random, 0, 300);
    allocation.resource_blocks = random_ranges(allocation.carrier_resource_blocks, random);
    allocation.symbols = random_int(random, 4, phy::symbols_per_slot);
    allocation.first_symbol = random_int(random, 0, phy::symbols_per_slot - allocation.symbols);

    phy::DmrsConfig& dmrs = allocation.dmrs;
    dmrs.type = random_int(random, 1, 2);
    dmrs.length = random_int(random, 1, 2);
    choose_ports(dmrs, random_int(random, 1, 4), random);
    dmrs.symbols.clear();
    const int end = allocation.first_symbol + allocation.symbols;
    int symbol = allocation.first_symbol + random_int(random, 0, 1);
    do {
        for (int i = 0; i < dmrs.length; ++i)
            dmrs.symbols.push_back(symbol + i);
        symbol += dmrs.length + random_int(random, 1, 6);
    } while (symbol + dmrs.length <= end && dmrs.symbols.size() < 4);
    dmrs.scrambling_id = static_cast<std::uint32_t>(random_int(random, 0, 65535));
    dmrs.n_scid = random_int(random, 0, 1);
    dmrs.reference_crb = random_int(random, 0, allocation.first_crb);

    for (int i = random_int(random, -1, 2); i > 0; --i) {
        phy::ReservedElements reserved;
        reserved.symbols = {random_int(random, 0, 13), random_int(random, 0, 13)};
        reserved.resource_blocks.first = random_int(random, 0, allocation.carrier_resource_blocks - 1);
        reserved.resource_blocks.count =
            random_int(random, 1, allocation.carrier_resource_blocks - reserved.resource_blocks.first);
        for (int k = 0; k < 12; k += random_int(random, 1, 5))
            reserved.subcarriers.push_back(k);
        allocation.reserved.push_back(reserved);
    }
    return allocation;
}

}  // namespace phy_test
