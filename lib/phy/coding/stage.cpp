#include "phy/coding/stage.hpp"

#include <cstddef>
#include <cstdint>

#include "phy/coding/decode_chunk.hpp"
#include "phy/coding/decoder_checks.hpp"
#include "phy/coding/uci_checks.hpp"
#include "phy/core/check.hpp"

namespace phy {
TransportDecoderStage::TransportDecoderStage(const Config& config) : config_(config) {
    const TransportDecoderConfig& decoder = detail::checked(config.decoder);
    detail::check_sizes(decoder, code_blocks(decoder.block), config.redundancy_version, decoder.format, {});
    if (!config.uci) return;
    map_.emplace(*config.uci);
    detail::check_size("ul_sch", map_->coded_bits(UciPart::ul_sch), decoder.block.coded_bits);
}

std::vector<Port> TransportDecoderStage::inputs() const {
    const TransportDecoderConfig& decoder = config_.decoder;
    const std::size_t bits = map_ ? map_->coded_bits() : decoder.block.coded_bits;
    return {{.name = "llr", .bytes = bits * size_of(decoder.format)}};
}

std::vector<Port> TransportDecoderStage::outputs() const {
    std::vector<Port> ports = {{.name = "payload", .bytes = config_.decoder.block.size / 8},
                               {.name = "results", .bytes = sizeof(DecodedBlock)}};
    if (!map_) return ports;
    for (const UciPart part : {UciPart::ack, UciPart::csi1, UciPart::csi2})
        if (const std::size_t bits = map_->coded_bits(part); bits > 0)
            ports.push_back({.name = detail::uci_part_names[static_cast<std::size_t>(part)],
                             .bytes = bits * size_of(config_.decoder.format)});
    return ports;
}

std::size_t TransportDecoderStage::scratch_bytes(std::size_t items) const {
    return map_ ? items * config_.decoder.block.coded_bits * size_of(config_.decoder.format) : 0;
}

std::unique_ptr<StageRunner> TransportDecoderStage::on(const Place& place) {
    return detail::operator_runner<detail::HostDecoding, detail::DeviceDecoding>(
        place, config_, [](auto& decoding, const auto& work, const auto&... device) {
            decoding.run(work.in[0], work, {}, device...);
        });
}

}  // namespace phy
