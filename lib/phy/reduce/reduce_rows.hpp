#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/machine/host.hpp"
#include "phy/reduce/reduce_built_in.hpp"
#include "phy/reduce/reduce_layout.hpp"
#include "phy/reduce/reduce_operators.hpp"
#include "phy/reduce/rows.hpp"

namespace phy {

/// Bytes of workspace that reduce_rows() needs, on the host and on a device: 0 for rows of up to 4096
/// elements, otherwise about one node per 4096 elements.
template <class Op>
constexpr std::size_t reduce_rows_workspace_bytes(std::size_t rows, std::size_t length) {
    const std::uint64_t nodes = detail::nodes_of_workspace({rows, length, length, row_tree.block});
    return nodes == 0 ? 0 : nodes * sizeof(typename Op::Node) + alignof(typename Op::Node) - 1;
}

/// Reduces each row of a batch with an operator, such as Sum<float>, and writes one result per row:
///
///     std::vector<float> sums(rows);
///     std::vector<std::byte> workspace(phy::reduce_rows_workspace_bytes<phy::Sum<float>>(rows, length));
///     phy::reduce_rows<phy::Sum<float>>(host, samples, rows, sums, workspace);
///
/// in holds the rows one after another, each with in.size() / rows elements; rows may be empty. Arrays must
/// not overlap. The workspace needs no alignment and its content does not matter. Elements are joined in the
/// order of row_tree, so every backend, number of threads and alignment gives the same bytes.
///
/// Throws ArgumentError unless out has one element per row, in has the same number of elements for every row,
/// and the workspace has at least reduce_rows_workspace_bytes<Op>(rows, in.size() / rows) bytes.
///
/// The threads of the host share a call. Allocates nothing.
template <class Op>
void reduce_rows(const Host& host, std::span<const typename Op::Element> in, std::size_t rows,
                 std::span<typename Op::Result> out, std::span<std::byte> workspace, const Op& op = {}) {
    detail::check_operator<Op>();
    const std::size_t length = detail::checked_length(in.size(), rows, out.size());
    const std::size_t bytes = reduce_rows_workspace_bytes<Op>(rows, length);
    auto* const nodes = detail::checked_nodes<typename Op::Node>(workspace.data(), workspace.size(), bytes);
    const detail::OperatorWork<Op> work = {op, detail::choose_block_root<Op>(host), in.data(), out.data(),
                                           length};
    detail::reduce_on_host(host, work, rows, nodes);
}

}  // namespace phy
