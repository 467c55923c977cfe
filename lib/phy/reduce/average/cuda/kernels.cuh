#pragma once

#include <algorithm>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/reduce/average/cuda/launch.hpp"
#include "phy/reduce/average/cuda/multiply.cuh"

/// The kernels of average_matvec() that multiply, and their launches; a file for each kind of number
/// instantiates them.
namespace phy::gpu::detail {

/// Of a launch; with more tiles, they loop.
inline constexpr std::uint64_t max_blocks = 0x7FFFFFFF;

/// Fewer than would fit by themselves: with as many as ptxas aims at otherwise, it spills registers.
inline constexpr unsigned multiplying_together = 2;

template <class Shape, bool wide>
__global__ void __launch_bounds__(multiply_threads, multiplying_together)
    multiply_kernel(const __grid_constant__ MultiplyJob<typename Shape::Number> job) {
    multiply_tiles<Shape, wide>(job);
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
bool are_aligned(const T* rows, std::size_t length) {
    return reinterpret_cast<std::uintptr_t>(rows) % bytes_of_word == 0 &&
           length * sizeof(T) % bytes_of_word == 0;
}

template <class Shape, class T>
void start_tiles(const MultiplyCall<T>& call, cudaStream_t stream) {
    const MultiplyJob<T> job = job_of<Shape>(call);
    const auto blocks = static_cast<unsigned>(std::min(job.tiles, max_blocks));
    if (are_aligned(call.matrix, call.length) && are_aligned(call.means, call.length))
        multiply_kernel<Shape, true><<<blocks, multiply_threads, 0, stream>>>(job);
    else
        multiply_kernel<Shape, false><<<blocks, multiply_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

template <class T>
void start_multiply(const MultiplyCall<T>& call, TileSize tiles, cudaStream_t stream) {
    if (tiles == TileSize::large)
        start_tiles<LargeTile<T>>(call, stream);
    else
        start_tiles<SmallTile<T>>(call, stream);
}

}  // namespace phy::gpu::detail
