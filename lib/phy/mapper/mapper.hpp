#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// How the bits that enter the mapper are stored.
enum class BitPacking {
    one_per_byte,  ///< one bit a byte, 0 or 1; only the lowest bit of the byte is looked at
    packed,        ///< eight bits a byte, the first bit of the sequence in the most significant bit
};

/// Maps bits to the constellations of TS 38.211 clause 5.1 (unit mean power, even bits of a symbol on I, odd
/// bits on Q). The threads of the host share a call. Immutable, so one mapper may be used from many threads.
class PHY_EXPORT Mapper {
public:
    struct Config {
        Modulation modulation = Modulation::qpsk;
        BitPacking packing = BitPacking::one_per_byte;

        /// ci16 output, which needs it: the integer that stands for 1.0. A component is rounded half to even
        /// and limited to +-32767; 8192 leaves 12 dB above the unit mean power. There is no default, as the
        /// demapper's, 32768, would cut outer points off: give the demapper the same number.
        std::optional<float> full_scale = {};
    };

    /// Throws ArgumentError if full_scale is given and not finite and positive, or if a modulation or packing
    /// was cast from a number that names none.
    Mapper(const Host& host, const Config& config);

    /// Copies, as a move does too: what was moved from is still a mapper.
    Mapper(const Mapper&) = default;
    Mapper& operator=(const Mapper&) = default;
    ~Mapper() = default;

    /// Writes symbols.size() symbols in cf32, cf16 or, with a full_scale, ci16 (ArgumentError for anything
    /// else). bits holds symbols.size() * Qm bits: that many bytes for one_per_byte, an eighth rounded up for
    /// packed (trailing bits of the last byte are ignored); another size is an ArgumentError. first_symbol is
    /// the index i of the first symbol in its sequence, of which pi/2-BPSK needs the parity when a sequence
    /// is mapped in pieces.
    void operator()(std::span<const std::uint8_t> bits, SymbolSpan symbols,
                    std::uint64_t first_symbol = 0) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
    std::vector<ci16> integer_points_;  ///< with a full_scale
};

/// Packs one-per-byte bits, eight a byte, first bit most significant; the last byte is filled up with zeros.
/// packed.size() must be (bits.size() + 7) / 8 (ArgumentError).
PHY_EXPORT void pack_bits(std::span<const std::uint8_t> bits, std::span<std::uint8_t> packed);

/// Inverse of pack_bits for bits.size() bits; packed.size() must be (bits.size() + 7) / 8 (ArgumentError).
PHY_EXPORT void unpack_bits(std::span<const std::uint8_t> packed, std::span<std::uint8_t> bits);

}  // namespace phy
