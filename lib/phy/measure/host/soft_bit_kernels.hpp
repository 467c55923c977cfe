#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/reduce/lanes.hpp"
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

/// The virtual lanes of a block.
struct MagnitudeLanes {
    alignas(64) float sums[row_tree.lanes] = {};

    [[nodiscard]] double root() { return double{sum_of_lanes<row_tree.lanes>(sums)}; }
};

/// From where on a soft bit that is a floating-point number is saturated.
template <typename T>
constexpr float saturation_of() {
    return soft_bit_format_facts[static_cast<std::size_t>(soft_bit_format_of<T>)].largest;
}

}  // namespace phy::detail
