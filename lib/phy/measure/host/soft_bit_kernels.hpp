#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/backend.hpp"
#include "phy/core/format.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/reduce/tree.hpp"

namespace phy::detail {

/// Neighbouring soft bits, at most a block of row_tree of them; they may be unaligned.
struct SoftBitBlock {
    const std::byte* soft_bits;
    const std::uint8_t* truth;  ///< null: nothing to compare with
    std::size_t count;
};

struct SoftBitKernels {
    /// The root of a block. The clip is llr_clip, of which int8 alone takes notice.
    using Sum = SoftBitSums (*)(const SoftBitBlock& block, int clip);

    std::array<Sum, SoftBitTypes::size> sum;  ///< by SoftBitFormat
};

/// Throws BackendError if the backend does not run here or needs device memory.
const SoftBitKernels& soft_bit_kernels(const Backend& backend);

extern const SoftBitKernels scalar_soft_bit_kernels;

/// The virtual lanes of a block.
struct MagnitudeLanes {
    alignas(64) float sums[row_tree.lanes] = {};

    /// Step 3 of the tree.
    [[nodiscard]] double root() {
        for (std::size_t w = row_tree.lanes / 2; w > 0; w /= 2) {
            for (std::size_t v = 0; v < w; ++v)
                sums[v] += sums[v + w];
        }
        return double{sums[0]};
    }
};

/// From where on a soft bit that is a floating-point number is saturated.
template <typename T>
constexpr float saturation_of() {
    return soft_bit_format_facts[static_cast<std::size_t>(soft_bit_format_of<T>)].largest;
}

}  // namespace phy::detail
