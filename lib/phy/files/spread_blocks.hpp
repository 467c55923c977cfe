#pragma once

#include <algorithm>
#include <cstdint>

namespace phy::detail {

/// Number k of `count` (at least 2) positions at equal distances from 0 to `last`. In this order nothing
/// overflows.
constexpr std::uint64_t evenly_spaced(std::uint64_t k, std::uint64_t count, std::uint64_t last) {
    return last / (count - 1) * k + last % (count - 1) * k / (count - 1);
}

/// Blocks of neighbouring items at equal distances, including the first and the last.
class SpreadBlocks {
public:
    struct Range {
        std::uint64_t first = 0;
        std::uint64_t items = 0;
    };

    /// All items if count blocks would hold them.
    SpreadBlocks(std::uint64_t items, std::uint64_t block, std::uint64_t count)
        : items_(items),
          block_(block),
          blocks_(items / block + (items % block != 0 ? 1 : 0)),
          count_(std::min(count, blocks_)) {}

    /// Calls visit() for each intersection of the range and a block.
    template <typename Visit>
    void visit(const Range& range, Visit visit) const {
        const std::uint64_t end = range.first + range.items;
        for (std::uint64_t k = first_reaching(range.first); k < count_ && begin_of(k) < end; ++k) {
            const std::uint64_t from = std::max(range.first, begin_of(k));
            const std::uint64_t to = std::min(end, std::min(items_, begin_of(k) + block_));
            if (from < to) visit(Range{from, to - from});
        }
    }

    [[nodiscard]] std::uint64_t max_items() const { return std::min(items_, count_ * block_); }

private:
    [[nodiscard]] std::uint64_t begin_of(std::uint64_t k) const {
        return count_ < 2 ? 0 : evenly_spaced(k, count_, blocks_ - 1) * block_;
    }

    /// The first block that ends after an item.
    [[nodiscard]] std::uint64_t first_reaching(std::uint64_t item) const {
        std::uint64_t low = 0;
        std::uint64_t high = count_;
        while (low < high) {
            const std::uint64_t middle = low + (high - low) / 2;
            if (begin_of(middle) + block_ <= item) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    std::uint64_t items_;
    std::uint64_t block_;
    std::uint64_t blocks_;
    std::uint64_t count_;
};

}  // namespace phy::detail
