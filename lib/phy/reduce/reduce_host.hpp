#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/machine/host.hpp"
#include "phy/reduce/reduce_block.hpp"
#include "phy/reduce/reduce_built_in.hpp"
#include "phy/reduce/reduce_layout.hpp"
#include "phy/reduce/tree.hpp"

namespace phy::detail {

/// Calls work(job, item) once for each of the items, from the threads of the host.
PHY_EXPORT void share_items(const Host& host, std::size_t items,
                            void (*work)(const void* job, std::size_t item) noexcept, const void* job);

/// Calls work(first, end) for pieces of 0 to count - 1 that threads can share; a piece has at most `piece`.
template <class Work>
void share_pieces(const Host& host, std::uint64_t count, std::uint64_t piece, const Work& work) {
    struct Job {
        std::uint64_t count;
        std::uint64_t piece;
        const Work& work;
    };
    const Job job{count, piece, work};
    const auto call = [](const void* erased, std::size_t item) noexcept {
        const Job& all = *static_cast<const Job*>(erased);
        const std::uint64_t first = item * all.piece;
        all.work(first, std::min(first + all.piece, all.count));
    };
    share_items(host, pieces_of(count, piece), call, &job);
}

/// How the operator joins nodes.
template <class Op>
struct JoinWith {
    const Op* op;
    typename Op::Node operator()(const typename Op::Node& left, const typename Op::Node& right) const {
        return op->join(left, right);
    }
};

/// A call of reduce_rows(), whose arguments are checked.
template <class Op>
class HostReduction {
public:
    using Element = typename Op::Element;
    using Node = typename Op::Node;
    using Result = typename Op::Result;

    HostReduction(const Host& host, const Op& op, const Element* in, Result* out, Node* nodes)
        : host_(host), op_(op), block_root_(choose_block_root(host)), in_(in), out_(out), nodes_(nodes) {}

    void run(std::uint64_t rows, std::uint64_t length) const {
        const std::uint64_t wanted = 16 * static_cast<std::uint64_t>(host_.threads());
        const RowUnits units = largest_units(rows, length, max_level, wanted);
        const std::uint64_t each = std::min(length, units.size());
        const std::uint64_t enough =
            std::max<std::uint64_t>(1, min_elements / std::max<std::uint64_t>(1, each));
        const std::uint64_t fair = std::max<std::uint64_t>(1, units.count() / wanted);
        share_pieces(host_, units.count(), std::min(enough, fair),
                     [&](std::uint64_t first, std::uint64_t end) { reduce_units(units, first, end); });
        if (units.of_row() == 1) return;
        const std::uint64_t rows_of_piece = std::max<std::uint64_t>(1, min_nodes / units.of_row());
        share_pieces(host_, rows, rows_of_piece,
                     [&](std::uint64_t first, std::uint64_t end) { join_units(units, first, end); });
    }

private:
    // What a thread takes at a time: it is worth some microseconds, but not so much that others wait for it.
    static constexpr unsigned max_level = 6;
    static constexpr std::uint64_t min_elements = std::uint64_t{1} << 16;
    static constexpr std::uint64_t min_nodes = 4096;

    static BlockRoot<Op> choose_block_root(const Host& host) {
        if constexpr (is_built_in<Op>) {
            const AnyFunction root = built_in_block_root(BuiltInReductions::index_of<Op>, host.backend());
            return reinterpret_cast<BlockRoot<Op>>(root);
        } else {
            static_cast<void>(host);
            return &plain_block_root;
        }
    }

    static Node plain_block_root(const Op& op, const Element* in, std::size_t count, std::uint64_t first) {
        return block_root(op, in, count, first);
    }

    void reduce_units(const RowUnits& units, std::uint64_t first, std::uint64_t end) const {
        const std::uint64_t of_row = units.of_row();
        std::uint64_t row = first / of_row;
        std::uint64_t begin = first % of_row * units.size();
        for (std::uint64_t unit = first; unit < end; ++unit) {
            const std::uint64_t count = std::min(units.size(), units.length - begin);
            const Node root = unit_root(in_ + row * units.length, begin, count);
            if (of_row == 1) {
                out_[row] = op_.finish(root, units.length);
            } else {
                nodes_[unit] = root;
            }
            begin += units.size();
            if (begin >= units.length) {
                begin = 0;
                ++row;
            }
        }
    }

    Node unit_root(const Element* row, std::uint64_t begin, std::uint64_t count) const {
        if (count == 0) return op_.identity();
        if (count <= row_tree.block) return block_root_(op_, row + begin, count, begin);
        NodeJoiner<Node, JoinWith<Op>> joiner(JoinWith<Op>{&op_});
        for (std::uint64_t done = 0; done < count; done += row_tree.block) {
            const std::uint64_t block = std::min<std::uint64_t>(row_tree.block, count - done);
            joiner.add(block_root_(op_, row + begin + done, block, begin + done));
        }
        return joiner.root(op_.identity());
    }

    void join_units(const RowUnits& units, std::uint64_t first, std::uint64_t end) const {
        const std::uint64_t of_row = units.of_row();
        for (std::uint64_t row = first; row < end; ++row) {
            NodeJoiner<Node, JoinWith<Op>> joiner(JoinWith<Op>{&op_});
            for (std::uint64_t unit = 0; unit < of_row; ++unit)
                joiner.add(nodes_[row * of_row + unit]);
            out_[row] = op_.finish(joiner.root(op_.identity()), units.length);
        }
    }

    const Host& host_;
    const Op& op_;
    BlockRoot<Op> block_root_;
    const Element* in_;
    Result* out_;
    Node* nodes_;
};

}  // namespace phy::detail
