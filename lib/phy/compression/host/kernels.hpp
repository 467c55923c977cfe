#pragma once

#include <cstddef>
#include <cstdint>

namespace phy::detail {

/// Compressed resource blocks at any address.
struct CompressedBlocks {
    const std::uint8_t* bytes;
    std::size_t blocks;
    unsigned width;
    bool has_exponent;

    [[nodiscard]] std::size_t bytes_per_block() const { return 3 * width + (has_exponent ? 1 : 0); }
};

/// Elements may have any alignment.
struct DecompressionKernels {
    void (*to_integers)(const CompressedBlocks& in, void* ci16_elements);
    void (*to_floats)(const CompressedBlocks& in, float unit, void* cf32_elements);
};

}  // namespace phy::detail
