#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The cyclic redundancy checks of TS 38.212 clause 5.1.
namespace phy::detail {

/// A generator polynomial without its highest power.
struct Crc {
    int length;                ///< L, bits
    std::uint32_t polynomial;  ///< bit i is the factor of D^i

    friend bool operator==(const Crc&, const Crc&) = default;
};

inline constexpr Crc crc24a = {24, 0x864CFB};
inline constexpr Crc crc24b = {24, 0x800063};
inline constexpr Crc crc16 = {16, 0x1021};

/// Bits are packed, the first in the most significant bit.
class CrcEngine {
public:
    explicit CrcEngine(const Crc& crc);

    [[nodiscard]] const Crc& crc() const { return crc_; }

    /// The parity bits of the first `bits` bits, p0 in bit L - 1. That of bits with their own parity bits
    /// behind them is 0.
    [[nodiscard]] std::uint32_t operator()(std::span<const std::uint8_t> packed, std::size_t bits) const;

private:
    static constexpr std::size_t slices = 8;

    Crc crc_;
    /// The register after a byte and `slice` zero bytes; the polynomial in the highest bits.
    std::uint32_t tables_[slices][256] = {};
};

}  // namespace phy::detail
