// Transforms of 64 T points, T from 8 to 64: two passes of radix 8 over columns of 64 points, then the passes
// of 64 rows of T points. Threads of a warp take columns side by side, then rows of bins side by side. The
// arithmetic is that of transform.cuh.

#include "phy/core/format.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/ofdm/cuda/launch.hpp"
#include "phy/ofdm/cuda/symbol.cuh"

namespace phy::gpu::detail {
namespace {

using Ops = TransformOps;
using Number = TransformNumber;

constexpr unsigned rows = 64;

/// More butterflies at once need more registers than there are.
constexpr int unroll_count = 2;

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

/// Threads of a transform, of 16 points each.
template <unsigned T>
constexpr unsigned team_threads = 4 * T;

constexpr unsigned block_threads = team_threads<64>;

/// Blocks per multiprocessor that registers must leave room for; affects speed only.
constexpr unsigned resident_blocks = 4;

/// The index in shared memory of an element of the row with the bins bin, bin + 64 ...: banks of elements
/// side by side differ, and banks of rows side by side.
template <unsigned T>
__host__ __device__ constexpr unsigned index_of(unsigned bin, unsigned element) {
    return bin * (T + 1) + element;
}

__device__ __forceinline__ Number number(const float2& pair) {
    return {pair.x, pair.y};
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
            x[k] = phy::detail::cuda::product<Ops>(x[k], number(of[k - 1]));
    }
};

/// Points that lie `step` apart.
template <unsigned step, unsigned count>
__device__ __forceinline__ void load_points(const float2* first, Number (&x)[count]) {
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
        x[k] = number(first[k * step]);
}
template <unsigned step, unsigned count>
__device__ __forceinline__ void store_points(const Number (&x)[count], float2* first) {
#pragma unroll
    for (unsigned k = 0; k < count; ++k)
        first[k * step] = {x[k].re, x[k].im};
}

/// The column passes. Output k of butterfly j of the first is point j of the k-th smaller transform of eight,
/// whose bins are k, k + 8 ... of the column. Points come from load(first, x), as those of LoadColumn.
template <unsigned T, class Load>
__device__ __forceinline__ void transform_columns(const Fft& fft, unsigned rank, float2* shared,
                                                  const Load& load) {
    constexpr unsigned step = team_threads<T> / T;
    const unsigned t = rank % T;  // the column
#pragma unroll unroll_count
    for (unsigned i = 0; i < 8 / step; ++i) {
        const unsigned j = rank / T + i * step;
        const std::size_t p = t + j * T;
        Number x[8];
        load(p, x);
        phy::detail::cuda::dft<Ops>(x);
        Factors<8>(factors_of(fft, fft.pass[0]) + p, 8 * T).apply(x);
        store_points<index_of<T>(1, 0)>(x, shared + index_of<T>(8 * j, t));
    }
    __syncthreads();
    const Factors<8> factors(factors_of(fft, fft.pass[1]) + t, T);
#pragma unroll unroll_count
    for (unsigned i = 0; i < 8 / step; ++i) {
        float2* const mine = shared + index_of<T>(rank / T + i * step, t);
        Number x[8];
        load_points<index_of<T>(8, 0)>(mine, x);
        phy::detail::cuda::dft<Ops>(x);
        factors.apply(x);
        store_points<index_of<T>(8, 0)>(x, mine);
    }
    __syncthreads();
}

/// The row passes. Bins go to store(first, x), as those of StoreRow.
template <unsigned T, class Store>
__device__ __forceinline__ void transform_rows(const Fft& fft, unsigned rank, float2* shared,
                                               const Store& store) {
    constexpr unsigned first = RowRadices<T>::first;
    constexpr unsigned last = RowRadices<T>::last;
    if constexpr (first > 1) {
#pragma unroll unroll_count
        for (unsigned i = 0; i < last * rows / team_threads<T>; ++i) {
            const unsigned butterfly = rank + i * team_threads<T>;
            const std::size_t p = butterfly / rows;
            float2* const mine = shared + index_of<T>(butterfly % rows, 0) + p;
            Number x[first];
            load_points<last>(mine, x);
            phy::detail::cuda::dft<Ops>(x);
            Factors<first>(factors_of(fft, fft.pass[2]) + p, last).apply(x);
            store_points<last>(x, mine);
        }
        __syncthreads();
    }
#pragma unroll unroll_count
    for (unsigned i = 0; i < first * rows / team_threads<T>; ++i) {
        const unsigned butterfly = rank + i * team_threads<T>;
        Number x[last];
        load_points<1>(shared + index_of<T>(butterfly % rows, butterfly / rows * last), x);
        phy::detail::cuda::dft<Ops>(x);
        store(butterfly, x);
    }
}

/// Samples of points p, p + N / 8 ... of N; a window begins at most N / 4 before its symbol.
template <SampleFormat format, unsigned T>
struct LoadColumn {
    LoadSamples<format, true> samples;

