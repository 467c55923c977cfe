#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The order of a reduction, which is part of its result: floating-point sums depend on it. It does not
/// depend on the backend, on threads, on blocks of a GPU, on chunks or on the number of devices.
///
/// 1. A row is cut into blocks of Tree::block elements, from its first element on; the last may be shorter.
/// 2. Element i of a block belongs to virtual lane i mod Tree::lanes. A lane begins with the identity of the
///    operation and takes its elements in the order of their indices.
/// 3. Lane v takes lane v + w for all v < w, where w is lanes / 2, then lanes / 4, down to 1. Lane 0 is the
///    root of the block.
/// 4. Roots of neighbouring blocks are joined in pairs, so are their roots, and so on; what has no right
///    neighbour goes up as it is. What is left is the result of the row. A row without elements gives the
///    identity.
///
/// So whoever owns 2^k blocks from a multiple of 2^k on can reduce them alone and hand on one root.
///
/// In a sum, an element passes through at most D = block / lanes + log2(lanes) + ceil(log2(blocks))
/// additions. In a format with the unit roundoff u (binary32: 2^-24) the error is at most D u / (1 - D u)
/// times the sum of the magnitudes, as long as nothing overflows.
namespace phy {

struct Tree {
    std::size_t lanes;
    std::size_t block;
};

/// Of reduce_rows().
inline constexpr Tree row_tree = {.lanes = 128, .block = 4096};

/// Of what is measured on symbols: a warp, or two AVX-512 registers, in 32 turns.
inline constexpr Tree symbol_tree = {.lanes = 32, .block = 1024};

/// Joins the roots of blocks, or of 2^k blocks each, that come in order: step 4. Join(left, right) gives the
/// root of two neighbours.
template <class Node, class Join>
class NodeJoiner {
public:
    explicit NodeJoiner(Join join = {}) : join_(join) {}

    void add(Node node) {
        for (std::uint64_t whole = nodes_++; whole % 2 != 0; whole /= 2)
            node = join_(waiting_[--depth_], node);
        waiting_[depth_++] = node;
    }

    /// The root of what was added, or none if that is nothing.
    [[nodiscard]] Node root(const Node& none) const {
        if (depth_ == 0) return none;
        Node node = waiting_[depth_ - 1];
        for (std::size_t i = depth_ - 1; i-- > 0;)
            node = join_(waiting_[i], node);
        return node;
    }

private:
    Join join_;
    std::array<Node, 64> waiting_ = {};  ///< roots that have no right neighbour yet, the largest first
    std::size_t depth_ = 0;
    std::uint64_t nodes_ = 0;
};

}  // namespace phy
