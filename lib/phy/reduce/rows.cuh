#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <cuda_runtime.h>

#include "phy/cuda/device.hpp"
#include "phy/reduce/block.cuh"
#include "phy/reduce/reduce_layout.hpp"
#include "phy/reduce/warp.cuh"

/// Rows on a GPU: joins roots of units to roots of rows (step 4 of the tree), in groups of neighbours.
namespace phy::gpu::detail {

inline constexpr unsigned max_row_threads = 512;

/// Number of roots that a warp joins: 4 neighbours per thread.
inline constexpr unsigned warp_group = warp_size * row_slots;
static_assert(warp_group >= phy::detail::min_group);

/// Arguments of a kernel.
template <class Op>
struct JoinJob {
    typename Op::Node* roots;   ///< of_row per row, of_last for the last row
    typename Op::Node* joined;  ///< output: one per group, if rows have several groups
    typename Op::Result* out;
    std::uint64_t length;
    std::uint64_t rows;
    std::uint64_t of_row;
    std::uint64_t of_last;
    std::uint64_t groups;  ///< per row, each of warps * warp_group roots
    unsigned warps;        ///< per group: one, or all of the block
    Op op;
};

/// The root of count neighbours, at most warp_group, in thread 0 of the warp.
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
    return join_neighbours<row_slots>(op, node, count, thread);
}

template <class Op>
__global__ void __launch_bounds__(max_row_threads, 1) join_roots(const __grid_constant__ JoinJob<Op> job) {
    using Node = typename Op::Node;
    alignas(Node) __shared__ unsigned char memory[warp_size * sizeof(Node)];
    auto* const of_warps = reinterpret_cast<Node*>(memory);
    const unsigned thread = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned at_once = blockDim.x / warp_size / job.warps;
    const unsigned part = warp % job.warps;
    const std::uint64_t groups = job.rows * job.groups;
    const std::uint64_t block_step = std::uint64_t{gridDim.x} * at_once;
#pragma unroll 1
    for (std::uint64_t begin = std::uint64_t{blockIdx.x} * at_once; begin < groups; begin += block_step) {
        const std::uint64_t group = begin + warp / job.warps;
        if (group >= groups) break;  // only if each warp has its own group
        const std::uint64_t row = quotient(group, job.groups);
        const std::uint64_t first = (group - row * job.groups) * (job.warps * warp_group);
        const std::uint64_t of_row = row + 1 < job.rows ? job.of_row : job.of_last;
        if (first >= of_row) continue;  // all warps of the block, or one with its own group
        const std::uint64_t left = of_row - first;
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
                node = join_neighbours<1>(job.op, node, active, thread);
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

/// GPU blocks in a launch; they loop over further work.
inline unsigned row_grid(std::uint64_t wanted, std::uint64_t max_blocks) {
    constexpr std::uint64_t most = 0x7FFFFFFF;
    return static_cast<unsigned>(std::min({wanted, max_blocks, most}));
}

/// How roots are joined. Results do not depend on it.
struct JoinTuning {
    unsigned threads = 256;  ///< per GPU block: a power of two, 32 to max_row_threads
    std::uint64_t max_blocks = UINT64_MAX;
};

/// Joins the roots of units, which are at the beginning of a workspace of nodes_of_workspace() nodes. Rows
/// have several units each.
template <class Op>
void join_rows(const phy::detail::RowUnits& units, typename Op::Node* workspace, typename Op::Result* out,
               const Op& op, const JoinTuning& tuning, cudaStream_t stream) {
    JoinJob<Op> job{.roots = workspace,
                    .joined = workspace + units.count(),
                    .out = out,
                    .length = units.length,
                    .rows = units.rows,
                    .of_row = units.of_row(),
                    .of_last = units.of_last(),
                    .groups = 1,
                    .warps = 1,
                    .op = op};
    const unsigned warps = tuning.threads / warp_size;
    while (true) {
        job.warps = job.of_row <= warp_group ? 1 : warps;
        job.groups = phy::detail::pieces_of(job.of_row, job.warps * warp_group);
        const unsigned at_once = warps / job.warps;
        const std::uint64_t blocks = phy::detail::pieces_of(job.rows * job.groups, at_once);
        join_roots<Op><<<row_grid(blocks, tuning.max_blocks), tuning.threads, 0, stream>>>(job);
        check(cudaGetLastError());
        if (job.groups == 1) return;
        std::swap(job.roots, job.joined);
        job.of_row = job.groups;
        job.of_last = phy::detail::pieces_of(job.of_last, job.warps * warp_group);
    }
}

/// An operator for join_rows() only: nodes are results.
template <class Sums, class Join>
struct JoinNodes {
    using Node = Sums;
    using Result = Sums;

    __device__ Node identity() const { return {}; }
    __device__ Node join(const Node& left, const Node& right) const { return Join()(left, right); }
    __device__ Result finish(const Node& root, std::uint64_t /*length*/) const { return root; }
};

}  // namespace phy::gpu::detail