    __device__ __forceinline__ void operator()(std::size_t p, Number (&x)[8]) const {
        constexpr unsigned step = 8 * T;
        const std::size_t first = p + samples.job.window_offset;
#pragma unroll
        for (unsigned k = 0; k < 8; ++k) {
            const std::size_t sample = first + k * step;
            x[k] = samples.number(samples.window + (k < 6 ? sample : sample % (8 * step)) * size_of(format));
        }
        if (samples.job.rotation == nullptr) return;
        const cf32* const turn = samples.job.rotation + p;
#pragma unroll
        for (unsigned k = 0; k < 8; ++k)
            x[k] = samples.turned(x[k], turn + k * step);
    }
};

/// Elements of bins bin, bin + N / count ... of N.
template <unsigned T>
struct StoreRow {
    StoreElements<true> elements;

    template <unsigned count>
    __device__ __forceinline__ void operator()(unsigned bin, Number (&x)[count]) const {
        float none = 0.0F;  // NaN if a component is not finite
#pragma unroll
        for (unsigned k = 0; k < count; ++k) {
            x[k] = phy::detail::cuda::product<Ops>(x[k], elements.phase);
            none = __fmaf_rn(x[k].im, 0.0F, __fmaf_rn(x[k].re, 0.0F, none));
        }
        if (isnan(none)) {
#pragma unroll
            for (unsigned k = 0; k < count; ++k)
                x[k] = phy::detail::cuda::with_one_nan<Ops>(x[k]);
        }
        const unsigned first = bin + elements.zero;
        __builtin_assume(__isGlobal(elements.elements));
#pragma unroll
        for (unsigned k = 0; k < count; ++k) {
            const unsigned element = (first + k * (rows * T / count)) % (rows * T);
            if (element < elements.count) store_pair<true>(x[k], elements.elements + element);
        }
    }
};

template <SampleFormat format, unsigned T>
__global__ void __launch_bounds__(block_threads, resident_blocks)
    demodulate_in_two_steps(const __grid_constant__ DemodulateJob job) {
    constexpr unsigned teams = block_threads / team_threads<T>;
    __shared__ float2 shared[teams][rows * index_of<T>(1, 0)];
    __shared__ SymbolArrays arrays[teams];
    __shared__ Number phases[teams];
    const unsigned team = threadIdx.x / team_threads<T>;
    const unsigned rank = threadIdx.x % team_threads<T>;
    // A team without a symbol does the last one again.
    const unsigned symbol = min(blockIdx.x * teams + team, job.symbols - 1);
    if (rank == 0) arrays[team] = arrays_of_symbol<format>(job, symbol);
    if (rank == team_threads<T> - 1) phases[team] = phase_of_symbol(job, symbol);
    __syncthreads();
    transform_columns<T>(job.fft, rank, shared[team], LoadColumn<format, T>{{job, arrays[team].window}});
    transform_rows<T>(job.fft, rank, shared[team], StoreRow<T>{{job, arrays[team].elements, phases[team]}});
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
