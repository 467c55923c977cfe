#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/reduce/lanes.hpp"
#include "phy/reduce/tree.hpp"

namespace phy::detail {

/// Neighbouring soft bits, at most one block of row_tree; may be unaligned.
struct SoftBitBlock {
    const std::byte* soft_bits;
    const std::uint8_t* truth;  ///< null: no comparison
    std::size_t count;
};

struct SoftBitKernels {
    /// Returns the root of a block. clip is LlrConfig::clip, for int8 alone.
    using Sum = SoftBitSums (*)(const SoftBitBlock& block, int clip);

    std::array<Sum, SoftBitTypes::size> sum;  ///< by SoftBitFormat
};

/// The virtual lanes of a block.
struct MagnitudeLanes {
    alignas(64) float sums[row_tree.lanes] = {};

    [[nodiscard]] double root() { return double{sum_of_lanes<row_tree.lanes>(sums)}; }
};

/// The magnitude from which on a floating-point soft bit is saturated.
template <typename T>
constexpr float saturation_of() {
    return soft_bit_format_facts[static_cast<std::size_t>(soft_bit_format_of<T>)].largest;
}

}  // namespace phy::detail
