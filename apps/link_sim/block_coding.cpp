#include "link_sim/block_coding.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/json.hpp"

namespace phy::apps {

std::optional<Mcs> find_mcs(std::string_view table, int index) {
    // Only this text may be wrong below, so that what parse_link() refuses is the table or the index.
    const std::string name = Json(table).text();
    try {
        const Link link = parse_link(fmt::format(
            R"({{"direction": "downlink", "carrier": {{"subcarrier_spacing": 15000, "resource_blocks": 1, "cell_id": 0}},)"
            R"("allocation": {{"rnti": 1, "mcs_table": {}, "mcs_index": {}, "layers": 1, "resource_blocks": [[0, 1]],)"
            R"("dmrs": {{"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbols": [2]}}}}}})",
            name, index));
        return Mcs{link.modulation, link.coding->code_rate.value()};
    } catch (const ArgumentError&) {
        return std::nullopt;
    }
}

TransportBlockConfig transport_block_of(const SlotAllocation& allocation, Modulation modulation,
                                        const BlockCoding& coding) {
    Link link;
    link.allocation = allocation;
    link.modulation = modulation;
    link.coding = {.code_rate = coding.code_rate};
    return transport_block_config(link);
}

BlockSource::BlockSource(const Host& host, const TransportBlockConfig& block)
    : encode_(host, block), payload_(block.size / 8) {}

void BlockSource::draw(const RandomSequence& random, std::span<std::uint8_t> bits) {
    for (std::size_t i = 0; i < payload_.size(); ++i)
        payload_[i] = static_cast<std::uint8_t>(random.bits(i / 8) >> (8 * (i % 8)));
    encode_(payload_, 0, bits);
}

BlockMeter::BlockMeter(const Host& host, const TransportDecoder::Config& config)
    : decode_(host, config), payload_(config.block.size / 8), extrinsic_(config.block.coded_bits) {}

BlockSums BlockMeter::operator()(SoftBitView soft_bits, std::span<const std::uint8_t> sent, int iterations,
                                 const std::function<SoftBitView(std::span<const std::int8_t>)>& detect) {
    DecodedBlock result;
    decode_(soft_bits, 0, payload_, std::span(&result, 1), {},
            iterations > 0 ? std::span(extrinsic_) : std::span<std::int8_t>());
    for (int i = 0; i < iterations && result.crc == 0; ++i)
        decode_.decode_failed(detect(extrinsic_), 0, payload_, std::span(&result, 1), extrinsic_);
    const bool is_right = result.crc == 1 && std::ranges::equal(payload_, sent);
    return {.blocks = 1,
            .errors = is_right ? 0U : 1U,
            .code_blocks = decode_.code_blocks().count,
            .iterations = result.iterations};
}

}  // namespace phy::apps
