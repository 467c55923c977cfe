// From the grid to the rows of streams: least squares, offsets, codes.

#include <array>

#include "phy/channel/estimator/cuda/device.cuh"
#include "phy/channel/estimator/cuda/tuning.hpp"
#include "phy/channel/estimator/math/statistics-inl.h"
#include "phy/cuda/samples.cuh"

namespace phy::gpu::detail {
namespace {

constexpr int most_rows = 16 * 3 * symbols_per_slot;

template <SampleFormat format>
__device__ __forceinline__ DeviceComplex load_sample(const std::byte* from, float unit) {
    constexpr unsigned bytes = size_of(format);
    std::uint32_t words[(bytes + 3) / 4] = {};
    if (reinterpret_cast<std::uintptr_t>(from) % bytes == 0) {
        load_words<Space::global, bytes>(from, words);
    } else {
#pragma unroll
        for (unsigned b = 0; b < bytes; ++b)
            words[b / 4] |= static_cast<std::uint32_t>(from[b]) << (8 * (b % 4));
    }
    float parts[2];
    widen<format, 2>(words, unit, parts);
    return {parts[0], parts[1]};
}

/// A warp for the energy of a row in shared memory, and one for each lag.
__device__ __forceinline__ void sum_row(const EstimatorProgram& program, const float* pilots, float* sums) {
    const int stride = program.comb_stride;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    constexpr std::array lags = phy::detail::estimator_lags;
    const int lag = warp == 0 ? 0 : warp == 1 ? lags[0] : warp == 2 ? lags[1] : lags[2];
    DeviceComplex sum = {0.0F, 0.0F};
    for (int comb = 0; comb < 2; ++comb) {
        const float* const pilots_of_comb = pilots + 2 * comb * stride;
        for (int m = lane; m < program.comb_size; m += warp_size) {
            const DeviceComplex x = complex_at(pilots_of_comb, stride, m);
            if (warp == 0)
                sum.re = Ops::fma(x.im, x.im, Ops::fma(x.re, x.re, sum.re));
            else
                sum = phy::detail::cuda::add_correlation<Ops>(sum, x,
                                                              complex_at(pilots_of_comb, stride, m + lag));
        }
    }
    sum.re = joined_warp(sum.re);
    sum.im = joined_warp(sum.im);
    if (lane != 0) return;
    if (warp == 0) {
        sums[0] = sum.re;
    } else {
        sums[2 * warp - 1] = sum.re;
        sums[2 * warp] = sum.im;
    }
}

/// What a row of pilots is made of: the first resource element of a group in the grid, and the pilots sent.
struct RowSource {
    const std::byte* samples;
    const cf32* pilots;
};

__device__ __forceinline__ RowSource source_of(const EstimatorProgram& program, const EstimatorJob& job,
                                               unsigned slot, int row, unsigned sample_bytes) {
    const int symbol = row % program.symbols;
    const int group = row / program.symbols % program.groups_count;
    const unsigned antenna = static_cast<unsigned>(row / program.symbols / program.groups_count);
    const std::size_t sample_row =
        (std::size_t{slot} * static_cast<unsigned>(program.antennas) + antenna) * symbols_per_slot +
        static_cast<unsigned>(program.dmrs_symbols[symbol]);
    const std::byte* const samples = job.grid + (sample_row * static_cast<unsigned>(program.subcarriers) +
                                                 static_cast<unsigned>(program.groups[group])) *
                                                    sample_bytes;
    const cf32* const pilots = job.pilots + (std::size_t{slot} * static_cast<unsigned>(program.symbols) +
                                             static_cast<unsigned>(symbol)) *
                                                static_cast<unsigned>(program.pilots);
    return {samples, pilots};
}

/// A block a row and slot: pilots to shared memory and on, then a warp for each of the row's sums.
template <SampleFormat format>
__global__ void __launch_bounds__(estimator_threads)
    estimate_rows(const EstimatorProgram* __restrict__ of_all, EstimatorJob job) {
    extern __shared__ float shared[];
    const EstimatorProgram& program = *of_all;
    const int stride = program.comb_stride;
    const int row = static_cast<int>(blockIdx.x);
    const unsigned slot = blockIdx.y;
    const auto [samples, pilots] = source_of(program, job, slot, row, size_of(format));
    float* const out = program.rows_at + slot * program.rows_size +
                       static_cast<std::size_t>(row) * 4 * static_cast<unsigned>(stride);
    for (int comb = 0; comb < 2; ++comb) {
        for (int m = static_cast<int>(threadIdx.x); m < stride; m += estimator_threads) {
            const int subcarrier = program.subcarrier_of[comb * stride + m];
            DeviceComplex p = {0.0F, 0.0F};
            const int at = 2 * comb * stride + m;
            if (subcarrier >= 0) {
                const auto* const pilot =
                    reinterpret_cast<const float*>(pilots + program.pilot_of[comb * stride + m]);
                const auto* const sample = samples + static_cast<std::size_t>(subcarrier) * size_of(format);
                p = phy::detail::cuda::least_squares<Ops>(load_sample<format>(sample, job.unit),
                                                          {pilot[0], pilot[1]}, program.scale);
                out[at] = p.re;
                out[at + stride] = p.im;
            }
            shared[at] = p.re;
            shared[at + stride] = p.im;
        }
    }
    __syncthreads();
    if (threadIdx.x < 4 * warp_size)
        sum_row(program, shared,
                program.row_sums + (std::size_t{slot} * static_cast<unsigned>(program.rows) + blockIdx.x) *
                                       phy::detail::estimator_row_sums);
}

/// A warp a row that another DM-RS follows: what the two have in common, to (rows, real and imaginary).
__device__ __forceinline__ void correlate_dmrs(const EstimatorProgram& program, unsigned slot, float* cross) {
    const int stride = program.comb_stride;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int pairs = program.constants.pairs;
    for (int row = warp; row < program.rows && pairs > 0; row += estimator_threads / warp_size) {
        if (row % program.symbols / program.length >= pairs) continue;
        const float* const x = program.rows_at + slot * program.rows_size +
                               static_cast<std::size_t>(row) * 4 * static_cast<unsigned>(stride);
        const float* const y =
            x + static_cast<std::size_t>(program.length) * 4 * static_cast<unsigned>(stride);
        DeviceComplex sum = {0.0F, 0.0F};
        for (int comb = 0; comb < 2; ++comb) {
#pragma unroll 4
            for (int m = lane; m < program.comb_size; m += warp_size)
                sum =
                    phy::detail::cuda::add_correlation<Ops>(sum, complex_at(x + 2 * comb * stride, stride, m),
                                                            complex_at(y + 2 * comb * stride, stride, m));
        }
        sum.re = joined_warp(sum.re);
        sum.im = joined_warp(sum.im);
        if (lane == 0) {
            cross[2 * row] = sum.re;
            cross[2 * row + 1] = sum.im;
        }
    }
}

/// A thread a sum of the slot, over its rows.
__device__ __forceinline__ void join_rows(const EstimatorProgram& program, unsigned slot, const float* cross,
                                          float* sums) {
    const int i = static_cast<int>(threadIdx.x);
    const int pairs = program.constants.pairs;
    constexpr int of_row = phy::detail::estimator_row_sums;
    if (i < of_row + 2 * pairs) {
        const float* const row_sums =
            program.row_sums + std::size_t{slot} * static_cast<unsigned>(program.rows) * of_row;
        float sum = 0.0F;
        for (int row = 0; row < program.rows; ++row) {
            if (i < of_row)
                sum = Ops::add(sum, row_sums[row * of_row + i]);
            else if (row % program.symbols / program.length == (i - of_row) / 2)
                sum = Ops::add(sum, cross[2 * row + (i - of_row) % 2]);
        }
        sums[i] = sum;
    }
}

/// A block a slot.
__global__ void __launch_bounds__(estimator_threads)
    measure_offsets(const EstimatorProgram* __restrict__ of_all) {
    __shared__ float cross[2 * most_rows];
    __shared__ float sums[phy::detail::estimator_slot_sums];
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.x;
    correlate_dmrs(program, slot, cross);
    __syncthreads();
    join_rows(program, slot, cross, sums);
    __syncthreads();
    if (threadIdx.x == 0) phy::detail::cuda::set_offsets<Ops>(program.constants, sums, program.states[slot]);
}

/// What each DM-RS counts in an estimate of a stream: its code in time, over their number, with the phase of
/// its symbol taken out.
__device__ __forceinline__ void weigh_symbols(const EstimatorProgram& program, const EstimatorStream& stream,
                                              const SlotState& state, int first_symbol,
                                              DeviceComplex* weights) {
    if (static_cast<int>(threadIdx.x) >= program.averaged) return;
    const int symbol = first_symbol + static_cast<int>(threadIdx.x);
    const float share =
        Ops::div(stream.in_time[symbol % program.length], static_cast<float>(program.averaged));
    const int l = program.dmrs_symbols[symbol];
    weights[threadIdx.x] = {Ops::mul(share, state.phase_re[l]), Ops::mul(-share, state.phase_im[l])};
}

/// A block a row of a stream and slot.
__global__ void __launch_bounds__(estimator_threads)
    form_streams(const EstimatorProgram* __restrict__ of_all) {
    __shared__ DeviceComplex weights[symbols_per_slot];
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.y;
    const int row = static_cast<int>(blockIdx.x);
    const int stride = program.comb_stride;
    const int estimate = row % program.estimates;
    const EstimatorStream& stream = program.streams[row / program.estimates % program.streams_count];
    const int antenna = row / program.estimates / program.streams_count;
    const SlotState& state = program.states[slot];
    const int first_symbol = estimate * program.averaged;
    weigh_symbols(program, stream, state, first_symbol, weights);
    __syncthreads();
    const float* const from =
        program.rows_at + slot * program.rows_size +
        static_cast<std::size_t>((antenna * program.groups_count + stream.group) * program.symbols +
                                 first_symbol) *
            4 * static_cast<unsigned>(stride);
    float* const out = program.streams_at + slot * program.streams_size +
                       static_cast<std::size_t>(row) * 4 * static_cast<unsigned>(stride);
    const float shift = static_cast<float>(program.groups[stream.group]);
    for (int comb = 0; comb < 2; ++comb) {
        const float sign = comb == 1 && stream.layer[0] < 0 ? -1.0F : 1.0F;
        for (int m = static_cast<int>(threadIdx.x); m < program.comb_size; m += estimator_threads) {
            const int subcarrier = program.subcarrier_of[comb * stride + m];
            if (subcarrier < 0) continue;
            const int at = 2 * comb * stride + m;
            DeviceComplex sum = {0.0F, 0.0F};
            for (int i = 0; i < program.averaged; ++i) {
                const DeviceComplex weight = {Ops::mul(sign, weights[i].re), Ops::mul(sign, weights[i].im)};
                sum = phy::detail::cuda::add_product<Ops>(
                    sum, weight,
                    complex_at(from + static_cast<std::size_t>(i) * 4 * static_cast<unsigned>(stride), stride,
                               at));
            }
            const DeviceComplex ramp =
                phy::detail::cuda::turned<Ops>(Ops::add(static_cast<float>(subcarrier), shift), state.step);
            const DeviceComplex p = phy::detail::cuda::times<Ops>(sum, ramp);
            out[at] = p.re;
            out[at + stride] = p.im;
        }
    }
}

}  // namespace

void start_rows(const EstimatorProgram& host, const EstimatorProgram* program, const EstimatorJob& job,
                cudaStream_t stream) {
    const std::size_t shared = 4 * sizeof(float) * static_cast<std::size_t>(host.comb_stride);
    with_constant(job.format, [&](auto constant) {
        estimate_rows<constant()>
            <<<dim3(static_cast<unsigned>(host.rows), job.slots), estimator_threads, shared, stream>>>(
                program, job);
    });
    measure_offsets<<<job.slots, estimator_threads, 0, stream>>>(program);
    form_streams<<<dim3(static_cast<unsigned>(host.stream_rows), job.slots), estimator_threads, 0, stream>>>(
        program);
    check(cudaGetLastError());
}

void prepare_rows(const EstimatorProgram& host) {
    const auto shared = static_cast<int>(4 * sizeof(float)) * host.comb_stride;
    for (const SampleFormat format : all_sample_formats) {
        with_constant(format, [&](auto constant) {
            check(cudaFuncSetAttribute(estimate_rows<constant()>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       shared));
            load_code(estimate_rows<constant()>);
        });
    }
    load_code(measure_offsets);
    load_code(form_streams);
}

}  // namespace phy::gpu::detail
