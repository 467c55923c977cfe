#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "phy/coding/transport_decoder.hpp"
#include "phy/coding/uci.hpp"
#include "phy/core/export.hpp"
#include "phy/pipeline/stage.hpp"

namespace phy {

/// A stage that decodes transport blocks: phy::TransportDecoder on a CPU, phy::gpu::TransportDecoder on CUDA.
/// An item is a codeword. Input per item: "llr", G soft bits, descrambled. Outputs per item: "payload", A / 8
/// bytes; "results", a DecodedBlock. Retransmissions are not combined.
///
/// With UCI, UciDemultiplexer splits the codeword first: its soft bits are those of UciMap::coded_bits(), G
/// are those of UL-SCH, and each part of UCI that has coded bits is an output too: "ack", "csi1", "csi2", its
/// soft bits.
class PHY_EXPORT TransportDecoderStage : public Stage {
public:
    struct Config {
        TransportDecoderConfig decoder = {};
        int redundancy_version = 0;         ///< of all items
        std::optional<UciConfig> uci = {};  ///< none: the codeword is UL-SCH alone
    };

    /// Throws ArgumentError as TransportDecoder, its call and UciDemultiplexer do.
    explicit TransportDecoderStage(const Config& config);

    [[nodiscard]] const Config& config() const { return config_; }

    [[nodiscard]] std::string_view name() const override { return "decode"; }
    [[nodiscard]] std::vector<Port> inputs() const override;
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override;
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    Config config_;
    std::optional<UciMap> map_;
};

}  // namespace phy
