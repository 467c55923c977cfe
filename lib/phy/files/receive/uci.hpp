#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/capture/write/slot_writer.hpp"
#include "phy/coding/block_code.hpp"
#include "phy/coding/uci.hpp"
#include "phy/files/receive.hpp"

namespace phy::detail {

/// Decodes the UCI of slots as TransportDecoderStage splits it.
class UciReader {
public:
    /// A link without UCI, or options without decoding, give a reader of nothing.
    UciReader(const Link& link, const ReceiveOptions& options);

    /// The datasets for the output.
    [[nodiscard]] std::vector<UciRows> rows() const;

    /// soft_bits: the outputs of the stage for slots that follow each other. Writes them and what they say if
    /// there is a writer, and keeps what they say.
    void take(std::size_t slots, std::span<const std::span<const std::byte>> soft_bits, SlotWriter* writer);

    [[nodiscard]] const std::vector<SlotUci>& slots() const { return slots_; }

private:
    struct Part {
        std::optional<DecodedWord> SlotUci::*word;
        UciRows rows;
        std::vector<std::uint8_t> scrambling;  ///< of its coded bits
    };

    Modulation modulation_;
    SoftBitFormat format_;
    float scale_;
    std::vector<Part> parts_;
    std::vector<SlotUci> slots_;
};

/// Warns of parts whose bits are as doubtful as those of noise, though transport blocks have a valid CRC.
void warn_of_uci(Reception& result);

}  // namespace phy::detail
