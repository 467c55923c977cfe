#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/view.hpp"

/// The codes of UCI of 1 to 11 bits with their rate matching (TS 38.212 clauses 5.3.3 and 5.4.3).
///
/// The codes of 1 and 2 bits fill the symbols of higher modulations with placeholders, which only scrambling
/// turns into bits (TS 38.211 clause 6.3.1.1). A placeholder x becomes 1, which takes the outermost points. A
/// placeholder y becomes the scrambled bit before it.
///
/// A receiver descrambles all soft bits alike, so those of placeholders come with signs that do not fit. The
/// decoder ignores x, which says nothing about the information. A soft bit of y is one of c0 times
/// (1 - 2 c(i-1)) (1 - 2 c(i)), where c(i) is the scrambling sequence at y: with the sequence the decoder
/// uses it, without the decoder ignores it and loses half of the energy (3 dB). Only the code of 1 bit has y.
namespace phy {

inline constexpr int max_block_code_bits = 11;

struct PHY_EXPORT BlockCode {
    int bits = 1;                              ///< K, from 1 to 11
    Modulation modulation = Modulation::qpsk;  ///< matters for 1 and 2 bits

    friend bool operator==(const BlockCode&, const BlockCode&) = default;
};

/// What an encoder writes for placeholders. Scrambler leaves these bits of a byte as they are.
inline constexpr std::uint8_t placeholder_x = 2;
inline constexpr std::uint8_t placeholder_y = 4;

/// bits: K bits, one per byte. coded: as many coded bits as the channel has, one per byte: 0, 1 or a
/// placeholder. Throws ArgumentError for a value out of its range and another number of bits.
PHY_EXPORT void encode_block_code(const BlockCode& code, std::span<const std::uint8_t> bits,
                                  std::span<std::uint8_t> coded);

/// Replaces the placeholders of a codeword that Scrambler has scrambled by bits.
PHY_EXPORT void resolve_placeholders(std::span<std::uint8_t> scrambled);

/// What the decoder finds.
struct PHY_EXPORT DecodedWord {
    std::array<std::uint8_t, max_block_code_bits> bits = {};  ///< the first K; others are 0

    /// Nats: the natural logarithm of how many times likelier the word is than the second likeliest; 0 if
    /// nothing is known. Soft bits that contradict each other more than their size allows count as smaller
    /// ones: noise alone on 32 soft bits or more, saturated or not, exceeds 16 in about 1 % of cases with 1
    /// bit and in fewer with more. Noise on few soft bits, such as 2 of one bit, often agrees by chance.
    float margin = 0.0F;

    friend bool operator==(const DecodedWord&, const DecodedWord&) = default;
};

struct PHY_EXPORT BlockDecoding {
    float scale = 6.0F;  ///< int8: steps per nat, as in LlrConfig
    /// Bits of the scrambling sequence at the soft bits, one per byte, for placeholders y. May be empty.
    std::span<const std::uint8_t> scrambling = {};
};

/// The likeliest of all 2^K words; of equally likely ones the one with the smallest sum of c_k 2^k.
///
/// llr: descrambled soft bits in the order of transmission, above 0 for bit 0, as many as the channel has.
/// Those that are not finite count as 0. Repeated ones are added in binary64 in that order, so all machines
/// give the same word and margin. Throws ArgumentError for a value out of its range and a scrambling sequence
/// of another length. Allocates nothing. Thread-safe.
[[nodiscard]] PHY_EXPORT DecodedWord decode_block_code(const BlockCode& code, SoftBitView llr,
                                                       const BlockDecoding& decoding = {});

}  // namespace phy
