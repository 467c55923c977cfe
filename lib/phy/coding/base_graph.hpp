#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/coding/transport_block.hpp"

/// The LDPC codes of TS 38.212 clause 5.3.2.
namespace phy::detail {

/// A matrix of zeros and shifted identities of Z x Z: an entry of the graph stands for the identity whose
/// columns are shifted by shifts[set] modulo Z.
struct BaseGraphEntry {
    std::uint8_t row;
    std::uint8_t column;
    std::uint16_t shifts[8];  ///< by set of lifting sizes
};

/// Sizes are in rows and columns of the graph; each stands for Z bits.
struct BaseGraphFacts {
    int information_columns;  ///< K = information_columns * Z
    int rows;
    std::span<const BaseGraphEntry> entries;  ///< by row, then by column

    [[nodiscard]] constexpr int columns() const { return information_columns + rows; }
};

/// Columns whose bits are never sent.
inline constexpr int punctured_columns = 2;

/// Rows, and parity columns, that depend on each other; each further row has a parity column of its own.
inline constexpr int core_rows = 4;

inline constexpr int max_base_columns = 68;
inline constexpr int max_base_entries = 316;
inline constexpr int max_row_degree = 19;
inline constexpr int max_lifting_size = 384;

const BaseGraphFacts& facts_of(BaseGraph graph);

/// The smallest lifting size (table 5.3.2-1) of at least `least`, which is at most 384.
int lifting_size(int least);

/// The set of table 5.3.2-1 that holds a lifting size. Throws ArgumentError if none does.
int lifting_size_set(int lifting_size);

}  // namespace phy::detail
