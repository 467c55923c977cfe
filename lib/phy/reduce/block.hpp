#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/reduce/lanes.hpp"
#include "phy/reduce/tree.hpp"

/// A block on a CPU: steps 2 and 3 of the tree.
namespace phy::detail {

/// Reduces count elements, at most a block. first: index of the first element in its row.
template <class Op>
using BlockRoot = typename Op::Node (*)(const Op& op, const typename Op::Element* in, std::size_t count,
                                        std::uint64_t first);

/// Distance of prefetches, in bytes. The hardware's own prefetches end with a page.
inline constexpr std::size_t reduce_prefetch_distance = 8192;

/// Inlined, so that it is compiled for the caller's instruction set.
template <class Op>
[[gnu::always_inline]] inline typename Op::Node block_root(const Op& op, const typename Op::Element* in,
                                                           std::size_t count, std::uint64_t first) {
    using Element = typename Op::Element;
    constexpr std::size_t cache_line = 64;
    constexpr std::size_t bytes = row_tree.lanes * sizeof(Element);
    typename Op::Node lanes[row_tree.lanes];
    for (auto& lane : lanes)
        lane = op.identity();
    std::size_t i = 0;
    for (; i + row_tree.lanes <= count; i += row_tree.lanes) {
        // An integer, because the address may lie beyond the array.
        const auto ahead = reinterpret_cast<std::uintptr_t>(in + i) + reduce_prefetch_distance;
        for (std::size_t byte = 0; byte < bytes; byte += cache_line)
            __builtin_prefetch(
                reinterpret_cast<const char*>(ahead + byte));  // NOLINT(performance-no-int-to-ptr)
        for (std::size_t v = 0; v < row_tree.lanes; ++v)
            lanes[v] = op.join(lanes[v], op.of(in[i + v], first + i + v));
    }
    for (std::size_t v = 0; i + v < count; ++v)
        lanes[v] = op.join(lanes[v], op.of(in[i + v], first + i + v));
    join_lanes<row_tree.lanes / 2>(op, lanes);
    return lanes[0];
}

}  // namespace phy::detail
