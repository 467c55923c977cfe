#pragma once

#include "phy/receiver/link/json_object.hpp"

/// What values of a link can be by themselves.
namespace phy::detail {

inline constexpr WholeRange cell_ids = {0, 1007};
inline constexpr WholeRange carrier_sizes = {1, 275};
inline constexpr WholeRange resource_block_numbers = {0, 4095};
inline constexpr WholeRange symbol_numbers = {0, symbols_per_slot - 1};
inline constexpr WholeRange symbol_counts = {1, symbols_per_slot};
inline constexpr WholeRange layer_counts = {1, 4};
inline constexpr WholeRange largest_frame = {0, 79};
/// Those that binary64 has exactly.
inline constexpr WholeRange sample_numbers = {0, std::int64_t{1} << 53};

}  // namespace phy::detail
