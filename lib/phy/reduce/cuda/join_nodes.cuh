#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"

#include <cuda_runtime_api.h>

/// From the roots of neighbouring parts of rows to the roots of the rows: the upper levels of the tree of
/// reductions (measure/tree.hpp), by kernels that take one aligned group of nodes a block. For nodes of many
/// numbers and rows of any last length; those of reduce_rows(), which fit into the registers of a thread, are
/// joined by warps (rows_join.cuh).
namespace phy::gpu::detail {

/// Nodes a block joins: a power of two.
inline constexpr unsigned joined_nodes = 256;

/// Rows of nodes, one behind the other; the last row may have fewer.
struct NodeRows {
    std::uint64_t rows;
    std::uint64_t nodes_a_row;
    std::uint64_t nodes_of_last;

    [[nodiscard]] __host__ __device__ std::uint64_t nodes_of(std::uint64_t row) const {
        return row + 1 < rows ? nodes_a_row : nodes_of_last;
    }
    [[nodiscard]] std::uint64_t all() const {
        return rows == 0 ? 0 : (rows - 1) * nodes_a_row + nodes_of_last;
    }

    /// Of groups of neighbours.
    [[nodiscard]] NodeRows grouped(std::uint64_t together) const {
        return {rows, (nodes_a_row + together - 1) / together, (nodes_of_last + together - 1) / together};
    }
};

/// A node for each unit of so many neighbours in rows of elements, of which there are some; the last unit of
/// a row, and the last row, may have fewer.
inline NodeRows rows_of_units(std::uint64_t elements, std::uint64_t row, std::uint64_t unit) {
    const std::uint64_t rows = elements / row + (elements % row != 0 ? 1 : 0);
    return NodeRows{rows, row, elements - (rows - 1) * row}.grouped(unit);
}

/// The base-2 logarithm of how many blocks make a unit: as long as there are enough units for all
/// multiprocessors, fewer of them have fewer roots to join.
inline unsigned log2_blocks_of_unit(std::uint64_t blocks, std::uint64_t enough_units, unsigned most) {
    const std::uint64_t times = std::max<std::uint64_t>(1, blocks / enough_units);
    return std::min(most, static_cast<unsigned>(std::bit_width(times) - 1));
}

/// Nodes between the kernels; none where rows have one node.
inline std::uint64_t joining_workspace(NodeRows nodes) {
    std::uint64_t all = 0;
    for (; nodes.nodes_a_row > 1; nodes = nodes.grouped(joined_nodes))
        all += nodes.all();
    return all;
}

template <typename Node, class Join>
__global__ void __launch_bounds__(joined_nodes)
    join_groups(const Node* from, NodeRows nodes, std::uint64_t groups_a_row, Node* to) {
    __shared__ Node joined[joined_nodes];
    const std::uint64_t row = blockIdx.x / groups_a_row;
    const std::uint64_t first = (blockIdx.x - row * groups_a_row) * joined_nodes;
    const std::uint64_t left = nodes.nodes_of(row) - first;
    const unsigned count = left < joined_nodes ? static_cast<unsigned>(left) : joined_nodes;
    const unsigned me = threadIdx.x;
    if (me < count) joined[me] = from[row * nodes.nodes_a_row + first + me];
    __syncthreads();
    for (unsigned stride = 1; stride < count; stride *= 2) {
        const unsigned left_one = 2 * stride * me;
        if (left_one + stride < count) joined[left_one] = Join()(joined[left_one], joined[left_one + stride]);
        __syncthreads();
    }
    if (me == 0) to[blockIdx.x] = joined[0];
}

/// Joins the nodes at the workspace's beginning to one a row; nodes have more than one a row.
template <typename Node, class Join>
void join_rows(NodeRows nodes, Node* workspace, Node* results, cudaStream_t stream) {
    while (nodes.nodes_a_row > 1) {
        const NodeRows groups = nodes.grouped(joined_nodes);
        Node* const to = groups.nodes_a_row > 1 ? workspace + nodes.all() : results;
        join_groups<Node, Join><<<static_cast<unsigned>(groups.all()), joined_nodes, 0, stream>>>(
            workspace, nodes, groups.nodes_a_row, to);
        check(cudaGetLastError());
        workspace = to;
        nodes = groups;
    }
}

}  // namespace phy::gpu::detail
