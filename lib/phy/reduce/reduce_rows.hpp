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

/// How many bytes of workspace reduce_rows() needs, on the host and on a device: none where a row has at most
/// 4096 elements, and else about a node for every 4096 elements.
template <class Op>
constexpr std::size_t reduce_rows_workspace(std::size_t rows, std::size_t length) {
    const std::uint64_t nodes = detail::nodes_of_workspace({rows, length, length, row_tree.block});
    return nodes == 0 ? 0 : nodes * sizeof(typename Op::Node) + alignof(typename Op::Node) - 1;
}

/// Reduces each row of a batch with an operator, such as Sum<float>, and writes one result a row:
///
///     std::vector<float> sums(rows);
///     std::vector<std::byte> workspace(phy::reduce_rows_workspace<phy::Sum<float>>(rows, length));
///     phy::reduce_rows<phy::Sum<float>>(host, samples, rows, sums, workspace);
///
/// in holds the rows one after another, each of in.size() / rows elements; their length may be any, 0 too.
/// The elements are joined in the order of row_tree, so the results have the same bits for every backend,
/// number of threads and alignment. The threads of the host share a call. Nothing is allocated. Spans do not
/// overlap; what the workspace holds does not matter, and neither does its alignment.
///
/// Throws ArgumentError unless out has an element a row, in as many for every row, and the workspace at least
/// reduce_rows_workspace<Op>(rows, in.size() / rows) bytes.
template <class Op>
void reduce_rows(const Host& host, std::span<const typename Op::Element> in, std::size_t rows,
                 std::span<typename Op::Result> out, std::span<std::byte> workspace, const Op& op = {}) {
    detail::check_operator<Op>();
    const std::size_t length = detail::checked_length(in.size(), rows, out.size());
    const std::size_t bytes = reduce_rows_workspace<Op>(rows, length);
    auto* const nodes = detail::checked_nodes<typename Op::Node>(workspace.data(), workspace.size(), bytes);
    const detail::OperatorWork<Op> work = {op, detail::choose_block_root<Op>(host), in.data(), out.data(),
                                           length};
    detail::reduce_on_host(host, work, rows, nodes);
}

}  // namespace phy
