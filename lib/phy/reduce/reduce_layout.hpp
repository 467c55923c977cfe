#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/share.hpp"
#include "phy/reduce/tree.hpp"

/// How rows are cut into units that are reduced separately. Results do not depend on it.
namespace phy::detail {

/// Contiguous rows and their units. A unit is 2^k neighbouring blocks of one row, the shorter rest of a row,
/// or an empty row.
struct RowUnits {
    std::uint64_t rows;
    std::uint64_t length;  ///< elements per row
    std::uint64_t last;    ///< elements of the last row: at most length
    std::uint64_t size;    ///< elements per unit

    [[nodiscard]] constexpr std::uint64_t length_of(std::uint64_t row) const {
        return row + 1 < rows ? length : last;
    }
    [[nodiscard]] constexpr std::uint64_t of_row() const { return units_in(length); }
    [[nodiscard]] constexpr std::uint64_t of_row(std::uint64_t row) const { return units_in(length_of(row)); }
    [[nodiscard]] constexpr std::uint64_t of_last() const { return units_in(last); }
    [[nodiscard]] constexpr std::uint64_t count() const {
        return rows == 0 ? 0 : (rows - 1) * of_row() + of_last();
    }

private:
    [[nodiscard]] constexpr std::uint64_t units_in(std::uint64_t elements) const {
        return std::max<std::uint64_t>(1, pieces_of(elements, size));
    }
};

/// The units of this many elements. The last row may be shorter.
constexpr RowUnits units_of_elements(std::uint64_t elements, std::uint64_t row, std::uint64_t size) {
    const std::uint64_t rows = pieces_of(elements, row);
    return {rows, std::min(row, elements), rows == 0 ? 0 : elements - (rows - 1) * row, size};
}

/// The largest level, up to max_level, for which there are at least `wanted` units of 2^level blocks; 0 if
/// none is.
constexpr unsigned level_of_units(std::uint64_t rows, std::uint64_t length, std::uint64_t block,
                                  unsigned max_level, std::uint64_t wanted) {
    unsigned level = max_level;
    while (level > 0 && RowUnits{rows, length, length, block << level}.count() < wanted)
        --level;
    return level;
}

/// Min number of roots that are joined as a group.
inline constexpr std::uint64_t min_group = 128;

/// Max number of nodes for the roots of units and of groups of them.
constexpr std::uint64_t nodes_of_workspace(const RowUnits& units) {
    return units.of_row() == 1 ? 0 : units.count() + units.rows * pieces_of(units.of_row(), min_group);
}

template <class Op>
constexpr void check_operator() {
    static_assert(std::is_trivially_copyable_v<Op>, "an operator is copied byte by byte");
    static_assert(std::is_trivially_copyable_v<typename Op::Element>, "elements are copied byte by byte");
    static_assert(std::is_trivially_copyable_v<typename Op::Node>, "nodes are copied byte by byte");
    static_assert(std::is_trivially_copyable_v<typename Op::Result>, "results are copied byte by byte");
}

/// The length of the rows. Throws ArgumentError if the sizes of a call do not match.
inline std::size_t checked_length(std::size_t elements, std::size_t rows, std::size_t results) {
    check_size("reduce_rows: out", results, rows);
    if (rows == 0) check_size("reduce_rows: in", elements, 0);
    if (rows == 0) return 0;
    if (elements % rows == 0) return elements / rows;
    throw ArgumentError("reduce_rows: in has " + std::to_string(elements) +
                        " elements: expected a multiple of " + std::to_string(rows) + " rows");
}

/// The first aligned node in the workspace. Throws ArgumentError if the workspace is too small.
template <class Node>
Node* checked_nodes(std::byte* workspace, std::size_t bytes, std::size_t expected) {
    if (bytes < expected)
        throw ArgumentError("reduce_rows: workspace has " + std::to_string(bytes) +
                            " bytes: expected at least " + std::to_string(expected));
    void* aligned = workspace;
    std::size_t left = bytes;
    return expected == 0 ? nullptr
                         : static_cast<Node*>(std::align(alignof(Node), sizeof(Node), aligned, left));
}

}  // namespace phy::detail
