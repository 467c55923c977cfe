#include <algorithm>
#include <bit>
#include <vector>

#include "phy/coding/transport_block_size.hpp"
#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"

namespace phy {
namespace {

/// N_DMRS^PRB: in DM-RS symbols, the elements of all CDM groups without data.
int dmrs_elements(const DmrsConfig& dmrs) {
    const int elements_of_group = dmrs.type == 1 ? 6 : 4;
    return static_cast<int>(dmrs.symbols.size()) * dmrs.cdm_groups_without_data * elements_of_group;
}

std::size_t size_of(const Link& link, const LinkCoding& coding) {
    if (coding.transport_block_size) return *coding.transport_block_size;
    int resource_blocks = 0;
    for (const ResourceBlocks& range : link.allocation.resource_blocks)
        resource_blocks += range.count;
    return transport_block_size({.resource_blocks = resource_blocks,
                                 .symbols = link.allocation.symbols,
                                 .dmrs_elements = dmrs_elements(link.allocation.dmrs),
                                 .overhead = coding.overhead,
                                 .code_rate = coding.code_rate.value_or(0.0),
                                 .modulation = link.modulation,
                                 .layers = link.allocation.layers()});
}

/// With all bits of the codeword.
TransportBlockConfig block_of(const Link& link) {
    if (!link.coding) throw ArgumentError("coding: missing; expected it or allocation.mcs_index");
    const LinkCoding& coding = *link.coding;
    const int layers = link.allocation.layers();
    const std::size_t size = size_of(link, coding);
    const std::size_t coded_bits = ResourceMap(link.allocation).elements() *
                                   static_cast<std::size_t>(layers) * bits_per_symbol(link.modulation);
    const double rate = static_cast<double>(size) / static_cast<double>(coded_bits);
    return {.size = size,
            .code_rate = coding.code_rate.value_or(std::min(1.0, rate)),
            .coded_bits = coded_bits,
            .modulation = link.modulation,
            .layers = layers,
            .limited_buffer = coding.limited_buffer};
}

std::vector<UciSymbol> symbols_of(const SlotAllocation& allocation) {
    const ResourceMap map(allocation);
    const auto width = static_cast<std::size_t>(allocation.carrier_resource_blocks);
    std::vector<UciSymbol> symbols;
    for (int l = 0; l < allocation.symbols; ++l) {
        const int symbol = allocation.first_symbol + l;
        UciSymbol& of_pusch = symbols.emplace_back();
        of_pusch.has_dmrs =
            std::ranges::find(allocation.dmrs.symbols, symbol) != allocation.dmrs.symbols.end();
        for (const ResourceMap::Entry& entry :
             map.entries().subspan(static_cast<std::size_t>(symbol) * width, width))
            of_pusch.elements += static_cast<std::size_t>(std::popcount(entry.mask));
    }
    return symbols;
}

}  // namespace

TransportBlockConfig transport_block_config(const Link& link) {
    TransportBlockConfig block = block_of(link);
    if (link.coding->uci) block.coded_bits = UciMap(uci_config(link)).coded_bits(UciPart::ul_sch);
    return block;
}

UciConfig uci_config(const Link& link) {
    const TransportBlockConfig block = block_of(link);
    if (!link.coding->uci) throw ArgumentError("coding.uci: missing; expected it");
    const LinkUci& uci = *link.coding->uci;
    const CodeBlocks blocks = code_blocks(block);
    return {.ack_bits = uci.ack_bits,
            .csi1_bits = uci.csi1_bits,
            .csi2_bits = uci.csi2_bits,
            .ack_offset = uci.ack_offset,
            .csi1_offset = uci.csi1_offset,
            .csi2_offset = uci.csi2_offset,
            .scaling = uci.scaling,
            .code_block_bits = blocks.count * blocks.information_bits,
            .modulation = link.modulation,
            .layers = block.layers,
            .symbols = symbols_of(link.allocation)};
}

}  // namespace phy
