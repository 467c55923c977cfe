#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "phy/core/check_size.hpp"
#include "phy/core/error.hpp"
#include "phy/reduce/tree.hpp"

/// How a batch of rows is cut into pieces that are reduced apart from each other. None of it is seen in a
/// result.
namespace phy::detail {

constexpr std::uint64_t pieces_of(std::uint64_t whole, std::uint64_t piece) {
    return whole / piece + (whole % piece != 0 ? 1 : 0);
}

/// Units are 2^level neighbouring blocks of one row, or what is left of the row, or the whole of an empty
/// one.
struct RowUnits {
    std::uint64_t rows;
    std::uint64_t length;
    unsigned level;

    [[nodiscard]] constexpr std::uint64_t size() const { return std::uint64_t{row_tree.block} << level; }
    [[nodiscard]] constexpr std::uint64_t of_row() const {
        return std::max<std::uint64_t>(1, pieces_of(length, size()));
    }
    [[nodiscard]] constexpr std::uint64_t count() const { return rows * of_row(); }
};

/// The largest units of at most 2^max_level blocks of which there are at least so many.
constexpr RowUnits largest_units(std::uint64_t rows, std::uint64_t length, unsigned max_level,
                                 std::uint64_t wanted) {
    RowUnits units{rows, length, max_level};
    while (units.level > 0 && units.count() < wanted)
        --units.level;
    return units;
}

/// Roots are joined in groups of at least so many.
inline constexpr std::uint64_t min_group = 128;

/// Enough for the roots of the smallest units, and of groups of them.
constexpr std::uint64_t nodes_of_workspace(std::uint64_t rows, std::uint64_t length) {
    const std::uint64_t blocks = RowUnits{rows, length, 0}.of_row();
    return blocks == 1 ? 0 : rows * (blocks + pieces_of(blocks, min_group));
}

template <class Op>
constexpr void check_operator() {
    static_assert(std::is_trivially_copyable_v<Op>, "an operator is copied byte by byte");
    static_assert(std::is_trivially_copyable_v<typename Op::Element>, "elements are copied byte by byte");
    static_assert(std::is_trivially_copyable_v<typename Op::Node>, "nodes are copied byte by byte");
    static_assert(std::is_trivially_copyable_v<typename Op::Result>, "results are copied byte by byte");
}

/// The length of the rows. Throws ArgumentError where the sizes of a call do not go together.
inline std::size_t checked_length(std::size_t elements, std::size_t rows, std::size_t results) {
    check_size("reduce_rows: out", results, rows);
    if (rows == 0) check_size("reduce_rows: in", elements, 0);
    if (rows == 0) return 0;
    if (elements % rows == 0) return elements / rows;
    throw ArgumentError("reduce_rows: in has " + std::to_string(elements) +
                        " elements: expected a multiple of " + std::to_string(rows) + " rows");
}

/// The first place for a node in the workspace. Throws ArgumentError where that is too small.
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
