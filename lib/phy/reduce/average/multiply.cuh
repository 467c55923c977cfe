#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "phy/cuda/device.hpp"
#include "phy/reduce/average/launch.hpp"
#include "phy/reduce/average/layout.hpp"
#include "phy/reduce/average/math-inl.h"

/// Matrix times means. A block computes a tile of outputs; a thread computes some batches of some rows of the
/// matrix. Rows of means and of the matrix are copied to shared memory in pieces of 128 bytes, some of them
/// ahead of the multiplication.
namespace phy::gpu::detail {

inline constexpr unsigned multiply_threads = 128;
inline constexpr unsigned words_of_piece = 8;  ///< words have 16 bytes
inline constexpr unsigned bytes_of_word = sizeof(uint4);
inline constexpr unsigned bytes_of_piece = words_of_piece * bytes_of_word;

/// Parameters of a kernel.
template <class T>
struct MultiplyJob {
    const T* matrix;
    const T* means;
    T* out;
    std::uint64_t batches;
    std::uint64_t length;
    std::uint64_t tiles;
    std::uint64_t tiles_of_length;
};

/// Four warps form a square. The threads of a warp are 4 batches x 8 outputs.
template <class T, unsigned batches_of_thread, unsigned outputs_of_thread>
struct TileShape {
    using Number = T;
    using R = typename phy::detail::ComponentOfNumber<T>::Type;
    static constexpr bool is_complex = phy::detail::is_complex<T>;
    static constexpr unsigned mine_of_batches = batches_of_thread;
    static constexpr unsigned mine_of_outputs = outputs_of_thread;
    static constexpr unsigned batches = 2 * 4 * batches_of_thread;
    static constexpr unsigned outputs = 2 * 8 * outputs_of_thread;
    static constexpr unsigned rows = batches + outputs;

    /// One word more than a piece, so that neighbouring rows use different banks.
    using Row = uint4[words_of_piece + 1];
    static constexpr unsigned fitting = 48 * 1024 / (rows * sizeof(Row));
    static constexpr unsigned stages = fitting < 6 ? fitting : 6;
    static_assert(stages >= 2);
};

/// Sizes of tiles. For complex numbers in binary64 a thread cannot hold as many sums.
template <class T>
using LargeTile = TileShape<T, sizeof(T) == 16 ? 4 : 8, 4>;
template <class T>
using SmallTile = TileShape<T, 2, 2>;

/// The words that a thread copies: one of every 16th row of the tile, means before rows of the matrix.
template <class Shape, bool wide>
class TileSource {
public:
    using T = typename Shape::Number;
    using R = typename Shape::R;

    __device__ __forceinline__ TileSource(const MultiplyJob<T>& job, std::uint64_t batch,
                                          std::uint64_t output)
        : row_bytes_(job.length * sizeof(T)),
          means_(job.means, row_bytes_, batch, job.batches),
          matrix_(job.matrix, row_bytes_, output, job.length) {}

    /// Starts to copy a piece of all rows. Missing elements become zeros.
    __device__ __forceinline__ void copy(std::uint64_t piece, typename Shape::Row* to) const {
        const std::uint64_t at = piece * bytes_of_piece + word() * bytes_of_word;
#pragma unroll
        for (unsigned i = 0; i < Shape::batches / rows_apart; ++i)
            copy_word(means_, i, at, to[first_row() + i * rows_apart]);
#pragma unroll
        for (unsigned i = 0; i < Shape::outputs / rows_apart; ++i)
            copy_word(matrix_, i, at, to[Shape::batches + first_row() + i * rows_apart]);
    }

private:
    static constexpr unsigned rows_apart = multiply_threads / words_of_piece;
    static_assert(Shape::batches % rows_apart == 0 && Shape::outputs % rows_apart == 0);

    static __device__ __forceinline__ unsigned first_row() {
        return threadIdx.x / words_of_piece;
    }
    static __device__ __forceinline__ unsigned word() {
        return threadIdx.x % words_of_piece;
    }

    /// Rows of an array, from the thread's first row on.
    struct Rows {
        const unsigned char* first;
        unsigned left;

        __device__ __forceinline__ Rows(const T* array, std::uint64_t row_bytes, std::uint64_t begin,
                                        std::uint64_t end) {
            const std::uint64_t row = begin + first_row();
            const std::uint64_t rest = row < end ? end - row : 0;
            left = rest < Shape::rows ? static_cast<unsigned>(rest) : Shape::rows;
            first = reinterpret_cast<const unsigned char*>(array) + (left > 0 ? row * row_bytes : 0);
        }
    };

    __device__ __forceinline__ void copy_word(const Rows& rows, unsigned i, std::uint64_t at,
                                              typename Shape::Row& to) const {
        constexpr unsigned size = wide ? bytes_of_word : sizeof(R);
        const bool there = i * rows_apart < rows.left;
        const unsigned char* const row = rows.first + (there ? i * rows_apart * row_bytes_ : 0);
        auto* const target = reinterpret_cast<unsigned char*>(&to[word()]);
#pragma unroll
        for (unsigned part = 0; part < bytes_of_word; part += size) {
            const bool copied = there && at + part < row_bytes_;
            __pipeline_memcpy_async(target + part, row + (copied ? at + part : 0), size, copied ? 0 : size);
        }
    }

    std::uint64_t row_bytes_;
    Rows means_;
    Rows matrix_;
};

/// A thread's sums.
template <class Shape>
class TileSums {
public:
    using T = typename Shape::Number;
    using R = typename Shape::R;

