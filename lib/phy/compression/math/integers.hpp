#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// What is done to an integer, on every machine.
namespace phy::detail {

inline constexpr int components_per_block = 24;
inline constexpr int max_block_bytes = 49;

/// Of udCompParam.
constexpr unsigned exponent_of(std::uint8_t parameter) {
    return parameter & 0xFU;
}

/// The mantissa whose `width` bits follow `offset` bits of a big-endian word; both together have at most 32.
constexpr std::int32_t mantissa_of(std::uint32_t word, unsigned offset, unsigned width) {
    return static_cast<std::int32_t>(word << offset) >> (32 - width);
}

/// At most 31 bits, of which the upper 16 tell all.
constexpr std::int32_t value_of(std::int32_t mantissa, unsigned exponent) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(mantissa) << exponent);
}

constexpr std::int16_t limited_to_16_bits(std::int32_t value) {
    return static_cast<std::int16_t>(std::clamp(value, -32768, 32767));
}

/// Has as many bits as the component needs, but for its sign: x, or -x - 1 if x is negative.
constexpr unsigned magnitude_of(std::int16_t component) {
    return static_cast<unsigned>(component < 0 ? ~component : component);
}

/// The smallest exponent, where `magnitudes` has all bits of all magnitudes.
constexpr int smallest_exponent(unsigned magnitudes, int width) {
    return std::max(0, 1 + static_cast<int>(std::bit_width(magnitudes)) - width);
}

}  // namespace phy::detail
