#include "phy/coding/ldpc_encode.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>

namespace phy::detail {
namespace {

class Encoder {
public:
    Encoder(BaseGraph graph, int lifting_size, std::span<std::uint8_t> bits, std::span<std::uint8_t> scratch)
        : facts_(facts_of(graph)),
          set_(static_cast<std::size_t>(lifting_size_set(lifting_size))),
          size_(static_cast<std::size_t>(lifting_size)),
          bits_(bits),
          first_parity_(static_cast<std::size_t>(facts_.information_columns)),
          sums_(scratch) {
        std::ranges::fill(sums_, std::uint8_t{0});
    }

    void encode() {
        for (std::size_t column = 0; column < first_parity_; ++column)
            add_to_sums(column);
        find_first();
        for (int round = 1; round < core_rows; ++round)
            find_next();
        const std::size_t columns = bits_.size() / size_;
        for (std::size_t column = first_parity_ + core_rows; column < columns; ++column)
            std::ranges::copy(sum_of(column - first_parity_), column_of(column).begin());
    }

private:
    std::span<std::uint8_t> column_of(std::size_t column) { return bits_.subspan(column * size_, size_); }
    std::span<std::uint8_t> sum_of(std::size_t row) { return sums_.subspan(row * size_, size_); }
    [[nodiscard]] std::size_t shift_of(const BaseGraphEntry& entry) const {
        return entry.shifts[set_] % size_;
    }

    /// Adds the bits of a column to the sums of its rows.
    void add_to_sums(std::size_t column) {
        known_.set(column);
        const std::span<const std::uint8_t> bits = column_of(column);
        for (const BaseGraphEntry& entry : facts_.entries) {
            if (entry.column != column) continue;
            const std::span<std::uint8_t> sum = sum_of(entry.row);
            const std::size_t shift = shift_of(entry);
            for (std::size_t i = 0; i < size_ - shift; ++i)
                sum[i] ^= bits[i + shift];
            for (std::size_t i = size_ - shift; i < size_; ++i)
                sum[i] ^= bits[i + shift - size_];
        }
    }

    void set_column(std::size_t column, std::size_t shift, std::span<const std::uint8_t> sum) {
        for (std::size_t i = 0; i < size_; ++i)
            column_of(column)[(i + shift) % size_] = sum[i];
        add_to_sums(column);
    }

    /// The first parity column has three entries in the core. Two of them cancel in the sum of the core's
    /// rows, where the other parity columns cancel too.
    void find_first() {
        std::array<std::size_t, 3> shifts{};
        std::size_t found = 0;
        for (const BaseGraphEntry& entry : facts_.entries) {
            if (entry.row < core_rows && entry.column == first_parity_) shifts[found++] = shift_of(entry);
        }
        const std::span<std::uint8_t> sum = sum_of(static_cast<std::size_t>(facts_.rows));
        std::ranges::sort(shifts);
        const std::size_t shift = shifts[0] == shifts[1] ? shifts[2] : shifts[0];
        for (std::size_t row = 0; row < core_rows; ++row) {
            for (std::size_t i = 0; i < size_; ++i)
                sum[i] ^= sum_of(row)[i];
        }
        set_column(first_parity_, shift, sum);
    }

    /// Solves a row of the core that has one unknown column.
    void find_next() {
        std::array<const BaseGraphEntry*, core_rows> unknown{};
        std::array<int, core_rows> count{};
        for (const BaseGraphEntry& entry : facts_.entries) {
            if (entry.row >= core_rows || known_.test(entry.column)) continue;
            unknown[entry.row] = &entry;
            ++count[entry.row];
        }
        const auto row = static_cast<std::size_t>(std::ranges::find(count, 1) - count.begin());
        set_column(unknown[row]->column, shift_of(*unknown[row]), sum_of(row));
    }

    const BaseGraphFacts& facts_;
    std::size_t set_;
    std::size_t size_;
    std::span<std::uint8_t> bits_;
    std::size_t first_parity_;
    std::span<std::uint8_t> sums_;  ///< per row, and one more
    std::bitset<max_base_columns> known_;
};

}  // namespace

void ldpc_encode(BaseGraph graph, int lifting_size, std::span<std::uint8_t> bits,
                 std::span<std::uint8_t> scratch) {
    Encoder(graph, lifting_size, bits, scratch).encode();
}

}  // namespace phy::detail
