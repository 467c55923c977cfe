#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// Integer arithmetic that all backends share.
namespace phy::detail {

inline constexpr int components_per_block = 24;
inline constexpr int max_block_bytes = 49;

/// The exponent in udCompParam.
constexpr unsigned exponent_of(std::uint8_t parameter) {
    return parameter & 0xFU;
}

/// The mantissa of `width` bits after `offset` bits of a big-endian word. offset + width is at most 32.
constexpr std::int32_t mantissa_of(std::uint32_t word, unsigned offset, unsigned width) {
    return static_cast<std::int32_t>(word << offset) >> (32 - width);
}

/// mantissa x 2^exponent, at most 31 bits.
constexpr std::int32_t value_of(std::int32_t mantissa, unsigned exponent) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(mantissa) << exponent);
}

constexpr std::int16_t limited_to_16_bits(std::int32_t value) {
    return static_cast<std::int16_t>(std::clamp(value, -32768, 32767));
}

/// A number with as many bits as the component without its sign: x, or -x - 1 if x is negative.
constexpr unsigned magnitude_of(std::int16_t component) {
    return static_cast<unsigned>(component < 0 ? ~component : component);
}

/// The smallest exponent. magnitudes: bitwise or of all magnitudes.
constexpr int smallest_exponent(unsigned magnitudes, int width) {
    return std::max(0, 1 + static_cast<int>(std::bit_width(magnitudes)) - width);
}

}  // namespace phy::detail
