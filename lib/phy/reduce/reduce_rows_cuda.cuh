#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "phy/reduce/block.cuh"
#include "phy/reduce/reduce_rows.hpp"
#include "phy/reduce/rows.cuh"

/// gpu::reduce_rows() for your own operators. Include it in files that nvcc compiles.
namespace phy::gpu::detail {

/// Arguments of a kernel for the units of all rows.
template <class Op>
struct UnitJob {
    const typename Op::Element* in;
    typename Op::Result* out;
    typename Op::Node* roots;  ///< one per unit, if rows have several
    std::uint64_t length;
    std::uint64_t units;
    std::uint64_t of_row;
    unsigned level;
    Op op;
};

/// The root of a unit, in thread 0 of the warp. waiting: memory of the warp for max_row_level nodes.
template <class Op, bool wide>
__device__ __forceinline__ typename Op::Node unit_root(const UnitJob<Op>& job,
                                                       const typename Op::Element* row, std::uint64_t begin,
                                                       unsigned thread, typename Op::Node* waiting) {
    const std::uint64_t size = std::uint64_t{row_block} << job.level;
    const std::uint64_t left = job.length - begin;
    const auto count = static_cast<unsigned>(left < size ? left : size);
    typename Op::Node node = job.op.identity();
    unsigned depth = 0;
    unsigned blocks = 0;
#pragma unroll 1
    for (unsigned done = 0; done < count; done += row_block) {
        if (thread == 0 && done != 0) waiting[depth - 1] = node;
        BlockLanes<Op, wide> lanes(job.op, thread);
        lanes.take(row + begin + done, min(row_block, count - done), begin + done);
        node = lanes.root();
        // As NodeJoiner, but the last root stays in a register.
        for (unsigned whole = blocks++; whole % 2 != 0; whole /= 2) {
            --depth;
            if (thread == 0) node = job.op.join(waiting[depth], node);
        }
        ++depth;
    }
    while (depth > 1) {
        --depth;
        if (thread == 0) node = job.op.join(waiting[depth - 1], node);
    }
    return node;
}

template <class Op, bool wide>
__global__ void __launch_bounds__(max_row_threads, 1) reduce_units(const __grid_constant__ UnitJob<Op> job) {
    using Node = typename Op::Node;
    alignas(Node) __shared__ unsigned char memory[max_row_threads / warp_size * max_row_level * sizeof(Node)];
    const unsigned thread = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned warps = blockDim.x / warp_size;
    Node* const waiting = reinterpret_cast<Node*>(memory) + warp * max_row_level;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * warps + warp;
#pragma unroll 1
    for (std::uint64_t unit = first; unit < job.units; unit += std::uint64_t{gridDim.x} * warps) {
        const std::uint64_t row = quotient(unit, job.of_row);
        const std::uint64_t begin = (unit - row * job.of_row) * (std::uint64_t{row_block} << job.level);
        const auto root = unit_root<Op, wide>(job, job.in + row * job.length, begin, thread, waiting);
        if (thread != 0) continue;
        if (job.of_row == 1) {
            job.out[row] = job.op.finish(root, job.length);
        } else {
            job.roots[unit] = root;
        }
    }
}

template <class Op>
struct RowKernels {
    using Element = typename Op::Element;
    using Node = typename Op::Node;
    using Result = typename Op::Result;

    static void start(const RowCall& call, cudaStream_t stream) {
        const phy::detail::RowUnits units{call.rows, call.length, call.length,
                                          std::uint64_t{row_block} << call.tuning.level};
        const Op& op = *static_cast<const Op*>(call.op);
        const UnitJob<Op> job{.in = static_cast<const Element*>(call.in),
                              .out = static_cast<Result*>(call.out),
                              .roots = static_cast<Node*>(call.nodes),
                              .length = call.length,
                              .units = units.count(),
                              .of_row = units.of_row(),
                              .level = call.tuning.level,
                              .op = op};
        const unsigned grid = row_grid(phy::detail::pieces_of(job.units, call.tuning.threads / warp_size),
                                       call.tuning.max_blocks);
        if (call.tuning.wide && rows_are_aligned(call)) {
            reduce_units<Op, true><<<grid, call.tuning.threads, 0, stream>>>(job);
        } else {
            reduce_units<Op, false><<<grid, call.tuning.threads, 0, stream>>>(job);
        }
        check(cudaGetLastError());
        if (job.of_row > 1)
            join_rows(units, job.roots, job.out, op, {call.tuning.join_threads, call.tuning.max_blocks},
                      stream);
    }

private:
    static bool rows_are_aligned(const RowCall& call) {
        const auto first = reinterpret_cast<std::uintptr_t>(call.in);
        const std::uint64_t row = call.rows == 1 ? 0 : call.length * sizeof(Element);
        return first % wide_alignment<Element> == 0 && row % wide_alignment<Element> == 0;
    }
};

}  // namespace phy::gpu::detail
