#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/modulation.hpp"
#include "phy/simd/arrays.hpp"

namespace phy::detail {

/// Symbols that pass through all steps together, so that intermediate results stay in the nearest caches.
inline constexpr std::size_t block_symbols = 1024;

/// Outputs of more bytes than this do not stay in the caches. They are streamed past them, which saves
/// reading memory that is about to be overwritten.
inline constexpr std::size_t streaming_bytes = 16 << 20;

/// The arrays that one thread needs between the steps of a block.
struct alignas(64) Workspace {
    static constexpr std::size_t components = 2 * block_symbols + padding;

    alignas(64) float iq[components];
    alignas(64) float scale[components];
    alignas(64) float limit[components];
    alignas(64) float fraction[components];
    alignas(64) std::uint32_t entry[components];
    alignas(64) float llr[max_bits_per_symbol * block_symbols + padding];  ///< before rounding
    alignas(64) std::uint32_t signs[words_of_signs(max_bits_per_symbol * block_symbols)];
    alignas(64) std::byte out[sizeof(float) * max_bits_per_symbol * block_symbols];  ///< before streaming
};

}  // namespace phy::detail
