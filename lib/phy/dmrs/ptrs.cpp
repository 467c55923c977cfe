#include "phy/dmrs/ptrs.hpp"

#include <algorithm>
#include <string>

#include "phy/core/constellation.hpp"
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

/// Subcarriers of a resource block, bit by bit, as a list.
std::vector<int> subcarriers_of(std::uint32_t mask) {
    std::vector<int> subcarriers;
    for (int k = 0; k < subcarriers_per_resource_block; ++k)
        if ((mask >> k & 1U) != 0) subcarriers.push_back(k);
    return subcarriers;
}

/// Of table 6.4.1.2.2.2-1.
PtrsPort samples_as_port(const SlotAllocation& allocation) {
    const PtrsConfig& ptrs = *allocation.ptrs;
    const ResourceBlocks& range = allocation.resource_blocks.front();
    PtrsPort port;
    port.port = allocation.dmrs.ports.front();
    for (int group = 0; group < ptrs.groups; ++group) {
        const int first = detail::first_of_ptrs_group(ptrs, group, range.count);
        for (int k = 0; k < ptrs.samples_per_group; ++k) {
            port.pilots.push_back(static_cast<int>(port.pilots.size()));
            port.subcarriers.push_back(subcarriers_per_resource_block * range.first + first + k);
        }
    }
    return port;
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
    if (allocation.dmrs.transform_precoding) return {samples_as_port(allocation)};
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

std::optional<SlotAllocation> ptrs_allocation(const SlotAllocation& allocation) {
    if (allocation.dmrs.transform_precoding)
        throw ArgumentError("transform_precoding is true: expected false, as PT-RS are samples with it");
    return detail::ptrs_positions(allocation);
}

std::optional<SlotAllocation> detail::ptrs_positions(const SlotAllocation& allocation) {
    constexpr std::uint32_t all = (1U << subcarriers_per_resource_block) - 1;
    const std::vector<int> symbols = ptrs_symbols(allocation);
    std::vector<std::uint32_t> beside(static_cast<std::size_t>(allocation.carrier_resource_blocks), all);
    bool is_sent = false;
    for (const PtrsPort& port : ptrs_ports(allocation)) {
        for (const int k : port.subcarriers) {
            beside[static_cast<std::size_t>(k / subcarriers_per_resource_block)] &=
                ~(1U << k % subcarriers_per_resource_block);
            is_sent = is_sent || !std::ranges::all_of(
                                     symbols, [&](int l) { return detail::is_reserved(allocation, l, k); });
        }
    }
    if (!is_sent) return {};
    std::vector<int> others;
    for (int l = 0; l < symbols_per_slot; ++l)
        if (std::ranges::find(symbols, l) == symbols.end()) others.push_back(l);
    SlotAllocation of_ptrs = detail::without_ptrs(allocation);
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        of_ptrs.reserved.push_back({others, range, subcarriers_of(all)});
        for (int block = range.first; block < range.first + range.count; ++block)
            of_ptrs.reserved.push_back(
                {symbols, {block, 1}, subcarriers_of(beside[static_cast<std::size_t>(block)])});
    }
    return of_ptrs;
}

float ptrs_amplitude(const SlotAllocation& allocation, Modulation modulation) {
    constexpr float by_layers[] = {0.0F, 3.0F, 4.77F, 6.0F};
    const PtrsConfig& ptrs = checked_ptrs(allocation);
    if (allocation.dmrs.transform_precoding && !ptrs.power_db) {
        const int outermost = (1 << bits_per_axis(modulation)) - 1;
        return static_cast<float>(outermost * axis_unit(modulation) / axis_unit(Modulation::pi2_bpsk));
    }
    const float power_db = ptrs.power_db.value_or(by_layers[allocation.layers() - 1]);
    return static_cast<float>(detail::elementary::exp10(static_cast<double>(power_db) / 20.0));
}

PrecoderInput precoder_input(const SlotAllocation& allocation) {
    if (!allocation.dmrs.transform_precoding)
        throw ArgumentError("transform_precoding is false: expected true");
    const ResourceMap of_all(detail::without_ptrs(allocation));
    const ResourceMap of_data(allocation);
    PrecoderInput samples;
    for (std::size_t i = 0; i < of_all.entries().size(); ++i) {
        const ResourceMap::Entry& entry = of_all.entries()[i];
        std::uint32_t index = entry.first;
        for (const int k : subcarriers_of(entry.mask)) {
            const bool is_data = (of_data.entries()[i].mask >> k & 1U) != 0;
            (is_data ? samples.data : samples.ptrs).push_back(index++);
        }
    }
    return samples;
}

namespace detail {

SlotAllocation without_ptrs(SlotAllocation allocation) {
    allocation.ptrs.reset();
    return allocation;
}

int first_of_ptrs_group(const PtrsConfig& ptrs, int group, int resource_blocks) {
    const int samples = subcarriers_per_resource_block * resource_blocks;
    if (ptrs.samples_per_group == 2) return (2 * group + 1) * samples / (2 * ptrs.groups) - 1;
    if (group == 0) return 0;
    if (group + 1 == ptrs.groups) return samples - 4;
    return group * samples / ptrs.groups + samples / (2 * ptrs.groups) - 2;
}

std::span<const int> ports_of_ptrs(const SlotAllocation& allocation) {
    if (!allocation.ptrs->ports.empty()) return allocation.ptrs->ports;
    return {std::ranges::min_element(allocation.dmrs.ports), 1};
}

}  // namespace detail
}  // namespace phy
