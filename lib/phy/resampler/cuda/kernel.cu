#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/samples.cuh"
#include "phy/resampler/cuda/launch.hpp"

namespace phy::gpu::detail {
namespace {

using namespace phy::detail;  // NOLINT(google-build-using-namespace)

constexpr unsigned all_lanes = 0xFFFFFFFFU;
constexpr unsigned team = resampler_team;
constexpr unsigned threads = resampler_threads;

/// The window of a block from input sample `first` of the row on; samples outside of the row are 0.
template <SampleFormat format>
__device__ __forceinline__ void load_window(const ResampleJob& job, std::size_t row, std::int64_t first,
                                            float2* window) {
    const std::byte* const samples = job.input + row * job.sizes.inputs * size_of(format);
    for (unsigned i = threadIdx.x; i < job.window; i += threads) {
        const std::int64_t at = first + i;
        float pair[2] = {0.0F, 0.0F};
        if (at >= 0 && at < static_cast<std::int64_t>(job.sizes.inputs)) {
            std::uint32_t words[(size_of(format) + 3) / 4];
            const std::byte* const from = samples + static_cast<std::size_t>(at) * size_of(format);
            if (job.aligned)
                load_sample<format, true>(from, words);
            else
                load_sample<format, false>(from, words);
            widen<format, 2>(words, job.unit, pair);
        }
        window[i] = {pair[0], pair[1]};
    }
}

/// Adds the halves of the partial sums, which lanes `distance` apart have. Each lane keeps half of the
/// outputs: those whose number has the lane's bit.
template <unsigned distance>
__device__ __forceinline__ void add_halves(unsigned lane, float (&sums)[team]) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (unsigned i = 0; i < distance; ++i) {
        const float sent = upper ? sums[i] : sums[i + distance];
        const float kept = upper ? sums[i + distance] : sums[i];
        sums[i] = __fadd_rn(kept, __shfl_xor_sync(all_lanes, sent, distance, team));
    }
}

/// The total of the output that has the lane's number.
__device__ __forceinline__ float total(unsigned lane, float (&sums)[team]) {
    add_halves<8>(lane, sums);
    add_halves<4>(lane, sums);
    add_halves<2>(lane, sums);
    add_halves<1>(lane, sums);
    return isfinite(sums[0]) ? sums[0] : __int_as_float(0x7FC00000);
}

template <SampleFormat format>
__global__ void __launch_bounds__(threads) resample(const __grid_constant__ ResampleJob job) {
    extern __shared__ float2 window[];
    const std::size_t number = blockIdx.x / job.row_blocks;
    const ResampledRow row = job.rows[number];
    const bool is_allowed =
        row.step >= job.min_step && row.step <= job.max_step && row.position < max_position;
    const std::size_t first = std::size_t{blockIdx.x % job.row_blocks} * job.teams * team;
    const std::uint64_t position = row.position + first * row.step;
    const auto before = static_cast<std::int64_t>(job.filter.taps / 2 - 1);
    load_window<format>(job, number, static_cast<std::int64_t>(position >> 32U) - before, window);
    __syncthreads();
    if (threadIdx.x >= job.teams * team) return;

    const unsigned lane = threadIdx.x % team;
    const std::uint32_t mine =
        PolyphasePositions({.position = position, .step = is_allowed ? row.step : 0})(threadIdx.x);
    unsigned coefficients[team];
    unsigned samples[team];
    float re[team];
    float im[team];
#pragma unroll
    for (unsigned i = 0; i < team; ++i) {
        const unsigned phases = __shfl_sync(all_lanes, mine, i, team);
        coefficients[i] = phases % phases_of_sample * job.filter.taps + lane;
        samples[i] = phases / phases_of_sample + lane;
        re[i] = 0.0F;
        im[i] = 0.0F;
    }
    for (unsigned tap = 0; tap < job.filter.taps; tap += team) {
#pragma unroll
        for (unsigned i = 0; i < team; ++i) {
            const float coefficient = __ldg(job.filter.coefficients + coefficients[i] + tap);
            const float2 x = window[samples[i] + tap];
            re[i] = __fmaf_rn(coefficient, x.x, re[i]);
            im[i] = __fmaf_rn(coefficient, x.y, im[i]);
        }
    }
    const float sum_re = total(lane, re);
    const float sum_im = total(lane, im);
    const std::size_t output = first + threadIdx.x;
    if (output >= job.sizes.outputs) return;
    const float nan = __int_as_float(0x7FC00000);
    auto* const to = reinterpret_cast<float*>(job.output + number * job.sizes.outputs + output);
    if (job.aligned) {
        *reinterpret_cast<float2*>(to) = {is_allowed ? sum_re : nan, is_allowed ? sum_im : nan};
    } else {
        to[0] = is_allowed ? sum_re : nan;
        to[1] = is_allowed ? sum_im : nan;
    }
}

}  // namespace

void prepare_resample() {
    for (const SampleFormat any : all_sample_formats)
        with_constant(any, [](auto format) { load_code(resample<format()>); });
}

void launch(const ResampleJob& job, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(job.sizes.rows * job.row_blocks);
    with_constant(job.format, [&](auto format) {
        resample<format()><<<blocks, threads, job.window * sizeof(float2), stream>>>(job);
    });
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
