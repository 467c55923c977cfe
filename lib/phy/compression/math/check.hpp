#pragma once

#include <string>

#include "phy/compression/block_float.hpp"
#include "phy/core/check.hpp"
#include "phy/core/error.hpp"

namespace phy::detail {

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
