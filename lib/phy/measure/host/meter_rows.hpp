#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/reduce/rows.hpp"

namespace phy::detail {

/// Spreads the rows of a meter over the threads of its host: whole rows if they are short or many, units of
/// rows if they are long and few. Sums are nodes, Join joins two.
template <class Sums, class Join>
class MeterRows {
public:
    /// part: min elements per thread, 2^k blocks.
    MeterRows(const Host& host, std::uint64_t block, std::uint64_t part)
        : host_(host),
          block_(block),
          part_(part),
          many_(4 * static_cast<std::uint64_t>(host.threads())),
          nodes_(std::max<std::uint64_t>(1024, 4 * many_)) {}

    /// sum_block(first, count, part) returns the root of a block; running calls have different parts.
    /// Allocates nothing.
    template <class SumBlock>
    void operator()(std::size_t elements, std::size_t row, std::span<Sums> sums, const SumBlock& sum_block) {
        RowUnits units = units_of_elements(elements, row, row);
        if (units.rows == 0) return;
        std::uint64_t piece = std::max<std::uint64_t>(1, part_ / row);
        if (units.rows < many_ && units.length >= 2 * part_) {
            const std::uint64_t blocks =
                pieces_of(pieces_of(units.length, block_), nodes_.size() / units.rows);
            units.size = std::max(part_, block_ * std::bit_ceil(blocks));
            piece = 1;
        }
        const Work<SumBlock> work = {block_, row, sums, sum_block};
        HostRows(host_, units, work, nodes_.data()).reduce(piece);
    }

private:
    template <class SumBlock>
    struct Work {
        using Node = Sums;

        std::uint64_t block;
        std::uint64_t row_length;
        std::span<Sums> sums;
        const SumBlock& sum_block;

        [[nodiscard]] Sums identity() const { return {}; }
        [[nodiscard]] Sums join(const Sums& left, const Sums& right) const { return Join()(left, right); }
        [[nodiscard]] Sums reduce(std::uint64_t row, std::uint64_t begin, std::size_t count, int part) const {
            return sum_block(row * row_length + begin, count, part);
        }
        void finish(std::uint64_t row, const Sums& root) const { sums[row] = root; }
    };

    Host host_;
    std::uint64_t block_;
    std::uint64_t part_;
    std::uint64_t many_;  ///< min number of whole rows that keeps all threads about equally busy
    std::vector<Sums> nodes_;
};

}  // namespace phy::detail
