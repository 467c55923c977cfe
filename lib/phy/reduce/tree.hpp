#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The order of a reduction is part of its result, because floating-point sums depend on it. It does not
/// depend on the backend, on threads, GPU blocks, chunks or the number of devices.
///
/// 1. A row is cut into blocks of Tree::block elements from its first element on. The last may be shorter.
/// 2. Element i of a block belongs to virtual lane i mod Tree::lanes. A lane starts with the identity of the
///    operation and joins its elements in the order of their indices.
/// 3. Lane v joins lane v + w for all v < w, with w = lanes / 2, then lanes / 4, down to 1. Lane 0 is then
///    the root of the block.
/// 4. The roots of neighbouring blocks are joined in pairs, then the results of that, and so on. A root
///    without a right neighbour moves up unchanged. The last root is the result of the row. An empty row
///    gives the identity.
///
/// Hence 2^k blocks that begin at a multiple of 2^k can be reduced separately to one root.
///
/// In a sum, an element passes through at most D = block / lanes + log2(lanes) + ceil(log2(blocks))
/// additions. With the unit roundoff u of the format (binary32: 2^-24) the error is at most D u / (1 - D u)
/// times the sum of the magnitudes, unless a sum overflows.
namespace phy {

struct Tree {
    std::size_t lanes;
    std::size_t block;
};

/// The tree of reduce_rows().
inline constexpr Tree row_tree = {.lanes = 128, .block = 4096};

/// The tree of measurements on symbols: a warp, or two AVX-512 registers, in 32 steps.
inline constexpr Tree symbol_tree = {.lanes = 32, .block = 1024};

/// Step 4: joins the roots of blocks, or of 2^k blocks each, which arrive in order. Join(left, right) returns
/// the root of two neighbours.
template <class Node, class Join>
class NodeJoiner {
public:
    explicit NodeJoiner(Join join = {}) : join_(join) {}

    /// nodes: a power of two, if the node is already the root of so many. The number of nodes before must be
    /// a multiple of it.
    void add(Node node, std::uint64_t nodes = 1) {
        for (std::uint64_t before = nodes_ / nodes; before % 2 != 0; before /= 2)
            node = join_(waiting_[--depth_], node);
        waiting_[depth_++] = node;
        nodes_ += nodes;
    }

    /// The root of all added nodes; `none` if there are none.
    [[nodiscard]] Node root(const Node& none) const {
        if (depth_ == 0) return none;
        Node node = waiting_[depth_ - 1];
        for (std::size_t i = depth_ - 1; i-- > 0;)
            node = join_(waiting_[i], node);
        return node;
    }

private:
    Join join_;
    std::array<Node, 64> waiting_ = {};  ///< roots without a right neighbour yet, largest first
    std::size_t depth_ = 0;
    std::uint64_t nodes_ = 0;
};

}  // namespace phy
