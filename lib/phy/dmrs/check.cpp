#include <algorithm>
#include <bitset>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/dmrs/pilots.hpp"

namespace phy {
namespace {

constexpr int max_carrier_resource_blocks = 275;
constexpr int last_crb = 2199 + max_carrier_resource_blocks - 1;

using detail::check_range;
using CarrierBits = std::bitset<max_carrier_resource_blocks>;

std::string text(const ResourceBlocks& range) {
    return std::to_string(range.count) + " resource blocks from " + std::to_string(range.first) + " on";
}

void check_in_carrier(const char* what, const ResourceBlocks& range, int carrier_resource_blocks) {
    const bool fits = range.first >= 0 && range.first < carrier_resource_blocks && range.count >= 1 &&
                      range.count <= carrier_resource_blocks - range.first;
    if (fits) return;
    throw ArgumentError(std::string(what) + " has " + text(range) + ": expected at least one, within the " +
                        std::to_string(carrier_resource_blocks) + " of the carrier");
}

void check_resource_blocks(const SlotAllocation& allocation) {
    check_range("carrier_resource_blocks", allocation.carrier_resource_blocks, 1,
                max_carrier_resource_blocks);
    check_range("first_crb", allocation.first_crb, 0, last_crb);
    if (allocation.resource_blocks.empty())
        throw ArgumentError("resource_blocks is empty: expected at least one range");
    CarrierBits taken;
    for (const ResourceBlocks& range : allocation.resource_blocks) {
        check_in_carrier("resource_blocks", range, allocation.carrier_resource_blocks);
        for (int i = 0; i < range.count; ++i) {
            const auto block = static_cast<std::size_t>(range.first + i);
            if (taken[block])
                throw ArgumentError("resource_blocks has " + std::to_string(block) +
                                    " twice: expected ranges that do not overlap");
            taken.set(block);
        }
        check_range("reference_crb", allocation.dmrs.reference_crb, 0, allocation.first_crb + range.first);
    }
}

void check_ports(const DmrsConfig& dmrs) {
    check_range("DM-RS type", dmrs.type, 1, 2);
    check_range("DM-RS length", dmrs.length, 1, 2);
    const int groups = dmrs.type == 1 ? 2 : 3;
    check_range("cdm_groups_without_data", dmrs.cdm_groups_without_data, 1, groups);
    if (dmrs.ports.empty() || dmrs.ports.size() > max_layers)
        throw ArgumentError("ports has " + std::to_string(dmrs.ports.size()) +
                            " elements: expected one for each of 1 to 4 layers");
    unsigned taken = 0;
    for (const int port : dmrs.ports) {
        check_range("DM-RS port", port, 0, 2 * groups * dmrs.length - 1);
        if ((taken >> port & 1U) != 0)
            throw ArgumentError("ports has " + std::to_string(port) +
                                " twice: expected a port for each layer");
        taken |= 1U << port;
        const int group = dmrs_port(dmrs.type, port).cdm_group;
        if (group >= dmrs.cdm_groups_without_data)
            throw ArgumentError("cdm_groups_without_data " + std::to_string(dmrs.cdm_groups_without_data) +
                                ": expected more than " + std::to_string(group) + ", the group of port " +
                                std::to_string(port));
    }
}

void check_symbols(const SlotAllocation& allocation) {
    check_range("first_symbol", allocation.first_symbol, 0, symbols_per_slot - 1);
    check_range("symbols", allocation.symbols, 1, symbols_per_slot - allocation.first_symbol);
    const DmrsConfig& dmrs = allocation.dmrs;
    const std::size_t length = static_cast<std::size_t>(dmrs.length);
    if (dmrs.symbols.empty() || dmrs.symbols.size() % length != 0)
        throw ArgumentError("DM-RS symbols has " + std::to_string(dmrs.symbols.size()) +
                            " elements: expected " +
                            (length == 2 ? "pairs, for DM-RS of two symbols" : "at least one"));
    int next = allocation.first_symbol;
    for (std::size_t i = 0; i < dmrs.symbols.size(); ++i) {
        const int symbol = dmrs.symbols[i];
        check_range("DM-RS symbol", symbol, allocation.first_symbol,
                    allocation.first_symbol + allocation.symbols - 1);
        const bool is_second = i % length != 0;
        if (is_second ? symbol != next : symbol < next)
            throw ArgumentError("DM-RS symbol " + std::to_string(symbol) + " comes after " +
                                std::to_string(dmrs.symbols[i - 1]) + ": expected " +
                                (is_second ? "the symbol that follows" : "symbols in order, each once"));
        next = symbol + 1;
    }
}

void check_power(const char* what, std::optional<float> power_db) {
    constexpr float largest_db = 60.0F;
    if (power_db && !(std::abs(*power_db) <= largest_db))
        throw ArgumentError(std::string(what) + " " + detail::number_text(*power_db) +
                            ": expected -60 to 60");
}

void check_sequence(const SlotAllocation& allocation) {
    const DmrsConfig& dmrs = allocation.dmrs;
    check_range("DM-RS scrambling_id", dmrs.scrambling_id, 0, dmrs.transform_precoding ? 1007 : 65535);
    check_range("n_scid", dmrs.n_scid, 0, 1);
    detail::check_enum("hopping", dmrs.hopping, SequenceHopping::sequence);
    check_power("power_db", dmrs.power_db);
    if (!dmrs.transform_precoding) {
        if (dmrs.hopping != SequenceHopping::none)
            throw ArgumentError("hopping: expected none without transform_precoding");
        return;
    }
    if (dmrs.type != 1)
        throw ArgumentError("DM-RS type " + std::to_string(dmrs.type) +
                            ": expected 1 with transform precoding");
    if (dmrs.ports.size() != 1)
        throw ArgumentError("ports has " + std::to_string(dmrs.ports.size()) +
                            " elements: expected one with transform precoding");
    if (dmrs.cdm_groups_without_data != 2)
        throw ArgumentError("cdm_groups_without_data " + std::to_string(dmrs.cdm_groups_without_data) +
                            ": expected 2 with transform precoding");
    if (allocation.resource_blocks.size() != 1)
        throw ArgumentError("resource_blocks has " + std::to_string(allocation.resource_blocks.size()) +
                            " ranges: expected one with transform precoding");
}

void check_reserved(const SlotAllocation& allocation) {
    for (const ReservedElements& reserved : allocation.reserved) {
        check_in_carrier("reserved", reserved.resource_blocks, allocation.carrier_resource_blocks);
        for (const int symbol : reserved.symbols)
            check_range("reserved symbol", symbol, 0, symbols_per_slot - 1);
        for (const int subcarrier : reserved.subcarriers)
            check_range("reserved subcarrier", subcarrier, 0, subcarriers_per_resource_block - 1);
    }
}

/// Of a number that means nothing.
void check_default(const char* what, int number, int expected, const char* with_or_without) {
    if (number != expected)
        throw ArgumentError(std::string("PT-RS ") + what + " " + std::to_string(number) + ": expected " +
                            std::to_string(expected) + ", the default, " + with_or_without +
                            " transform precoding");
}

/// With transform precoding.
void check_ptrs_groups(const SlotAllocation& allocation) {
    const PtrsConfig& ptrs = *allocation.ptrs;
    const int groups = ptrs.groups;
    const int samples = ptrs.samples_per_group;
    const std::string text = std::to_string(groups) + " groups of " + std::to_string(samples) + " samples";
    if (std::ranges::none_of(detail::ptrs_groups, [&](const detail::PtrsGroups& allowed) {
            return allowed.count == groups && allowed.samples == samples;
        }))
        throw ArgumentError("PT-RS in " + text + ": expected 2 x 2, 2 x 4, 4 x 2, 4 x 4 or 8 x 4");
    check_default("frequency_density", ptrs.frequency_density, PtrsConfig().frequency_density, "with");
    check_default("resource_element_offset", ptrs.resource_element_offset, 0, "with");
    if (!ptrs.ports.empty())
        throw ArgumentError("PT-RS ports has " + std::to_string(ptrs.ports.size()) +
                            " elements: expected none with transform precoding");
    const int blocks = allocation.resource_blocks.front().count;
    int end = 0;
    for (int group = 0; group < groups; ++group) {
        const int first = detail::first_of_ptrs_group(ptrs, group, blocks);
        if (first < end)
            throw ArgumentError("PT-RS in " + text + " overlap: expected more resource blocks than " +
                                std::to_string(blocks));
        end = first + samples;
    }
}

void check_ptrs(const SlotAllocation& allocation) {
    if (!allocation.ptrs) return;
    const PtrsConfig& ptrs = *allocation.ptrs;
    const DmrsConfig& dmrs = allocation.dmrs;
    const auto check_density = [](const char* what, int density, std::initializer_list<int> densities,
                                  const char* expected) {
        if (std::ranges::find(densities, density) == densities.end())
            throw ArgumentError(std::string(what) + " " + std::to_string(density) + ": expected " + expected);
    };
    check_range("PT-RS rnti", ptrs.rnti, 0, 65535);
    check_power("PT-RS power_db", ptrs.power_db);
    if (dmrs.transform_precoding) {
        check_density("PT-RS time_density", ptrs.time_density, {1, 2}, "1 or 2 with transform precoding");
        return check_ptrs_groups(allocation);
    }
    check_default("groups", ptrs.groups, PtrsConfig().groups, "without");
    check_default("samples_per_group", ptrs.samples_per_group, PtrsConfig().samples_per_group, "without");
    check_density("PT-RS time_density", ptrs.time_density, {1, 2, 4}, "1, 2 or 4");
    check_density("PT-RS frequency_density", ptrs.frequency_density, {2, 4}, "2 or 4");
    check_range("PT-RS resource_element_offset", ptrs.resource_element_offset, 0, 3);
    const std::span<const int> ports = detail::ports_of_ptrs(allocation);
    for (const int port : ports)
        check_range("PT-RS port", port, 0, dmrs.type == 1 ? 3 : 5);
    if (ports.size() > 2 || (ports.size() == 2 && ports[0] == ports[1]))
        throw ArgumentError("PT-RS ports has " + std::to_string(ports.size()) +
                            " elements: expected one, or two that differ");
}

/// Even and odd DM-RS of each port, in each range.
void check_pilots_left(const SlotAllocation& allocation, const std::vector<bool>& is_erased) {
    const DmrsConfig& dmrs = allocation.dmrs;
    const int of_block = pilots_per_resource_block(dmrs.type);
    const auto is_left = [&](const ResourceBlocks& range, int group, int parity) {
        for (int i = parity; i < range.count * of_block; i += 2)
            if (!is_erased[static_cast<std::size_t>(subcarriers_per_resource_block *
                                                        (range.first + i / of_block) +
                                                    pilot_subcarrier(dmrs.type, group, i % of_block))])
                return true;
        return false;
    };
    for (const ResourceBlocks& range : allocation.resource_blocks)
        for (const int port : dmrs.ports)
            for (const int parity : {0, 1})
                if (!is_left(range, dmrs_port(dmrs.type, port).cdm_group, parity))
                    throw ArgumentError("erased_subcarriers take all " +
                                        std::string(parity == 0 ? "even" : "odd") + " DM-RS of port " +
                                        std::to_string(port) + " in " + text(range) +
                                        ": expected one that is left");
}

void check_erased(const SlotAllocation& allocation) {
    if (allocation.erased_subcarriers.empty()) return;
    std::vector<bool> is_erased(static_cast<std::size_t>(allocation.subcarriers()));
    for (const int subcarrier : allocation.erased_subcarriers) {
        check_range("erased subcarrier", subcarrier, 0, allocation.subcarriers() - 1);
        is_erased[static_cast<std::size_t>(subcarrier)] = true;
    }
    constexpr int most = 4;
    int neighbours = 0;
    for (const bool is_one : is_erased) {
        neighbours = is_one ? neighbours + 1 : 0;
        if (neighbours > most)
            throw ArgumentError("erased_subcarriers has more than " + std::to_string(most) +
                                " neighbours: expected fewer, or resource_blocks without them");
    }
    check_pilots_left(allocation, is_erased);
}

}  // namespace

namespace detail {

void check_but_data(const SlotAllocation& allocation) {
    check_resource_blocks(allocation);
    check_ports(allocation.dmrs);
    check_symbols(allocation);
    check_sequence(allocation);
    check_reserved(allocation);
    check_ptrs(allocation);
    check_erased(allocation);
}

}  // namespace detail

void check(const SlotAllocation& allocation) {
    static_cast<void>(ResourceMap(allocation));
}

}  // namespace phy
