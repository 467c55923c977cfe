#pragma once

#include <optional>

#include "phy/coding/stage.hpp"
#include "phy/files/receive.hpp"
#include "phy/machine/host.hpp"

namespace phy::detail {

/// What a link with coding has, one of them.
inline constexpr const char* coding_keys =
    "coding.code_rate, coding.transport_block_size or allocation.mcs_index";

/// How the transport blocks of a reception are decoded; none: they are not. Throws FileError if they or
/// UCI shall be written and the link has none; ArgumentError if they shall be written but not decoded, and as
/// TransportDecoderStage does.
std::optional<TransportDecoderStage::Config> decoding_of(const Reception& result,
                                                         const ReceiveOptions& options);

/// Warns if no transport block has a valid CRC though symbols are clean enough for one to decode, or if none
/// can have because the redundancy version does not carry enough of a block alone.
void warn_of_transport_blocks(const Host& host, const TransportDecoderStage::Config& decode,
                              Reception& result);

}  // namespace phy::detail
