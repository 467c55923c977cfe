#pragma once

#include <cstdint>
#include <span>

#include "phy/coding/base_graph.hpp"

namespace phy::detail {

/// Computes the parity bits of a code block. bits: one per byte, Z for each column in use; those of the
/// information columns are given. At least the columns of the core are in use. scratch: Z for each row of the
/// graph, and Z more. Allocates nothing.
void ldpc_encode(BaseGraph graph, int lifting_size, std::span<std::uint8_t> bits,
                 std::span<std::uint8_t> scratch);

}  // namespace phy::detail
