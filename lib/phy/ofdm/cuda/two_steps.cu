// Transforms of 64 T points, T from 8 to 64, with one barrier, between two steps: two passes of radix 8 over
// columns of 64 points, then the passes of 64 rows of T points. Threads of a warp share a column, and a row.
// The arithmetic is that of transform.cuh.

#include "phy/core/format.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/ofdm/cuda/launch.hpp"
#include "phy/ofdm/cuda/symbol.cuh"

namespace phy::gpu::detail {
namespace {

using Ops = TransformOps;
using Number = TransformNumber;

constexpr unsigned rows = 64;

/// Radices of the passes of a row of T points. first 1: there is one pass.
template <unsigned T>
struct RowRadices {
    static constexpr unsigned first = T == 8 ? 1 : T == 16 ? 4 : 8;
    static constexpr unsigned last = T / first;
};

template <unsigned T>
bool fits(const Fft& fft) {
    constexpr unsigned first = RowRadices<T>::first;
    return fft.size == rows * T && fft.passes == (first == 1 ? 3 : 4) && fft.pass[0].radix == 8 &&
           fft.pass[1].radix == 8 && (first == 1 || fft.pass[2].radix == first);
}

/// Butterflies that a thread does in a pass, one by one; of radix 4 twice as many.
template <unsigned T>
constexpr unsigned butterflies = T < 16 ? 1 : T / 16;

/// Threads that share a column, threads that share a row, and threads of a transform.
template <unsigned T>
constexpr unsigned column_threads = 8 / butterflies<T>;
template <unsigned T>
constexpr unsigned row_threads = T / 8 / butterflies<T>;
template <unsigned T>
constexpr unsigned team_threads = T / butterflies<T> * 8;

constexpr unsigned block_threads = team_threads<64>;

/// Blocks per multiprocessor that registers must leave room for; affects speed only.
constexpr unsigned resident_blocks = 6;

/// The index of an element of a row in shared memory. Permuted so that the threads of a warp have few bank
/// conflicts: none with 4096 points. Linear: index_of(a ^ b, c ^ d) is index_of(a, c) ^ index_of(b, d).
template <unsigned T>
__host__ __device__ constexpr unsigned index_of(unsigned row, unsigned element) {
    const unsigned mixed = row ^ (row >> 3U);
    const unsigned flip = (mixed & 1U) * 8 + (mixed & 2U) * 2 + (mixed & 4U) / 2;
    return row * T + ((element ^ ((element >> 3U) & 7U) ^ flip) & (T - 1));
}

/// The factors of a butterfly, from output 1 on.
template <unsigned radix>
struct Factors {
    float2 of[radix - 1];

    __device__ __forceinline__ Factors(const float2* first, unsigned groups) {
#pragma unroll
        for (unsigned k = 1; k < radix; ++k)
            of[k - 1] = __ldg(first + (k - 1) * groups);
    }

    /// Multiplies the outputs.
    __device__ __forceinline__ void apply(Number (&x)[radix]) const {
#pragma unroll
        for (unsigned k = 1; k < radix; ++k)
            x[k] = phy::detail::cuda::product<Ops>(x[k], Number{of[k - 1].x, of[k - 1].y});
    }
};

/// Points with the indices mine ^ step(k).
template <unsigned count, class Step>
__device__ __forceinline__ void load_points(const float2* shared, unsigned mine, const Step& step,
                                            Number (&x)[count]) {
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
        const float2 point = shared[mine ^ step(k)];
        x[k] = {point.x, point.y};
    }
}
template <unsigned count, class Step>
__device__ __forceinline__ void store_points(const Number (&x)[count], float2* shared, unsigned mine,
                                             const Step& step) {
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
        shared[mine ^ step(k)] = {x[k].re, x[k].im};
}

/// Element t of 64 rows: output k of butterfly j of the first pass goes to row 8 k + j, and the second pass
/// takes rows 8 j to 8 j + 7. `thread` is one of the column's. Points come from load(index).
template <unsigned T, class Load>
__device__ __forceinline__ void transform_column(const Fft& fft, unsigned t, unsigned thread, float2* shared,
                                                 const Load& load) {
    const auto from_row = [](unsigned row) { return index_of<T>(row, 0); };
    const auto from_eight_rows = [](unsigned k) { return index_of<T>(8 * k, 0); };
#pragma unroll
    for (unsigned i = 0; i < butterflies<T>; ++i) {
        const unsigned j = thread + i * column_threads<T>;
        const unsigned p = t + T * j;
        Number x[8];
#pragma unroll
        for (unsigned k = 0; k < 8; ++k)
            x[k] = load(p + 8 * T * k);
        phy::detail::cuda::dft<Ops>(x);
        Factors<8>(factors_of(fft, fft.pass[0]) + p, 8 * T).apply(x);
        store_points(x, shared, index_of<T>(j, t), from_eight_rows);
    }
    const Factors<8> factors(factors_of(fft, fft.pass[1]) + t, T);
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < butterflies<T>; ++i) {
        const unsigned j = thread + i * column_threads<T>;
        const unsigned mine = index_of<T>(8 * j, t);
        Number x[8];
        load_points(shared, mine, from_row, x);
        phy::detail::cuda::dft<Ops>(x);
        factors.apply(x);
        store_points(x, shared, mine, from_row);
    }
}

