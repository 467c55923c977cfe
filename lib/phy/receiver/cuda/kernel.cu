#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/receiver/chain/channel_mean-inl.h"
#include "phy/receiver/chain/disturbance-inl.h"
#include "phy/receiver/cuda/launch.hpp"
#include "phy/receiver/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

using Ops = phy::detail::cuda::Ops;

/// Copies an object of whole words with the threads of a block.
template <typename T>
__device__ __forceinline__ void copy_object(const T& from, T& to) {
    static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
    const auto* const source = reinterpret_cast<const std::uint32_t*>(&from);
    auto* const target = reinterpret_cast<std::uint32_t*>(&to);
    for (unsigned i = threadIdx.x; i < sizeof(T) / sizeof(std::uint32_t); i += blockDim.x)
        target[i] = source[i];
}

/// A block per slot, and a warp per OFDM symbol.
__global__ void __launch_bounds__(symbols_per_slot* warp_size)
    find_disturbed(const __grid_constant__ DisturbanceJob job) {
    const unsigned symbol = job.probed.first_symbol + threadIdx.x / warp_size;
    const unsigned lane = threadIdx.x % warp_size;
    SlotEstimate& estimate = job.estimates[blockIdx.x];
    const float max_energy =
        phy::detail::cuda::max_energy<Ops>(estimate.channel_power, estimate.noise_variance, job.paths);
    const std::size_t row = std::size_t{blockIdx.x} * job.antennas * symbols_per_slot + symbol;
    const auto* const elements = reinterpret_cast<const float2*>(job.grid) + row * job.subcarriers;
    const std::size_t of_antenna = symbols_per_slot * std::size_t{job.subcarriers};
    const bool is_probed = lane < job.probed.subcarriers;
    const unsigned subcarrier = is_probed ? job.probed.subcarrier[lane] : 0;
    bool erases = false;
#pragma unroll 4
    for (unsigned antenna = 0; antenna < job.antennas; ++antenna) {
        const float2 element = elements[antenna * of_antenna + subcarrier];
        const bool is_beyond =
            is_probed && phy::detail::cuda::is_disturbed<Ops>(element.x, element.y, max_energy);
        const auto disturbed = static_cast<unsigned>(__popc(__ballot_sync(all_lanes, is_beyond)));
        erases = erases || 2 * disturbed > job.probed.subcarriers;
    }
    if (lane != 0 || !erases) return;
    auto* const phase = reinterpret_cast<float*>(estimate.phase.data() + symbol);
    phase[0] = phase[1] = __int_as_float(0x7FC00000);
}

__global__ void __launch_bounds__(summary_threads) fill_slots(const __grid_constant__ SummaryJob job) {
    ReceivedSlot& received = job.received[blockIdx.x];
    copy_object(job.estimates[blockIdx.x], received.estimate);
    copy_object(job.sums[blockIdx.x], received.symbols);
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
    const bool is_spoiled = !Ops::is_finite(job.slot_estimates[blockIdx.z].noise_variance);
    if (!is_spoiled && job.is_allocated[k / subcarriers_per_resource_block] != 0) {
        using phy::detail::cuda::mean_of_estimates;
        values[0] = mean_of_estimates<Ops>(re, job.estimates, of_estimate, job.reciprocal);
        values[1] = mean_of_estimates<Ops>(re + job.subcarriers, job.estimates, of_estimate, job.reciprocal);
    }
    mean[0] = values[0];
    mean[1] = values[1];
}

__global__ void __launch_bounds__(channel_threads) copy_samples(const __grid_constant__ SamplesJob job) {
    const unsigned i = blockIdx.x * channel_threads + threadIdx.x;
    if (i >= job.count) return;
    const std::size_t from = std::size_t{blockIdx.y} * job.of_slot + job.samples[i];
    const std::size_t to = std::size_t{blockIdx.y} * job.count + i;
    const float2 symbol = reinterpret_cast<const float2*>(job.deprecoded)[from];
    auto* const out = reinterpret_cast<float*>(job.symbols + to);  // may begin at any float
    out[0] = symbol.x;
    out[1] = symbol.y;
    job.noise_variance[to] = job.deprecoded_noise_variance[from];
}

}  // namespace

void prepare_receiver_kernels() {
    load_code(find_disturbed);
    load_code(fill_slots);
    load_code(write_mean);
    load_code(copy_samples);
}

void erase_disturbed(const DisturbanceJob& job, cudaStream_t stream) {
    find_disturbed<<<job.slots, job.probed.symbols * warp_size, 0, stream>>>(job);
    check(cudaGetLastError());
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

void take_samples(const SamplesJob& job, cudaStream_t stream) {
    const dim3 blocks((job.count + channel_threads - 1) / channel_threads, job.slots);
    copy_samples<<<blocks, channel_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
