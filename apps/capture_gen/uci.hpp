#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "phy/phy.hpp"

namespace phy::apps {

/// Bits of HARQ-ACK, CSI part 1 and CSI part 2, one per byte. Empty: random ones.
using UciBits = std::array<std::vector<std::uint8_t>, 3>;

/// Joins UCI and UL-SCH to a codeword. A part of more than 11 bits, whose polar code phy lacks, is random
/// coded bits.
class UciEncoder {
public:
    /// link: with UCI. Throws ArgumentError for given bits of another number than the link's, or of a part of
    /// more than 11 bits.
    UciEncoder(const Host& host, const Link& link, UciBits given);

    /// Draws the bits that are not given. ul_sch: coded bits. codeword: before scrambling; a transmitter that
    /// scrambles it sends what the placeholders of block codes ask for.
    void operator()(const RandomSequence& random, std::span<const std::uint8_t> ul_sch,
                    std::span<std::uint8_t> codeword);

    /// Of the last codeword: the bits of all parts of up to 11 bits, one after another.
    [[nodiscard]] const std::vector<std::uint8_t>& sent() const { return sent_; }

private:
    Scrambler scramble_;
    UciMap map_;
    Modulation modulation_;
    std::uint32_t c_init_;
    std::array<std::size_t, 3> sizes_;
    UciBits given_;
    UciBits coded_;
    std::vector<std::uint8_t> sent_;
};

}  // namespace phy::apps
