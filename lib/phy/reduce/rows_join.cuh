#pragma once

#include <cstdint>

#include "phy/reduce/rows_unit.cuh"

/// Joins the roots of the units of each row, in groups of neighbours.
namespace phy::gpu::detail {

/// Roots that a warp joins: a thread has 4 neighbours.
inline constexpr unsigned warp_group = row_warp * row_slots;
static_assert(warp_group >= phy::detail::min_group);

/// Parameters of a kernel.
template <class Op>
struct JoinJob {
    typename Op::Node* roots;   ///< of_row of each row
    typename Op::Node* joined;  ///< gets one a group, where a row has several groups
    typename Op::Result* out;
    std::uint64_t length;
    std::uint64_t rows;
    std::uint64_t of_row;
    std::uint64_t groups;  ///< of a row, of warps * warp_group roots each
    unsigned warps;        ///< that join a group: one, or those of the block
    Op op;
};

/// The root of count neighbours, at most warp_group, in thread 0 of the warp. What has no right neighbour
/// goes up as it is.
template <class Op>
__device__ __forceinline__ typename Op::Node joined_by_warp(const Op& op, const typename Op::Node* roots,
                                                            unsigned count, unsigned thread) {
    using Node = typename Op::Node;
    const unsigned mine = row_slots * thread;
    const auto at = [&](unsigned slot) { return roots[mine + slot < count ? mine + slot : 0]; };
    Node node = at(0);
    const Node second = at(1);
    Node third = at(2);
    const Node fourth = at(3);
    if (mine + 1 < count) node = op.join(node, second);
    if (mine + 3 < count) third = op.join(third, fourth);
    if (mine + 2 < count) node = op.join(node, third);
#pragma unroll
    for (unsigned distance = 1; distance < row_warp; distance *= 2) {
        const Node right = shifted(node, distance);
        if (row_slots * (thread + distance) < count) node = op.join(node, right);
    }
    return node;
}

/// The same of a node in each of the first `count` threads.
template <class Op>
__device__ __forceinline__ typename Op::Node joined_over_threads(const Op& op, typename Op::Node node,
                                                                 unsigned count, unsigned thread) {
#pragma unroll
    for (unsigned distance = 1; distance < row_warp; distance *= 2) {
        const auto right = shifted(node, distance);
        if (thread + distance < count) node = op.join(node, right);
    }
    return node;
}

template <class Op>
__global__ void __launch_bounds__(max_row_threads, 1) join_roots(const __grid_constant__ JoinJob<Op> job) {
    using Node = typename Op::Node;
    alignas(Node) __shared__ unsigned char memory[row_warp * sizeof(Node)];
    auto* const of_warps = reinterpret_cast<Node*>(memory);
    const unsigned thread = threadIdx.x % row_warp;
    const unsigned warp = threadIdx.x / row_warp;
    const unsigned at_once = blockDim.x / row_warp / job.warps;
    const unsigned part = warp % job.warps;
    const std::uint64_t groups = job.rows * job.groups;
    const std::uint64_t block_step = std::uint64_t{gridDim.x} * at_once;
#pragma unroll 1
    for (std::uint64_t begin = std::uint64_t{blockIdx.x} * at_once; begin < groups; begin += block_step) {
        const std::uint64_t group = begin + warp / job.warps;
        if (group >= groups) break;  // only where a warp is alone with its group
        const std::uint64_t row = quotient(group, job.groups);
        const std::uint64_t first = (group - row * job.groups) * (job.warps * warp_group);
        const std::uint64_t left = job.of_row - first;
        const unsigned of_group = left < job.warps * warp_group ? unsigned(left) : job.warps * warp_group;
        const unsigned mine = part * warp_group;
        Node node = job.op.identity();
        if (mine < of_group) {
            const unsigned count = of_group - mine < warp_group ? of_group - mine : warp_group;
            node = joined_by_warp(job.op, job.roots + row * job.of_row + first + mine, count, thread);
        }
        if (job.warps > 1) {
            if (thread == 0) of_warps[warp] = node;
            __syncthreads();
            const unsigned active = (of_group + warp_group - 1) / warp_group;
            if (warp == 0) {
                node = of_warps[thread < active ? thread : 0];
                node = joined_over_threads(job.op, node, active, thread);
            }
            __syncthreads();
        }
        if (part != 0 || thread != 0) continue;
        if (job.groups == 1) {
            job.out[row] = job.op.finish(node, job.length);
        } else {
            job.joined[group] = node;
        }
    }
}

}  // namespace phy::gpu::detail
