#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/view.hpp"

/// UCI on PUSCH: how many resource elements each part gets (TS 38.212 clause 6.3.2.4), and where in the
/// codeword its bits are (clause 6.2.7). Without frequency hopping, CG-UCI and UCI of different priorities.
///
/// A receiver decodes HARQ-ACK and CSI part 1 first, because CSI part 1 gives the size of CSI part 2. Where
/// those two are does not depend on that size, as long as it is above 0.
namespace phy {

struct PHY_EXPORT UciSymbol {
    std::size_t elements = 0;  ///< M_sc^UL-SCH: resource elements with PUSCH, without DM-RS and PT-RS
    bool has_dmrs = false;

    friend bool operator==(const UciSymbol&, const UciSymbol&) = default;
};

struct PHY_EXPORT UciConfig {
    std::size_t ack_bits = 0;   ///< O_ACK, without CRC; sizes are from 0 to 1706
    std::size_t csi1_bits = 0;  ///< O_CSI-1
    std::size_t csi2_bits = 0;  ///< O_CSI-2; above 0 only with CSI part 1

    /// beta_offset of the sizes (TS 38.213 clause 9.3), above 0, at most 126. That of HARQ-ACK matters for
    /// CSI part 1 without HARQ-ACK too, because elements are reserved.
    double ack_offset = 1.0;
    double csi1_offset = 1.0;
    double csi2_offset = 1.0;
    double scaling = 1.0;  ///< alpha: 0.5, 0.65, 0.8 or 1

    /// Sum of K_r, information bits with filler bits of all code blocks: CodeBlocks::count times
    /// information_bits. 0: PUSCH without UL-SCH, which needs CSI part 1.
    std::size_t code_block_bits = 0;
    double code_rate = 0.0;  ///< R of the MCS, above 0 and at most 1; only without UL-SCH

    Modulation modulation = Modulation::qpsk;
    int layers = 1;                       ///< N_L, from 1 to 4
    std::vector<UciSymbol> symbols = {};  ///< of the PUSCH, up to 14, at least one of which has DM-RS
    bool frequency_hopping = false;       ///< not supported: true is an error

    friend bool operator==(const UciConfig&, const UciConfig&) = default;
};

/// The CRC that clause 6.3.1.2.1 adds to so many bits of UCI: 0 up to 11 bits, 6 up to 19 bits, then 11 bits.
/// (UCI in two code blocks has it twice, but clause 6.3.2.4 counts one.)
[[nodiscard]] PHY_EXPORT std::size_t uci_crc_length(std::size_t bits);

/// HARQ-ACK bits that are encoded: ack_bits, but at least 2 where clause 6.3.2.1.1 appends zeros (without
/// UL-SCH and CSI part 2).
[[nodiscard]] PHY_EXPORT std::size_t encoded_ack_bits(const UciConfig& config);

/// Resource elements: Q', modulation symbols per layer. 0 for parts that are absent or find no room.
struct PHY_EXPORT UciElements {
    std::size_t ack = 0;
    std::size_t reserved = 0;  ///< for HARQ-ACK of up to 2 bits, were it 2 bits; else 0
    std::size_t csi1 = 0;
    std::size_t csi2 = 0;

    friend bool operator==(const UciElements&, const UciElements&) = default;
};

/// Throws ArgumentError for a value out of its range.
[[nodiscard]] PHY_EXPORT UciElements uci_elements(const UciConfig& config);

enum class UciPart : std::uint8_t { ul_sch, ack, csi1, csi2 };
inline constexpr std::array all_uci_parts = {UciPart::ul_sch, UciPart::ack, UciPart::csi1, UciPart::csi2};

/// What a resource element carries.
struct PHY_EXPORT UciElement {
    UciPart part = UciPart::ul_sch;
    /// HARQ-ACK of up to 2 bits punctures: this part lost its bits in the element. Else equal to part.
    UciPart covered = UciPart::ul_sch;

    friend bool operator==(const UciElement&, const UciElement&) = default;
};

/// Soft bits of the parts, each in the order of its coded bits.
struct PHY_EXPORT UciSoftBits {
    SoftBitSpan ul_sch;
    SoftBitSpan ack;
    SoftBitSpan csi1;
    SoftBitSpan csi2;
};

/// Coded bits of the parts, one per byte.
struct PHY_EXPORT UciCodedBits {
    std::span<const std::uint8_t> ul_sch;
    std::span<const std::uint8_t> ack;
    std::span<const std::uint8_t> csi1;
    std::span<const std::uint8_t> csi2;
};

/// Where the parts are in a codeword. Thread-safe.
class PHY_EXPORT UciMap {
public:
    /// Throws ArgumentError for a value out of its range.
    explicit UciMap(const UciConfig& config);

    /// The resource elements of the PUSCH in the order of the codeword, each of which has
    /// bits_per_element() bits of one part: bit i is in element i / bits_per_element(). Coded bits of a part
    /// follow each other in this order. Elements of no part count as UL-SCH; without UL-SCH these are those
    /// of symbols with DM-RS.
    [[nodiscard]] std::span<const UciElement> elements() const { return elements_; }
    [[nodiscard]] std::size_t bits_per_element() const { return bits_per_element_; }  ///< N_L Qm

    /// Coded bits of a part, punctured ones included: G^UL-SCH, G^ACK, G^CSI-part1, G^CSI-part2.
    [[nodiscard]] std::size_t coded_bits(UciPart part) const;
    /// Bits of the codeword.
    [[nodiscard]] std::size_t coded_bits() const { return elements_.size() * bits_per_element_; }

    /// The codeword's element of each element of a part, in the order of its coded bits; -1: punctured.
    [[nodiscard]] std::vector<std::int32_t> sources(UciPart part) const;

    /// codeword: one row of descrambled soft bits. parts: coded_bits(part) each, in the same format;
    /// punctured soft bits become 0. Throws ArgumentError for other sizes and formats. Allocates nothing.
    void split(SoftBitView codeword, const UciSoftBits& parts) const;

    /// The inverse, for a transmitter: punctured bits are left out. Bytes are copied, so placeholders of
    /// block codes stay. Throws ArgumentError for other sizes. Allocates nothing.
    void join(const UciCodedBits& parts, std::span<std::uint8_t> codeword) const;

private:
    std::vector<UciElement> elements_;
    std::size_t bits_per_element_;
    std::array<std::size_t, 4> elements_of_part_ = {};
};

}  // namespace phy
