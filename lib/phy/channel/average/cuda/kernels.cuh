#pragma once

#include <algorithm>
#include <cstdint>

#include "phy/channel/average/cuda/launch.hpp"
#include "phy/channel/average/cuda/multiply.cuh"
#include "phy/cuda/device.hpp"
#include "phy/measure/rows_unit.cuh"

/// The kernels of average_matvec() and their launches; a file for each kind of number instantiates them.
namespace phy::gpu::detail {

/// As of reduce_rows(): shorter rows are over before wide loads have paid.
inline constexpr std::size_t least_wide_observations = 512;

/// Of a launch, for each of two kinds of work; with more to do, they loop.
inline constexpr std::uint64_t most_blocks = 0x3FFFFFFF;

/// Fewer than would fit by themselves: with as many as ptxas aims at otherwise, it spills registers.
inline constexpr unsigned multiplying_together = 2;

template <class Shape, bool wide>
__global__ void __launch_bounds__(multiply_threads, multiplying_together)
    multiply_kernel(const __grid_constant__ MultiplyJob<typename Shape::Number> job) {
    multiply_tiles<Shape, wide>(job, blockIdx.x, gridDim.x);
}

/// Averages rows, a warp each, from one on and so many apart.
template <class T, bool wide>
__device__ __forceinline__ void average_rows(const MeansCall<T>& call, std::uint64_t first,
                                             std::uint64_t apart) {
    using Op = Mean<T>;
    const Op op;
    const unsigned thread = threadIdx.x % row_warp;
    const auto observations = static_cast<unsigned>(call.observations);
#pragma unroll 1
    for (std::uint64_t row = first; row < call.rows; row += apart) {
        BlockLanes<Op, wide> lanes(op, thread);
        lanes.take(call.in + row * observations, observations, 0);
        const auto root = lanes.root();
        if (thread == 0) call.means[row] = op.finish(root, observations);
    }
}

/// Blocks of both_kernel() that a multiprocessor is to hold: enough loads in flight.
inline constexpr unsigned blocks_together = 3;

/// The first blocks multiply while the others average.
template <class T, bool wide>
__global__ void __launch_bounds__(multiply_threads, blocks_together)
    both_kernel(const __grid_constant__ MultiplyJob<T> job, const __grid_constant__ MeansCall<T> means,
                unsigned multiplying) {
    constexpr unsigned warps = multiply_threads / row_warp;
    if (blockIdx.x < multiplying) {
        multiply_tiles<LargeTile<T>, true>(job, blockIdx.x, multiplying);
    } else {
        const std::uint64_t block = blockIdx.x - multiplying;
        average_rows<T, wide>(means, block * warps + threadIdx.x / row_warp,
                              std::uint64_t{gridDim.x - multiplying} * warps);
    }
}

template <class Shape, class T>
MultiplyJob<T> job_of(const MultiplyCall<T>& call) {
    const auto tiles = [](std::size_t of, unsigned tile) { return (of + tile - 1) / tile; };
    const std::uint64_t tiles_of_length = tiles(call.length, Shape::outputs);
    return {.matrix = call.matrix,
            .means = call.means,
            .out = call.out,
            .batches = call.batches,
            .length = call.length,
            .tiles = tiles(call.batches, Shape::batches) * tiles_of_length,
            .tiles_of_length = tiles_of_length};
}

/// Of the first row, and of all others.
template <class T>
bool are_aligned(const T* rows, std::size_t length, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(rows) % alignment == 0 && length * sizeof(T) % alignment == 0;
}

template <class Shape, class T>
void start_tiles(const MultiplyCall<T>& call, cudaStream_t stream) {
    const MultiplyJob<T> job = job_of<Shape>(call);
    const auto blocks = static_cast<unsigned>(std::min(job.tiles, most_blocks));
    if (are_aligned(call.matrix, call.length, bytes_of_word) &&
        are_aligned(call.means, call.length, bytes_of_word))
        multiply_kernel<Shape, true><<<blocks, multiply_threads, 0, stream>>>(job);
    else
        multiply_kernel<Shape, false><<<blocks, multiply_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

template <class T>
void start_both(const MultiplyCall<T>& multiply, const MeansCall<T>& means, cudaStream_t stream) {
    constexpr std::uint64_t warps = multiply_threads / row_warp;
    const MultiplyJob<T> job = job_of<LargeTile<T>>(multiply);
    const auto multiplying = static_cast<unsigned>(std::min(job.tiles, most_blocks));
    const auto averaging = static_cast<unsigned>(std::min((means.rows + warps - 1) / warps, most_blocks));
    const unsigned blocks = multiplying + averaging;
    if (means.observations >= least_wide_observations &&
        are_aligned(means.in, means.observations, wide_alignment<T>))
        both_kernel<T, true><<<blocks, multiply_threads, 0, stream>>>(job, means, multiplying);
    else
        both_kernel<T, false><<<blocks, multiply_threads, 0, stream>>>(job, means, multiplying);
    check(cudaGetLastError());
}

template <class T>
void start_multiply(const MultiplyCall<T>& call, bool large_tiles, cudaStream_t stream) {
    if (large_tiles)
        start_tiles<LargeTile<T>>(call, stream);
    else
        start_tiles<SmallTile<T>>(call, stream);
}

}  // namespace phy::gpu::detail
