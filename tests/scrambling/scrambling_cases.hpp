#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "scrambling/gold_reference.hpp"

/// Bits to scramble and soft bits to descramble, and a reference independent of the library.
namespace phy_test {

inline constexpr unsigned scrambling_seed = 38211;

inline constexpr std::uint32_t some_c_init[] = {0, 1, 0x7FFFFFFF, 0x40000000,
                                                12345U << 15U | 1U << 14U | 678U};

inline std::uint32_t random_c_init(std::mt19937& random) {
    return static_cast<std::uint32_t>(random()) & 0x7FFFFFFFU;
}

inline std::vector<std::byte> random_bytes(std::size_t count) {
    std::mt19937 random(scrambling_seed);
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random() >> 24U);
    return bytes;
}

/// Soft bit i of the bytes, negated where c[i] is 1.
inline std::vector<std::byte> expected_descrambled(phy::SoftBitFormat format, std::vector<std::byte> bytes,
                                                   std::span<const std::uint8_t> c) {
    const std::size_t size = size_of(format);
    for (std::size_t i = 0; i < bytes.size() / size; ++i) {
        if (c[i] == 0) continue;
        if (format == phy::SoftBitFormat::int8) {
            // 256 minus the byte is its negative in two's complement.
            const unsigned value = std::to_integer<unsigned>(bytes[i]);
            bytes[i] = static_cast<std::byte>(value == 0x80 ? 0x7F : 256 - value);
        } else {
            bytes[i * size + size - 1] ^= std::byte{0x80};  // its most significant byte
        }
    }
    return bytes;
}

/// c of several codewords, concatenated.
inline std::vector<std::uint8_t> gold_reference(std::span<const std::uint32_t> c_init, std::size_t length,
                                                std::size_t first = 0) {
    std::vector<std::uint8_t> all;
    for (const std::uint32_t of_codeword : c_init) {
        const std::vector<std::uint8_t> c = gold_reference(of_codeword, first + length);
        all.insert(all.end(), c.begin() + static_cast<std::ptrdiff_t>(first), c.end());
    }
    return all;
}

}  // namespace phy_test
