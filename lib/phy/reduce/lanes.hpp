#pragma once

#include <cstddef>

/// Step 3 of the tree on a CPU: virtual lanes to their root. Inlined, so that it is compiled for the caller's
/// instruction set. The lengths are constants, so the compiler can vectorise the loops.
namespace phy::detail {

/// Joins 2 * width lanes. The root is in lane 0.
template <std::size_t width, class Op, class Node>
[[gnu::always_inline]] inline void join_lanes(const Op& op, Node* lanes) {
    for (std::size_t v = 0; v < width; ++v)
        lanes[v] = op.join(lanes[v], lanes[v + width]);
    if constexpr (width > 1) join_lanes<width / 2>(op, lanes);
}

struct AddFloats {
    [[gnu::always_inline]] static float join(float left, float right) { return left + right; }
};

/// Overwrites the lanes.
template <std::size_t count>
[[gnu::always_inline]] inline float sum_of_lanes(float* lanes) {
    join_lanes<count / 2>(AddFloats(), lanes);
    return lanes[0];
}

}  // namespace phy::detail
