#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/receiver/chain/channel_mean-inl.h"
#include "phy/receiver/chain/undo_precoding-inl.h"
#include "phy/receiver/cuda/launch.hpp"
#include "phy/receiver/cuda/tuning.hpp"
#include "phy/reduce/warp.cuh"

namespace phy::gpu::detail {
namespace {

using Ops = phy::detail::cuda::Ops;

static_assert(phy::detail::cuda::precoding_lanes == warp_size);

constexpr unsigned piece = 4;  ///< floats that are loaded at once

/// The threads of a block copy an object of whole words.
template <typename T>
__device__ __forceinline__ void copy_object(const T& from, T& to) {
    static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
    const auto* const source = reinterpret_cast<const std::uint32_t*>(&from);
    auto* const target = reinterpret_cast<std::uint32_t*>(&to);
    for (unsigned i = threadIdx.x; i < sizeof(T) / sizeof(std::uint32_t); i += blockDim.x)
        target[i] = source[i];
}

__device__ __forceinline__ unsigned is_erased(float noise_variance) {
    return Ops::is_finite(noise_variance) ? 0 : 1;
}

/// This thread's share of the erasures of a slot.
__device__ __forceinline__ unsigned count_erasures(const float* noise_variance, unsigned symbols) {
    const auto address = reinterpret_cast<std::uintptr_t>(noise_variance) / sizeof(float);
    const unsigned before = min(static_cast<unsigned>((piece - address % piece) % piece), symbols);
    const unsigned pieces = (symbols - before) / piece;
    const unsigned behind = before + pieces * piece;
    unsigned erasures = 0;
    if (threadIdx.x < before) erasures += is_erased(noise_variance[threadIdx.x]);
    if (threadIdx.x < symbols - behind) erasures += is_erased(noise_variance[behind + threadIdx.x]);
    const auto* const aligned = reinterpret_cast<const float4*>(noise_variance + before);
#pragma unroll 1
    for (unsigned first = threadIdx.x; first < pieces; first += summary_loads * summary_threads) {
        float4 values[summary_loads];
#pragma unroll
        for (unsigned i = 0; i < summary_loads; ++i) {
            const unsigned at = first + i * summary_threads;
            values[i] = at < pieces ? aligned[at] : float4{0.0F, 0.0F, 0.0F, 0.0F};
        }
#pragma unroll
        for (unsigned i = 0; i < summary_loads; ++i)
            erasures += is_erased(values[i].x) + is_erased(values[i].y) + is_erased(values[i].z) +
                        is_erased(values[i].w);
    }
    return erasures;
}

__global__ void __launch_bounds__(summary_threads) fill_slots(const __grid_constant__ SummaryJob job) {
    __shared__ unsigned total;
    const unsigned slot = blockIdx.x;
    ReceivedSlot& received = job.received[slot];
    if (threadIdx.x == 0) total = 0;
    copy_object(job.estimates[slot], received.estimate);
    copy_object(job.sums[slot], received.symbols);
    unsigned erasures = count_erasures(job.noise_variance + std::size_t{slot} * job.symbols, job.symbols);
    erasures = sum_of_warp(erasures);
    __syncthreads();
    if (threadIdx.x % warp_size == 0) atomicAdd(&total, erasures);
    __syncthreads();
    if (threadIdx.x == 0) received.erasures = total;
}

__global__ void __launch_bounds__(channel_threads) write_mean(const __grid_constant__ ChannelJob job) {
    const unsigned k = blockIdx.x * channel_threads + threadIdx.x;
    if (k >= job.subcarriers) return;
    const unsigned path = blockIdx.y;
    const std::size_t of_estimate = std::size_t{2} * job.paths * job.subcarriers;
    const std::size_t of_slot = static_cast<std::size_t>(job.estimates) * of_estimate;
    const float* const re = job.channel + blockIdx.z * of_slot + std::size_t{2} * path * job.subcarriers + k;
    auto* const mean = reinterpret_cast<float*>(
        job.mean + (std::size_t{blockIdx.z} * job.paths + path) * job.subcarriers + k);
    float values[2] = {0.0F, 0.0F};
    if (job.is_allocated[k / subcarriers_per_resource_block] != 0) {
        using phy::detail::cuda::mean_of_estimates;
        values[0] = mean_of_estimates<Ops>(re, job.estimates, of_estimate, job.reciprocal);
        values[1] = mean_of_estimates<Ops>(re + job.subcarriers, job.estimates, of_estimate, job.reciprocal);
    }
    mean[0] = values[0];
    mean[1] = values[1];
}

extern __shared__ float shared_numbers[];

/// A lane's numbers one after another, then the lanes in their order; in lane 0.
__device__ __forceinline__ float sum_of(const float* numbers, unsigned count, unsigned lane) {
    float sum = 0.0F;
    for (unsigned i = lane; i < count; i += warp_size)
        sum = Ops::add(sum, numbers[i]);
    return joined_warp(sum);
}

__global__ void __launch_bounds__(precoding_threads) weigh(const __grid_constant__ PrecodingJob job) {
    float* const weights = shared_numbers;
    float* const noises = shared_numbers + job.subcarriers;
    const std::size_t first = std::size_t{blockIdx.x} * job.subcarriers;
    auto* const symbols = reinterpret_cast<float*>(job.symbols + first);
    for (unsigned k = threadIdx.x; k < job.subcarriers; k += precoding_threads) {
        const float noise = job.noise_variance[first + k];
        const float weight = phy::detail::cuda::subcarrier_weight<Ops>(job.mmse, noise);
        weights[k] = weight;
        noises[k] = phy::detail::cuda::subcarrier_noise<Ops>(noise);
        symbols[2 * k] = Ops::mul(symbols[2 * k], weight);
        symbols[2 * k + 1] = Ops::mul(symbols[2 * k + 1], weight);
    }
    __syncthreads();
    if (threadIdx.x >= warp_size) return;
    const float of_weights = sum_of(weights, job.subcarriers, threadIdx.x);
    const float of_noises = sum_of(noises, job.subcarriers, threadIdx.x);
    if (threadIdx.x != 0) return;
    const auto common = phy::detail::cuda::precoded_symbol<Ops>(job.mmse, of_weights, of_noises,
                                                                static_cast<float>(job.subcarriers));
    job.common[2 * std::size_t{blockIdx.x}] = common.mean_weight;
    job.common[2 * std::size_t{blockIdx.x} + 1] = common.noise;
}

__global__ void __launch_bounds__(precoding_threads) finish(const __grid_constant__ PrecodingJob job) {
    const float* const shared = job.common + 2 * std::size_t{blockIdx.x};
    const phy::detail::cuda::PrecodedSymbol common = {shared[0], shared[1]};
    const std::size_t first = std::size_t{blockIdx.x} * job.subcarriers;
    auto* const symbols = reinterpret_cast<float*>(job.symbols + first);
    for (unsigned k = threadIdx.x; k < job.subcarriers; k += precoding_threads) {
        float re = symbols[2 * k];
        float im = symbols[2 * k + 1];
        float noise = 0.0F;
        phy::detail::cuda::finish_symbol<Ops>(common, re, im, noise);
        symbols[2 * k] = re;
        symbols[2 * k + 1] = im;
        job.noise_variance[first + k] = noise;
    }
}

}  // namespace

void prepare_receiver_kernels() {
    load_code(fill_slots);
    load_code(write_mean);
    load_code(weigh);
    load_code(finish);
}

void summarise(const SummaryJob& job, cudaStream_t stream) {
    fill_slots<<<job.slots, summary_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

void average_channel(const ChannelJob& job, cudaStream_t stream) {
    const dim3 blocks((job.subcarriers + channel_threads - 1) / channel_threads, job.paths, job.slots);
    write_mean<<<blocks, channel_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

void weigh_subcarriers(const PrecodingJob& job, cudaStream_t stream) {
    const std::size_t bytes = std::size_t{2} * job.subcarriers * sizeof(float);
    weigh<<<job.rows, precoding_threads, bytes, stream>>>(job);
    check(cudaGetLastError());
}

void finish_symbols(const PrecodingJob& job, cudaStream_t stream) {
    finish<<<job.rows, precoding_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
