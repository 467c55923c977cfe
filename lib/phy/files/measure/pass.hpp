#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/files/demodulate/symbol_sample.hpp"
#include "phy/files/measure.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/reduce/tree.hpp"

namespace phy::detail {

using SymbolJoiner = NodeJoiner<SymbolSums, JoinSymbolSums>;

/// Symbols per root of the stage's sums: roots are small compared with their symbols.
inline constexpr std::uint64_t node_of_whole = 32 * std::uint64_t{symbol_tree.block};

/// How a pass divides symbols.
struct Cut {
    std::uint64_t node = node_of_whole;  ///< symbols per sum of the stage
    std::uint64_t row = 0;               ///< symbols per row, a multiple of node; 0: no rows

    friend bool operator==(const Cut&, const Cut&) = default;
};

/// Nodes of the largest subtree that begins at a node and ends before `end`.
constexpr std::uint64_t subtree_at(std::uint64_t node, std::uint64_t end) {
    const std::uint64_t fitting = std::bit_floor(end - node);
    return node == 0 ? fitting : std::min(fitting, std::uint64_t{1} << std::countr_zero(node));
}

/// One reading of neighbouring symbols.
struct SymbolPass {
    CaptureReader& reader;
    const MeasureOptions& options;
    const Measured& how;  ///< meter, formats and places
    Cut cut;
    ItemRange range;                                   ///< of the capture
    std::uint64_t first_node;                          ///< of the range in the tree
    SymbolSample* sample;                              ///< gets the symbols; null: none
    std::function<void(std::uint64_t done)> progress;  ///< may be empty

    /// Throws if the pass would not fit into memory.
    void require_room() const;

    struct Sums {
        std::vector<SymbolSums> roots;  ///< of the subtrees of nodes, in order
        std::vector<SymbolSums> rows;
        PipelineReport report;
    };
    [[nodiscard]] Sums run() const;
};

}  // namespace phy::detail
