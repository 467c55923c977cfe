#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

#include "phy/machine/thread_pool.hpp"
#include "phy/reduce/tree.hpp"

namespace phy::detail {

/// Spreads a reduction of rows over threads: whole rows where they are short or many, parts of 2^k blocks
/// where they are long and few. Node is what is left of neighbours, Join joins two.
template <class Node, class Join>
class RowSpreader {
public:
    /// part: elements that are worth handing to another thread, 2^k blocks.
    RowSpreader(std::size_t block, std::size_t part) : block_(block), part_(part), parts_(max_parts) {}

    /// Elements are rows of `row`, the last of which may be shorter; there is a node for each.
    /// sum_block(first, count, place) gives the root of a block; place, below pool.size(), is one that no two
    /// running calls share. Allocates nothing.
    template <class SumBlock>
    void operator()(ThreadPool& pool, std::size_t elements, std::size_t row, std::span<Node> nodes,
                    const SumBlock& sum_block) {
        const bool few = nodes.size() < rows_of_thread * static_cast<std::size_t>(pool.size());
        if (few && std::min(row, elements) >= 2 * part_) {
            for (std::size_t r = 0; r < nodes.size(); ++r)
                nodes[r] = sum_row(pool, r * row, std::min(row, elements - r * row), sum_block);
        } else {
            sum_rows(pool, elements, row, nodes, sum_block);
        }
    }

private:
    /// So many whole rows for each thread end at about the same time, and with one meeting of all threads
    /// instead of one a row.
    static constexpr std::size_t rows_of_thread = 4;

    /// Of a long row.
    static constexpr std::size_t max_parts = 1024;

    static std::size_t ceil_div(std::size_t a, std::size_t b) { return a / b + (a % b != 0 ? 1 : 0); }

    template <class SumBlock>
    Node sum_blocks(std::size_t first, std::size_t count, int place, const SumBlock& sum_block) const {
        NodeJoiner<Node, Join> joiner;
        for (std::size_t done = 0; done < count; done += block_)
            joiner.add(sum_block(first + done, std::min(block_, count - done), place));
        return joiner.root({});
    }

    template <class SumBlock>
    void sum_rows(ThreadPool& pool, std::size_t elements, std::size_t row, std::span<Node> nodes,
                  const SumBlock& sum_block) const {
        const std::size_t together = std::max<std::size_t>(1, part_ / row);
        pool.for_each(ceil_div(nodes.size(), together), [&](int place, std::size_t item) noexcept {
            const std::size_t end = std::min(nodes.size(), (item + 1) * together);
            for (std::size_t r = item * together; r < end; ++r)
                nodes[r] = sum_blocks(r * row, std::min(row, elements - r * row), place, sum_block);
        });
    }

    template <class SumBlock>
    Node sum_row(ThreadPool& pool, std::size_t first, std::size_t count, const SumBlock& sum_block) {
        const std::size_t of_part =
            std::max(part_, block_ * std::bit_ceil(ceil_div(ceil_div(count, block_), max_parts)));
        const std::size_t used = ceil_div(count, of_part);
        pool.for_each(used, [&](int place, std::size_t item) noexcept {
            const std::size_t begin = item * of_part;
            parts_[item] = sum_blocks(first + begin, std::min(of_part, count - begin), place, sum_block);
        });
        NodeJoiner<Node, Join> joiner;
        for (std::size_t i = 0; i < used; ++i)
            joiner.add(parts_[i]);
        return joiner.root({});
    }

    std::size_t block_;
    std::size_t part_;
    std::vector<Node> parts_;
};

}  // namespace phy::detail
