#include "phy/coding/crc.hpp"

namespace phy::detail {
namespace {

constexpr std::uint32_t highest_bit = 0x80000000;

constexpr std::uint32_t after_bit(std::uint32_t state, std::uint32_t polynomial) {
    return state << 1U ^ ((state & highest_bit) != 0 ? polynomial : 0U);
}

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U | std::uint32_t{bytes[2]} << 8U |
           std::uint32_t{bytes[3]};
}

/// The register after four bytes, by tables of the last one's on.
std::uint32_t after_bytes(const std::uint32_t (*tables)[256], std::uint32_t four) {
    return tables[3][four >> 24U] ^ tables[2][four >> 16U & 0xFFU] ^ tables[1][four >> 8U & 0xFFU] ^
           tables[0][four & 0xFFU];
}

}  // namespace

CrcEngine::CrcEngine(const Crc& crc) : crc_(crc) {
    const std::uint32_t polynomial = crc.polynomial << static_cast<unsigned>(32 - crc.length);
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t state = byte << 24U;
        for (auto& table : tables_) {
            for (int bit = 0; bit < 8; ++bit)
                state = after_bit(state, polynomial);
            table[byte] = state;
        }
    }
}

std::uint32_t CrcEngine::operator()(std::span<const std::uint8_t> packed, std::size_t bits) const {
    std::uint32_t state = 0;
    std::size_t byte = 0;
    for (; byte + slices <= bits / 8; byte += slices) {
        const std::uint8_t* const next = packed.data() + byte;
        state ^= big_endian(next);
        state = after_bytes(tables_ + 4, state) ^ after_bytes(tables_, big_endian(next + 4));
    }
    for (; byte < bits / 8; ++byte)
        state = state << 8U ^ tables_[0][state >> 24U ^ packed[byte]];
    const std::uint32_t polynomial = crc_.polynomial << static_cast<unsigned>(32 - crc_.length);
    for (std::size_t bit = 0; bit < bits % 8; ++bit) {
        state ^= std::uint32_t{packed[byte]} << (24U + bit) & highest_bit;
        state = after_bit(state, polynomial);
    }
    return state >> static_cast<unsigned>(32 - crc_.length);
}

}  // namespace phy::detail