    __device__ __forceinline__ TileSums() {
#pragma unroll
        for (unsigned i = 0; i < Shape::mine_of_batches; ++i) {
#pragma unroll
            for (unsigned j = 0; j < Shape::mine_of_outputs; ++j)
                sums_[i][j] = {};
        }
    }

    /// Adds the products of a piece of all rows.
    __device__ __forceinline__ void add(const typename Shape::Row* rows) {
#pragma unroll unrolled
        for (unsigned word = 0; word < words_of_piece; ++word) {
            uint4 m[Shape::mine_of_outputs];
#pragma unroll
            for (unsigned j = 0; j < Shape::mine_of_outputs; ++j)
                m[j] = rows[Shape::batches + output(j)][word];
#pragma unroll
            for (unsigned i = 0; i < Shape::mine_of_batches; ++i) {
                const uint4 v = rows[batch(i)][word];
#pragma unroll
                for (unsigned j = 0; j < Shape::mine_of_outputs; ++j)
                    add(sums_[i][j], m[j], v);
            }
        }
    }

    __device__ __forceinline__ void store(const MultiplyJob<T>& job, std::uint64_t first_batch,
                                          std::uint64_t first_output) const {
#pragma unroll
        for (unsigned i = 0; i < Shape::mine_of_batches; ++i) {
            const std::uint64_t n = first_batch + batch(i);
            if (n >= job.batches) break;
#pragma unroll
            for (unsigned j = 0; j < Shape::mine_of_outputs; ++j) {
                const std::uint64_t l = first_output + output(j);
                if (l < job.length) store(sums_[i][j], reinterpret_cast<R*>(job.out + n * job.length + l));
            }
        }
    }

private:
    using Sum = std::conditional_t<Shape::is_complex, phy::detail::cuda::ComplexSum<R>,
                                   phy::detail::cuda::RealSum<R>>;
    /// Limited so that the code fits into the instruction cache.
    static constexpr unsigned unrolled = Shape::is_complex ? 4 : 8;

    struct Components {
        R of[bytes_of_word / sizeof(R)];
    };

    static __device__ __forceinline__ unsigned batch(unsigned i) {
        const unsigned warp = threadIdx.x / 32;
        return warp / 2 * (Shape::batches / 2) + threadIdx.x % 32 / 8 + 4 * i;
    }
    static __device__ __forceinline__ unsigned output(unsigned j) {
        const unsigned warp = threadIdx.x / 32;
        return warp % 2 * (Shape::outputs / 2) + threadIdx.x % 8 + 8 * j;
    }

    static __device__ __forceinline__ void add(Sum& sum, const uint4& of_matrix, const uint4& of_means) {
        const auto m = __builtin_bit_cast(Components, of_matrix);
        const auto v = __builtin_bit_cast(Components, of_means);
        constexpr unsigned count = bytes_of_word / sizeof(R);
        if constexpr (Shape::is_complex) {
#pragma unroll
            for (unsigned c = 0; c < count; c += 2)
                sum.add(m.of[c], m.of[c + 1], v.of[c], v.of[c + 1]);
        } else {
#pragma unroll
            for (unsigned c = 0; c < count; ++c)
                sum.add(m.of[c], v.of[c]);
        }
    }

    static __device__ __forceinline__ void store(const Sum& sum, R* to) {
        if constexpr (Shape::is_complex) {
            to[0] = phy::detail::finished(sum.re);
            to[1] = phy::detail::finished(sum.im);
        } else {
            to[0] = phy::detail::finished(sum.value);
        }
    }

    Sum sums_[Shape::mine_of_batches][Shape::mine_of_outputs];
};

/// Computes the block's share of all tiles.
template <class Shape, bool wide>
__device__ __forceinline__ void multiply_tiles(const MultiplyJob<typename Shape::Number>& job) {
    __shared__ typename Shape::Row memory[Shape::stages][Shape::rows];
    const std::uint64_t row_bytes = job.length * sizeof(typename Shape::Number);
    const std::uint64_t pieces = (row_bytes + bytes_of_piece - 1) / bytes_of_piece;
#pragma unroll 1
    for (std::uint64_t tile = blockIdx.x; tile < job.tiles; tile += gridDim.x) {
        const std::uint64_t batch = tile / job.tiles_of_length * Shape::batches;
        const std::uint64_t output = tile % job.tiles_of_length * Shape::outputs;
        const TileSource<Shape, wide> source(job, batch, output);
        TileSums<Shape> sums;
        __syncthreads();  // the previous tile no longer uses the memory
#pragma unroll 1
        for (unsigned piece = 0; piece + 1 < Shape::stages; ++piece) {
            if (piece < pieces) source.copy(piece, memory[piece]);
            __pipeline_commit();
        }
        unsigned stage = 0;
#pragma unroll 1
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
            __pipeline_wait_prior(Shape::stages - 2);
            __syncthreads();
            const std::uint64_t next = piece + Shape::stages - 1;
            const unsigned before = stage == 0 ? Shape::stages - 1 : stage - 1;
            if (next < pieces) source.copy(next, memory[before]);
            __pipeline_commit();
            sums.add(memory[stage]);
            stage = stage + 1 == Shape::stages ? 0 : stage + 1;
        }
        sums.store(job, batch, output);
    }
}

/// Max blocks per launch; blocks loop over further tiles.
inline constexpr std::uint64_t max_blocks = 0x7FFFFFFF;

/// Fewer than would fit: with its own target ptxas spills registers.
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

/// True if the first row and all others are aligned.
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
