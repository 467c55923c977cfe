#pragma once

#include <cstdint>
#include <vector>

#include "phy/coding/base_graph.hpp"

/// The order in which the decoder visits an LDPC code.
namespace phy::detail {

/// A row of the base graph: Z parity checks.
struct LdpcLayer {
    std::uint32_t first_edge;
    std::uint32_t degree;
};

/// An entry of the base graph. Check i of its row takes bit (i + shift) mod Z of its column.
struct LdpcEdge {
    std::uint32_t column;
    std::uint32_t shift;
    std::uint32_t turn;        ///< shift less that of the last layer with this column, modulo Z
    std::uint32_t from_frame;  ///< shift less LdpcPlan::frames of the column, modulo Z
};

/// Rows follow each other from the last to the first; those with both punctured columns, which say nothing
/// until these are known, come last.
struct LdpcPlan {
    /// used_columns: at least those of the core.
    LdpcPlan(BaseGraph graph, int size, int used_columns);

    int lifting_size;
    int columns;
    int information_columns;
    std::vector<LdpcLayer> layers;
    std::vector<LdpcEdge> edges;        ///< by layer
    std::vector<std::uint32_t> frames;  ///< per column: the shift of its last edge
};

}  // namespace phy::detail
