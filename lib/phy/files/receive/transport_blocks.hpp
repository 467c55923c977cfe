#pragma once

#include <cstddef>
#include <optional>

#include "phy/coding/stage.hpp"
#include "phy/files/receive.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/stage.hpp"

namespace phy::detail {

/// How the transport blocks of a reception are decoded; none: they are not. Throws FileError if they or
/// UCI shall be written and the link has none; ArgumentError if they shall be written but not decoded, and as
/// TransportDecoderStage does.
std::optional<TransportDecoderStage::Config> decoding_of(const Reception& result,
                                                         const ReceiveOptions& options);

/// The number of outputs of a ReceiveStage.
inline std::size_t received_outputs(const ReceiveStage::Config& receive) {
    return 2U + (receive.symbols ? 2U : 0U) + (receive.channel ? 1U : 0U);
}

/// A ReceiveStage whose soft bits are decoded. It has the outputs of ReceiveStage, then those of
/// TransportDecoderStage.
class ReceiveAndDecodeStage : public Stage {
public:
    ReceiveAndDecodeStage(const ReceiveStage::Config& receive, const TransportDecoderStage::Config& decode)
        : receive_(receive), decode_(decode) {}

    [[nodiscard]] std::string_view name() const override { return "receive_decode"; }
    [[nodiscard]] std::vector<Port> inputs() const override { return receive_.inputs(); }
    [[nodiscard]] std::vector<Port> outputs() const override;
    [[nodiscard]] std::size_t scratch_bytes(std::size_t items) const override {
        return decode_.scratch_bytes(items);
    }
    std::unique_ptr<StageRunner> on(const Place& place) override;

private:
    ReceiveStage receive_;
    TransportDecoderStage decode_;
};

/// Warns if no transport block has a valid CRC though symbols are clean enough for one to decode, or if none
/// can have because the redundancy version does not carry enough of a block alone.
void warn_of_transport_blocks(const Host& host, const TransportDecoderStage::Config& decode,
                              Reception& result);

}  // namespace phy::detail