/// The row whose bins are bin, bin + 64 ...; `thread` is one of the row's. Bins go to store(index, value).
template <unsigned T, class Store>
__device__ __forceinline__ void transform_row(const Fft& fft, unsigned bin, unsigned thread, float2* shared,
                                              const Store& store) {
    constexpr unsigned first = RowRadices<T>::first;
    constexpr unsigned last = RowRadices<T>::last;
    const unsigned row = bin % 8 * 8 + bin / 8;
    if constexpr (first > 1) {
        const auto step = [](unsigned k) { return index_of<T>(0, last * k); };
#pragma unroll
        for (unsigned i = 0; i < last / row_threads<T>; ++i) {
            const unsigned p = thread + i * row_threads<T>;
            const unsigned mine = index_of<T>(row, p);
            Number x[first];
            load_points(shared, mine, step, x);
            phy::detail::cuda::dft<Ops>(x);
            Factors<first>(factors_of(fft, fft.pass[2]) + p, last).apply(x);
            store_points(x, shared, mine, step);
        }
        __syncwarp();
    }
#pragma unroll
    for (unsigned i = 0; i < first / row_threads<T>; ++i) {
        const unsigned k = thread + i * row_threads<T>;
        Number x[last];
        load_points(
            shared, index_of<T>(row, last * k), [](unsigned l) { return index_of<T>(0, l); }, x);
        phy::detail::cuda::dft<Ops>(x);
#pragma unroll
        for (unsigned l = 0; l < last; ++l)
            store(bin + rows * (k + first * l), x[l]);
    }
}

template <SampleFormat format, unsigned T>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    demodulate_in_two_steps(const __grid_constant__ DemodulateJob job) {
    constexpr unsigned teams = block_threads / team_threads<T>;
    static_assert(block_threads % team_threads<T> == 0);
    __shared__ float2 shared[teams][rows * T];
    __shared__ SymbolOffsets offsets[teams];
    const unsigned team = threadIdx.x / team_threads<T>;
    const unsigned rank = threadIdx.x % team_threads<T>;
    const unsigned index = blockIdx.x * teams + team;
    const bool is_there = index < job.symbols;
    if (rank == 0) offsets[team] = offsets_of_symbol(job, index);
    __syncthreads();
    // Columns of a warp are neighbours, and so are rows, by their bins.
    constexpr unsigned columns = warp_size / column_threads<T>;
    transform_column<T>(job.fft, rank % columns + rank / warp_size * columns,
                        rank / columns % column_threads<T>, shared[team],
                        LoadSamples<format, true>(job, offsets[team], is_there));
    __syncthreads();
    transform_row<T>(job.fft, rank / row_threads<T>, rank % row_threads<T>, shared[team],
                     StoreElements<true>(job, offsets[team], is_there));
}

template <unsigned T>
bool start(const DemodulateJob& job, cudaStream_t stream) {
    if (!fits<T>(job.fft)) return false;
    constexpr unsigned teams = block_threads / team_threads<T>;
    with_constant(job.format, [&](auto format) {
        demodulate_in_two_steps<format(), T>
            <<<(job.symbols + teams - 1) / teams, block_threads, 0, stream>>>(job);
    });
    check(cudaGetLastError());
    return true;
}

template <unsigned T>
void prepare(const Fft& fft) {
    if (!fits<T>(fft)) return;
    for (const SampleFormat any : all_sample_formats)
        with_constant(any, [](auto format) { load_code(demodulate_in_two_steps<format(), T>); });
}

}  // namespace

void prepare_two_steps(const Fft& fft) {
    prepare<8>(fft);
    prepare<16>(fft);
    prepare<32>(fft);
    prepare<64>(fft);
}

bool launch_in_two_steps(const DemodulateJob& job, cudaStream_t stream) {
    return start<8>(job, stream) || start<16>(job, stream) || start<32>(job, stream) ||
           start<64>(job, stream);
}

}  // namespace phy::gpu::detail
