#pragma once

#include <algorithm>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/pieces.cuh"

/// Sign changes of stored soft bits.
namespace phy::gpu::detail {

/// The signs from a bit on, in the lowest bits. last: index of the last word. A Bit of 32 bits saves
/// registers.
template <Space space, typename Bit>
__device__ __forceinline__ std::uint32_t signs_from(const std::uint32_t* signs, Bit bit, std::uint64_t last) {
    const std::uint64_t word = std::min<std::uint64_t>(bit / 32, last);
    const std::uint64_t next = std::min<std::uint64_t>(bit / 32 + 1, last);
    const auto low = load<space, std::uint32_t>(signs + word);
    const auto high = load<space, std::uint32_t>(signs + next);
    return __funnelshift_r(low, high, static_cast<unsigned>(bit % 32));
}

/// Number of soft bits in a 32-bit word.
template <SoftBitFormat format>
constexpr unsigned soft_bits_of_word = 4 / size_of(format);

/// 255 for every negative byte, 0 for the others. (__byte_perm() lacks the selectors that replicate a sign.)
__device__ __forceinline__ std::uint32_t signs_of_bytes(std::uint32_t word) {
    std::uint32_t signs;
    asm("prmt.b32 %0, %1, 0, 0xBA98;" : "=r"(signs) : "r"(word));
    return signs;
}

/// The soft bits of a word, negated where the lowest bits of signs are 1. int8 soft bits must not be -128,
/// which no demapper produces.
template <SoftBitFormat format>
__device__ __forceinline__ std::uint32_t flipped(std::uint32_t word, std::uint32_t signs) {
    if constexpr (format == SoftBitFormat::int8) {
        constexpr std::uint32_t highest = 0x80808080;
        // Spreads bit k (0 to 3) to the highest bit of byte k.
        const std::uint32_t negative = signs_of_bytes((signs & 0xF) * 0x10204080U);
        // Subtracts each byte from 0 without a borrow from the next.
        const std::uint32_t opposite = (highest - (word & ~highest)) ^ (~word & highest);
        return (word & ~negative) | (opposite & negative);
    } else if constexpr (size_of(format) == 2) {
        return word ^ (signs & 1) << 15 ^ (signs & 2) << 30;
    } else {
        return word ^ signs << 31;
    }
}

/// Negates one soft bit at an address of any alignment.
template <SoftBitFormat format>
__device__ __forceinline__ void flip_one(std::byte* soft_bit, bool is_negative) {
    constexpr unsigned bytes = size_of(format);
    std::uint32_t word = 0;
#pragma unroll
    for (unsigned b = 0; b < bytes; ++b)
        word |= static_cast<std::uint32_t>(soft_bit[b]) << (8 * b);
    word = flipped<format>(word, is_negative ? 1 : 0);
#pragma unroll
    for (unsigned b = 0; b < bytes; ++b)
        soft_bit[b] = static_cast<std::byte>(word >> (8 * b));
}

}  // namespace phy::gpu::detail
