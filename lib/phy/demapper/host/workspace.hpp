#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/modulation.hpp"
#include "phy/simd/arrays.hpp"

namespace phy::detail {

/// Symbols that pass through all steps before the next are looked at: what lies in between stays in the
/// nearest caches.
inline constexpr std::size_t block_symbols = 1024;

/// Outputs of more bytes than this leave no use in the caches: they are streamed past them, which spares
/// reading the memory that is about to be overwritten.
inline constexpr std::size_t streaming_bytes = 16 << 20;

/// What one thread needs between the steps of a block.
struct alignas(64) Workspace {
    static constexpr std::size_t components = 2 * block_symbols + padding;

    alignas(64) float iq[components];
    alignas(64) float scale[components];
    alignas(64) float limit[components];
    alignas(64) float fraction[components];
    alignas(64) std::uint32_t entry[components];
    alignas(64) float llr[max_bits_per_symbol * block_symbols + padding];  ///< before they are rounded
    alignas(64) std::uint32_t signs[words_of_signs(max_bits_per_symbol * block_symbols)];
    alignas(
        64) std::byte out[sizeof(float) * max_bits_per_symbol * block_symbols];  ///< before they are streamed
};

}  // namespace phy::detail
