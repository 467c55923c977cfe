#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/shared_memory.hpp"
#include "phy/ofdm/cuda/launch.hpp"
#include "phy/ofdm/cuda/symbol.cuh"
#include "phy/ofdm/cuda/transform.cuh"

namespace phy::gpu::detail {
namespace {

// Tuning: these numbers affect speed only.

constexpr unsigned points_of_thread = 8;               ///< per transform; more for large ones
constexpr unsigned max_transform_threads = 512;        ///< per block
constexpr unsigned threads_of_small_transforms = 128;  ///< shared by transforms of a block

/// Blocks per multiprocessor that registers must leave room for; one of compute capability 7.5 has 1024
/// threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned resident_transform_blocks = 2;
#else
constexpr unsigned resident_transform_blocks = 3;
#endif

using Ops = TransformOps;
using Number = TransformNumber;

extern __shared__ float shared_points[];

/// A block runs as many transforms side by side as fit.
struct Teams {
    unsigned threads;  ///< per team
    unsigned count;    ///< per block
    unsigned bytes;    ///< shared memory per block
};

__host__ __device__ constexpr Teams teams_of(unsigned size) {
    const unsigned wanted = (size + points_of_thread - 1) / points_of_thread;
    const unsigned threads = wanted < max_transform_threads ? wanted : max_transform_threads;
    const unsigned count = threads >= threads_of_small_transforms ? 1 : threads_of_small_transforms / threads;
    return {threads, count, count * 2 * plane_of(size) * static_cast<unsigned>(sizeof(float))};
}

/// This thread's team and the index of its transform in the grid.
__device__ __forceinline__ Team my_team(unsigned size, unsigned& transform) {
    const Teams teams = teams_of(size);
    const unsigned mine = teams.count == 1 ? 0 : threadIdx.x / teams.threads;
    transform = blockIdx.x * teams.count + mine;
    return {threadIdx.x - mine * teams.threads, teams.threads, shared_points + mine * 2 * plane_of(size),
            plane_of(size)};
}

template <SampleFormat format, bool aligned>
__global__ void __launch_bounds__(max_transform_threads, resident_transform_blocks)
    demodulate(const __grid_constant__ DemodulateJob job) {
    unsigned index = 0;
    const Team team = my_team(job.fft.size, index);
    const bool is_there = index < job.symbols;
    const SymbolArrays arrays = arrays_of_symbol<format>(job, index);
    transform(job.fft, team, LoadSamples<format, aligned>{job, arrays.window, is_there},
              StoreElements<aligned>(job, arrays.elements, phase_of_symbol(job, index), is_there));
}

/// The points of a symbol; the inverse swaps their components.
struct LoadPoints {
    const float* points;
    bool is_there;
    bool inverse;

    __device__ __forceinline__ Number operator()(unsigned point) const {
        if (!is_there) return {0.0F, 0.0F};
        const float re = points[2 * point];
        const float im = points[2 * point + 1];
        return inverse ? Number{im, re} : Number{re, im};
    }
};

template <bool aligned>
struct StorePoints {
    cf32* points;
    bool is_there;
    bool inverse;
    float factor;

    __device__ __forceinline__ void operator()(unsigned bin, const Number& value) const {
        if (!is_there) return;
        const Number rotated = inverse ? Number{value.im, value.re} : value;
        store_pair<aligned>(phy::detail::cuda::scaled<Ops>(rotated, factor), points + bin);
    }
};

template <bool aligned>
__global__ void __launch_bounds__(max_transform_threads, resident_transform_blocks)
    precode(const __grid_constant__ PrecodeJob job) {
    unsigned symbol = 0;
    const Team team = my_team(job.fft.size, symbol);
    const bool is_there = symbol < job.symbols;
    const std::uint64_t first = std::uint64_t{symbol} * job.fft.size;
    transform(job.fft, team,
              LoadPoints{reinterpret_cast<const float*>(job.in + first), is_there, job.inverse},
              StorePoints<aligned>{job.out + first, is_there, job.inverse, job.factor});
}

bool is_aligned(const void* address, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

template <typename Job>
void start(void (*kernel)(Job), const Job& job, cudaStream_t stream) {
    const Teams teams = teams_of(job.fft.size);
    const unsigned blocks = (job.symbols + teams.count - 1) / teams.count;
    kernel<<<blocks, teams.count * teams.threads, teams.bytes, stream>>>(job);
    check(cudaGetLastError());
}

}  // namespace

void prepare_demodulate(const Fft& fft) {
    for (const SampleFormat any : all_sample_formats) {
        with_constant(any, [](auto format) {
            load_code_with_shared_memory(demodulate<format(), true>);
            load_code_with_shared_memory(demodulate<format(), false>);
        });
    }
    prepare_two_steps(fft);
}

void prepare_precode() {
    load_code(precode<true>);
    load_code(precode<false>);
}

void launch(const DemodulateJob& job, cudaStream_t stream) {
    const bool aligned = is_aligned(job.samples, size_of(job.format)) && is_aligned(job.grid, sizeof(float2));
    if (aligned && launch_in_two_steps(job, stream)) return;
    with_constant(job.format, [&](auto format) {
        start(aligned ? demodulate<format(), true> : demodulate<format(), false>, job, stream);
    });
}

void launch(const PrecodeJob& job, cudaStream_t stream) {
    start(is_aligned(job.out, sizeof(float2)) ? precode<true> : precode<false>, job, stream);
}

}  // namespace phy::gpu::detail
