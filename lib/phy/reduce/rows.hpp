#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phy/machine/share.hpp"
#include "phy/reduce/block.hpp"
#include "phy/reduce/reduce_built_in.hpp"
#include "phy/reduce/reduce_layout.hpp"
#include "phy/reduce/tree.hpp"

/// Rows on a CPU: the threads of a host reduce blocks to roots of units, and those to roots of rows.
namespace phy::detail {

template <class Op>
struct JoinWith {
    const Op* op;
    typename Op::Node operator()(const typename Op::Node& left, const typename Op::Node& right) const {
        return op->join(left, right);
    }
};

/// The rows of a call. Work has
///
///     using Node = ...;
///     std::uint64_t block;  // elements of a block of the tree
///     Node identity() const;
///     Node join(const Node& left, const Node& right) const;
///     Node reduce(row, begin, count, part) const;  // count: at most a block
///     void finish(row, root) const;
///
/// Calls that run at the same time have different parts (ThreadPool::for_each()). nodes has room for one node
/// per unit if rows have several units.
template <class Work>
class HostRows {
public:
    using Node = typename Work::Node;

    HostRows(const Host& host, const RowUnits& units, const Work& work, Node* nodes)
        : host_(host), units_(units), work_(work), nodes_(nodes) {}

    /// piece: number of units that a thread takes at a time.
    void reduce(std::uint64_t piece) const {
        share_pieces(host_, units_.count(), piece, [&](int part, std::uint64_t first, std::uint64_t end) {
            reduce_units(first, end, part);
        });
        if (units_.of_row() == 1) return;
        const std::uint64_t rows_of_piece = std::max<std::uint64_t>(1, min_nodes / units_.of_row());
        share_pieces(host_, units_.rows, rows_of_piece,
                     [&](std::uint64_t first, std::uint64_t end) { join_units(first, end); });
    }

private:
    /// Min number of nodes worth another thread.
    static constexpr std::uint64_t min_nodes = 4096;

    void reduce_units(std::uint64_t first, std::uint64_t end, int part) const {
        const std::uint64_t of_row = units_.of_row();
        std::uint64_t row = first / of_row;
        std::uint64_t begin = first % of_row * units_.size;
        for (std::uint64_t unit = first; unit < end; ++unit) {
            const std::uint64_t length = units_.length_of(row);
            const Node root = unit_root(row, begin, std::min(units_.size, length - begin), part);
            if (of_row == 1) {
                work_.finish(row, root);
            } else {
                nodes_[unit] = root;
            }
            begin += units_.size;
            if (begin >= length) {
                begin = 0;
                ++row;
            }
        }
    }

    Node unit_root(std::uint64_t row, std::uint64_t begin, std::uint64_t count, int part) const {
        if (count == 0) return work_.identity();
        if (count <= work_.block) return work_.reduce(row, begin, count, part);
        NodeJoiner<Node, JoinWith<Work>> joiner(JoinWith<Work>{&work_});
        for (std::uint64_t done = 0; done < count; done += work_.block)
            joiner.add(work_.reduce(row, begin + done, std::min(work_.block, count - done), part));
        return joiner.root(work_.identity());
    }

    void join_units(std::uint64_t first, std::uint64_t end) const {
        const std::uint64_t of_row = units_.of_row();
        for (std::uint64_t row = first; row < end; ++row) {
            const Node* const nodes = nodes_ + row * of_row;
            const std::uint64_t count = units_.of_row(row);
            NodeJoiner<Node, JoinWith<Work>> joiner(JoinWith<Work>{&work_});
            for (std::uint64_t unit = 0; unit < count; ++unit)
                joiner.add(nodes[unit]);
            work_.finish(row, joiner.root(work_.identity()));
        }
    }

    const Host& host_;
    const RowUnits units_;
    const Work& work_;
    Node* nodes_;
};

/// The Work of reduce_rows().
template <class Op>
struct OperatorWork {
    using Element = typename Op::Element;
    using Node = typename Op::Node;

    static constexpr std::uint64_t block = row_tree.block;

    const Op& op;
    BlockRoot<Op> block_root;
    const Element* in;
    typename Op::Result* out;
    std::uint64_t length;

    [[nodiscard]] Node identity() const { return op.identity(); }
    [[nodiscard]] Node join(const Node& left, const Node& right) const { return op.join(left, right); }
    [[nodiscard]] Node reduce(std::uint64_t row, std::uint64_t begin, std::size_t count, int /*part*/) const {
        return block_root(op, in + row * length + begin, count, begin);
    }
    void finish(std::uint64_t row, const Node& root) const { out[row] = op.finish(root, length); }
};

template <class Op>
typename Op::Node plain_block_root(const Op& op, const typename Op::Element* in, std::size_t count,
                                   std::uint64_t first) {
    return block_root(op, in, count, first);
}

template <class Op>
BlockRoot<Op> choose_block_root([[maybe_unused]] const Host& host) {
    if constexpr (is_built_in<Op>) {
        const AnyFunction root = built_in_block_root(BuiltInReductions::index_of<Op>, host.backend());
        return reinterpret_cast<BlockRoot<Op>>(root);
    } else {
        return &plain_block_root<Op>;
    }
}

/// A call of reduce_rows() with checked arguments. A piece takes some microseconds: enough to be worth
/// sharing, but short enough that no thread waits long for the last one.
template <class Op>
void reduce_on_host(const Host& host, const OperatorWork<Op>& work, std::uint64_t rows,
                    typename Op::Node* nodes) {
    constexpr unsigned max_level = 6;
    constexpr std::uint64_t min_elements = std::uint64_t{1} << 16;
    const std::uint64_t length = work.length;
    const std::uint64_t wanted = 16 * static_cast<std::uint64_t>(host.threads());
    const RowUnits units = {rows, length, length,
                            work.block << level_of_units(rows, length, work.block, max_level, wanted)};
    const std::uint64_t each = std::min(length, units.size);
    const std::uint64_t enough = std::max<std::uint64_t>(1, min_elements / std::max<std::uint64_t>(1, each));
    const std::uint64_t fair = std::max<std::uint64_t>(1, units.count() / wanted);
    HostRows(host, units, work, nodes).reduce(std::min(enough, fair));
}

}  // namespace phy::detail
