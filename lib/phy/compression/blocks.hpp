#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "phy/compression/block_float.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

/// What all backends share: the layout and integer arithmetic of compressed resource blocks, and checks.
namespace phy::detail {

inline constexpr int components_per_block = 24;
inline constexpr int max_block_bytes = 49;

/// Eight mantissas begin and end at byte boundaries and take `width` bytes, at most 16.
inline constexpr unsigned mantissas_per_group = 8;
inline constexpr unsigned groups_per_block = components_per_block / mantissas_per_group;

/// Contiguous compressed resource blocks at any address.
struct CompressedBlocks {
    const std::uint8_t* bytes;
    unsigned width;         ///< bits per mantissa
    unsigned header_bytes;  ///< before the mantissas of a block: 1 or 0

    [[nodiscard]] constexpr unsigned bytes_per_block() const { return 3 * width + header_bytes; }
};

inline CompressedBlocks compressed_blocks(const BlockFloatConfig& config, const std::byte* bytes) {
    return {.bytes = reinterpret_cast<const std::uint8_t*>(bytes),
            .width = static_cast<unsigned>(config.width),
            .header_bytes = config.has_exponent ? 1U : 0U};
}

/// The loops of a host. Elements may have any alignment.
struct DecompressionKernels {
    void (*to_integers)(const CompressedBlocks& in, std::size_t blocks, void* ci16_elements);
    void (*to_floats)(const CompressedBlocks& in, std::size_t blocks, float unit, void* cf32_elements);
};

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

/// Throws ArgumentError if a value is out of range.
inline void check_config(const BlockFloatConfig& config) {
    if (config.width < 1 || config.width > 16)
        throw ArgumentError("width " + std::to_string(config.width) + ": expected 1 to 16 bits");
}

inline void check_element_format(SampleFormat format) {
    if (format == SampleFormat::ci16 || format == SampleFormat::cf32) return;
    throw ArgumentError("format of elements is number " + std::to_string(static_cast<int>(format)) +
                        ": expected ci16 or cf32");
}

/// Number of resource blocks in a call. Throws ArgumentError unless the sizes match.
inline std::size_t checked_blocks(const BlockFloatConfig& config, SampleFormat format, std::size_t elements,
                                  std::size_t compressed) {
    check_element_format(format);
    const std::size_t blocks = elements / elements_per_block;
    if (elements % elements_per_block != 0)
        throw ArgumentError("elements has " + std::to_string(elements) +
                            " elements: expected a multiple of 12, whole resource blocks");
    check_size("compressed", compressed, blocks * bytes_per_block(config));
    return blocks;
}

/// Of the integers, whatever the format of the elements.
inline float full_scale_of(const BlockFloatConfig& config) {
    return config.full_scale.value_for(SampleFormat::ci16);
}

/// The value of an integer 1 in cf32.
inline float unit_of(const BlockFloatConfig& config) {
    return static_cast<float>(1.0 / double{full_scale_of(config)});
}

}  // namespace phy::detail
