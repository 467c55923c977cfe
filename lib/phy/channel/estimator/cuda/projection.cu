// Pilots to the channel's modes, and what energies of pilots and modes say of noise.

#include "phy/channel/estimator/cuda/device.cuh"
#include "phy/channel/estimator/cuda/tuning.hpp"
#include "phy/channel/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

constexpr int chunk = warp_size;  // pilots at a time
constexpr int real_columns = 2 * projection_columns;
constexpr int column_lanes = real_columns / columns_of_thread;
constexpr int projection_warps = projection_threads / warp_size;
constexpr int sums_of_warp = (real_columns + projection_warps - 1) / projection_warps;
constexpr int most_filter_streams = 4 * 32;

struct ProjectionShared {
    float columns[chunk][real_columns + 1];
    float4 modes[chunk][projection_modes / 4];
};

__host__ __device__ __forceinline__ int blocks_of(int count, int each) {
    return (count + each - 1) / each;
}

/// Where a real column of a block lies among those of its kind: (streams, combs, parts, antennas, estimates).
__device__ __forceinline__ int place_of_column(const EstimatorProgram& program, int complex_column,
                                               int part) {
    const int in_group = program.antennas * program.estimates;
    return (2 * (complex_column / in_group) + part) * in_group + complex_column % in_group;
}

/// The complex columns of a block, and the first of its modes.
struct ColumnBlock {
    int kind;
    int first;
    int count;
    int first_mode;
};

/// Blocks of streams with two ports come first.
__device__ __forceinline__ ColumnBlock block_of(const EstimatorProgram& program, int joint_blocks,
                                                int mode_blocks) {
    const int index = static_cast<int>(blockIdx.x) / mode_blocks;
    const int kind = index < joint_blocks ? 1 : 0;
    const int first = projection_columns * (kind == 1 ? index : index - joint_blocks);
    return {.kind = kind,
            .first = first,
            .count = min(projection_columns, program.columns[kind] / 2 - first),
            .first_mode = projection_modes * (static_cast<int>(blockIdx.x) % mode_blocks)};
}

__device__ __forceinline__ void load_chunk(const EstimatorProgram& program, const DeviceModes& modes,
                                           const FoldedColumn* columns, const ColumnBlock& block, int k0,
                                           ProjectionShared& shared) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll 1
    for (int c = static_cast<int>(threadIdx.x) / warp_size; c < projection_columns; c += projection_warps) {
        const DeviceComplex x = c < block.count ? columns[c].at(k0 + lane) : DeviceComplex{0.0F, 0.0F};
        shared.columns[lane][2 * c] = x.re;
        shared.columns[lane][2 * c + 1] = x.im;
    }
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < chunk * projection_modes / 4; i += projection_threads) {
        const int k = i / (projection_modes / 4);
        const int mode = block.first_mode + 4 * (i % (projection_modes / 4));
        const bool is_there = k0 + k < modes.pilots && mode < modes.width;
        shared.modes[k][i % (projection_modes / 4)] =
            is_there ? *reinterpret_cast<const float4*>(modes.project + (k0 + k) * modes.width + mode)
                     : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    }
}

/// Adds the products of a chunk's pilots, one after the other.
__device__ __forceinline__ void add_products(const ProjectionShared& shared, int pilots,
                                             float (&sums)[columns_of_thread][modes_of_thread]) {
    const int tx = static_cast<int>(threadIdx.x) % column_lanes;
    const int ty = static_cast<int>(threadIdx.x) / column_lanes;
#pragma unroll 4
    for (int k = 0; k < pilots; ++k) {
        const float4 row = shared.modes[k][ty];
#pragma unroll
        for (int c = 0; c < columns_of_thread; ++c) {
            const float x = shared.columns[k][tx + c * column_lanes];
            sums[c][0] = Ops::fma(row.x, x, sums[c][0]);
            sums[c][1] = Ops::fma(row.y, x, sums[c][1]);
            sums[c][2] = Ops::fma(row.z, x, sums[c][2]);
            sums[c][3] = Ops::fma(row.w, x, sums[c][3]);
        }
    }
}

/// A lane a pilot of the chunk, a warp a column.
__device__ __forceinline__ void add_energies(const ProjectionShared& shared,
                                             float (&energies)[sums_of_warp]) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
#pragma unroll
    for (int i = 0; i < sums_of_warp; ++i) {
        const int c = warp + i * projection_warps;
        const float x = c < real_columns ? shared.columns[lane][c] : 0.0F;
        energies[i] = Ops::fma(x, x, energies[i]);
    }
}

__device__ __forceinline__ void store_modes(const EstimatorProgram& program, float* out,
                                            const ColumnBlock& block, int width, int mode,
                                            const float (&sums)[columns_of_thread][modes_of_thread]) {
#pragma unroll
    for (int c = 0; c < columns_of_thread; ++c) {
        const int column = static_cast<int>(threadIdx.x) % column_lanes + c * column_lanes;
        if (column / 2 >= block.count || mode >= width) continue;
        const int place = place_of_column(program, block.first + column / 2, column % 2);
        float* const to = out + static_cast<std::size_t>(place) * static_cast<unsigned>(width) + mode;
        *reinterpret_cast<float4*>(to) = make_float4(sums[c][0], sums[c][1], sums[c][2], sums[c][3]);
    }
}

__device__ __forceinline__ void store_energies(const EstimatorProgram& program, float* column_sums,
                                               const ColumnBlock& block,
                                               const float (&energies)[sums_of_warp]) {
#pragma unroll
    for (int i = 0; i < sums_of_warp; ++i) {
        const int c = static_cast<int>(threadIdx.x) / warp_size + i * projection_warps;
        const float energy = joined_warp(energies[i]);
        if (threadIdx.x % warp_size != 0 || c / 2 >= block.count) continue;
        const int place = place_of_column(program, block.first + c / 2, c % 2);
        column_sums[2 * ((block.kind == 1 ? 0 : program.columns[1]) + place)] = Ops::mul(0.5F, energy);
    }
}

/// A block computes projection_modes modes of projection_columns complex columns of a tile.
__global__ void __launch_bounds__(projection_threads)
    project_tiles(const EstimatorProgram* __restrict__ of_all, int joint_blocks, int mode_blocks) {
    __shared__ ProjectionShared shared;
    __shared__ FoldedColumn folded[projection_columns];
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.z;
    const DeviceTables& tables = tables_of(program, slot);
    if (static_cast<int>(blockIdx.y) >= tables.jobs_count) return;
    const EstimatorTileJob& job = tables.jobs[blockIdx.y];
    const DeviceFilter& filter = tables.filters[job.filter];
    const ColumnBlock block = block_of(program, joint_blocks, mode_blocks);
    const DeviceModes& modes = filter.kinds[block.kind];
    if (block.first_mode >= modes.width) return;
    if (static_cast<int>(threadIdx.x) < block.count)
        folded[threadIdx.x] = folded_column(program, slot, job, filter, block.kind,
                                            block.first + static_cast<int>(threadIdx.x));
    float sums[columns_of_thread][modes_of_thread] = {};
    float energies[sums_of_warp] = {};
    for (int k0 = 0; k0 < modes.pilots; k0 += chunk) {
        __syncthreads();
        load_chunk(program, modes, folded, block, k0, shared);
        __syncthreads();
        add_products(shared, min(chunk, modes.pilots - k0), sums);
        if (block.first_mode == 0) add_energies(shared, energies);
    }
    const int mode = block.first_mode + modes_of_thread * (static_cast<int>(threadIdx.x) / column_lanes);
    store_modes(program, modes_of(program, slot, job, filter, block.kind), block, modes.width, mode, sums);
    if (block.first_mode != 0) return;
    store_energies(program,
                   program.column_sums +
                       2 * (std::size_t{slot} * static_cast<unsigned>(program.most_jobs) + blockIdx.y) *
                           static_cast<unsigned>(program.columns[0] + program.columns[1]),
                   block, energies);
}

/// A block a tile and slot: a warp a column.
__global__ void __launch_bounds__(estimator_threads)
    sum_residuals(const EstimatorProgram* __restrict__ of_all) {
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.y;
    const DeviceTables& tables = tables_of(program, slot);
    if (static_cast<int>(blockIdx.x) >= tables.jobs_count) return;
    const EstimatorTileJob& job = tables.jobs[blockIdx.x];
    const DeviceFilter& filter = tables.filters[job.filter];
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int columns = program.columns[0] + program.columns[1];
    const std::size_t of_job = std::size_t{slot} * static_cast<unsigned>(program.most_jobs) + blockIdx.x;
    float* const column_sums = program.column_sums + 2 * of_job * static_cast<unsigned>(columns);
    for (int column = warp; column < columns; column += estimator_threads / warp_size) {
        const int kind = column < program.columns[1] ? 1 : 0;
        const int place = kind == 1 ? column : column - program.columns[1];
        const DeviceModes& modes = filter.kinds[kind];
        const float* const numbers = modes_of(program, slot, job, filter, kind) +
                                     static_cast<std::size_t>(place) * static_cast<unsigned>(modes.width);
        float sum = 0.0F;
        for (int i = lane; i < modes.width; i += warp_size)
            sum = Ops::fma(Ops::mul(numbers[i], modes.keep[i]), numbers[i], sum);
        sum = joined_warp(sum);
        if (lane == 0) column_sums[2 * column + 1] = Ops::sub(column_sums[2 * column], sum);
    }
    __syncthreads();
    const int i = static_cast<int>(threadIdx.x);
    if (i >= 2 * program.streams_count) return;
    const int stream = i / 2;
    const int kind = program.constants.joint[stream];
    const int of_stream = program.columns[kind] / program.kind_streams[kind];
    const int first = (kind == 1 ? 0 : program.columns[1]) + program.place[stream] * of_stream;
    float sum = 0.0F;
    for (int column = first; column < first + of_stream; ++column)
        sum = Ops::add(sum, column_sums[2 * column + i % 2]);
    program.job_sums[of_job * 2 * static_cast<unsigned>(program.streams_count) + threadIdx.x] = sum;
}

__device__ void write_estimate(const EstimatorProgram& program, const DeviceTables& tables,
                               const float* of_noise, const SlotState& state, SlotEstimate& out) {
    float error = 0.0F;
    float power = 0.0F;
    float ports = 0.0F;
    for (int s = 0; s < program.streams_count; ++s) {
        float of_stream = 0.0F;
        for (int f = 0; f < tables.filters_count; ++f) {
            const DeviceModes& modes = tables.filters[f].kinds[program.constants.joint[s]];
            of_stream = Ops::fma(tables.shares[f],
                                 Ops::fma(of_noise[f * program.streams_count + s], state.noise_over_power[s],
                                          modes.unresolved),
                                 of_stream);
        }
        const float of_ports = Ops::mul(program.constants.ports[s], state.power[s]);
        error = Ops::fma(of_ports, of_stream, error);
        power = Ops::add(power, of_ports);
        ports = Ops::add(ports, program.constants.ports[s]);
    }
    const float spacing = program.constants.subcarrier_spacing;
    out.noise_variance = state.noise_variance;
    out.channel_error = Ops::div(error, ports);
    out.channel_power = Ops::div(power, ports);
    out.timing_offset = Ops::div(state.step, spacing);
    out.frequency_offset = Ops::mul(state.frequency_offset, spacing);
    out.delay_spread = Ops::div(state.delay_spread, spacing);
    out.coherence = state.coherence;
    out.reserved = 0.0F;
}

/// A thread a sum of a stream over the slot's tiles: energies, then residuals.
__device__ __forceinline__ void join_tiles(const EstimatorProgram& program, const DeviceTables& tables,
                                           unsigned slot, float (&sums)[2][phy::detail::most_streams]) {
    const int streams = program.streams_count;
    const int i = static_cast<int>(threadIdx.x);
    if (i >= 2 * streams) return;
    const float* const job_sums =
        program.job_sums + 2 * std::size_t{slot} * static_cast<unsigned>(program.most_jobs * streams);
    float sum = 0.0F;
    for (int job = 0; job < tables.jobs_count; ++job)
        sum = Ops::add(sum, job_sums[2 * job * streams + i]);
    sums[i % 2][i / 2] = sum;
}

/// A warp a filter and stream: gains, and what of the noise they let through.
__device__ __forceinline__ void set_gains(const EstimatorProgram& program, const DeviceTables& tables,
                                          unsigned slot, const SlotState& state, float* of_noise) {
    const int streams = program.streams_count;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    for (int each = static_cast<int>(threadIdx.x) / warp_size; each < tables.filters_count * streams;
         each += estimator_threads / warp_size) {
        const int stream = each % streams;
        const DeviceModes& modes = tables.filters[each / streams].kinds[program.constants.joint[stream]];
        float* const gains =
            program.gains + (std::size_t{slot} * static_cast<unsigned>(program.most_filters * streams) +
                             static_cast<unsigned>(each)) *
                                static_cast<unsigned>(program.most_width);
        float sum = 0.0F;
        for (int mode = lane; mode < modes.width; mode += warp_size) {
            const float gain =
                phy::detail::cuda::wiener_gain<Ops>(modes.lambda[mode], state.noise_over_power[stream]);
            gains[mode] = gain;
            sum = Ops::fma(modes.error[mode], gain, sum);
        }
        sum = joined_warp(sum);
        if (lane == 0) of_noise[each] = sum;
    }
}

/// A block a slot.
__global__ void __launch_bounds__(estimator_threads)
    measure_noise(const EstimatorProgram* __restrict__ of_all, SlotEstimate* estimates) {
    __shared__ float sums[2][phy::detail::most_streams];
    __shared__ float of_noise[most_filter_streams];
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.x;
    const DeviceTables& tables = tables_of(program, slot);
    SlotState& state = program.states[slot];
    const int i = static_cast<int>(threadIdx.x);
    join_tiles(program, tables, slot, sums);
    __syncthreads();
    if (i == 0) phy::detail::cuda::set_noise<Ops>(program.constants, tables.facts, sums[0], sums[1], state);
    __syncthreads();
    set_gains(program, tables, slot, state, of_noise);
    __syncthreads();
    SlotEstimate& out = estimates[slot];
    auto* const phases = reinterpret_cast<float*>(out.phase.data());
    if (i < symbols_per_slot) {
        phases[2 * i] = state.phase_re[i];
        phases[2 * i + 1] = state.phase_im[i];
    }
    if (i == 0) write_estimate(program, tables, of_noise, state, out);
}

}  // namespace

void start_projection(const EstimatorProgram& host, const EstimatorProgram* program, const EstimatorJob& job,
                      cudaStream_t stream) {
    const int joint_blocks = blocks_of(host.columns[1] / 2, projection_columns);
    const int single_blocks = blocks_of(host.columns[0] / 2, projection_columns);
    const int mode_blocks = blocks_of(host.most_width, projection_modes);
    const auto jobs = static_cast<unsigned>(host.most_jobs);
    const dim3 blocks(static_cast<unsigned>((joint_blocks + single_blocks) * mode_blocks), jobs, job.slots);
    project_tiles<<<blocks, projection_threads, 0, stream>>>(program, joint_blocks, mode_blocks);
    sum_residuals<<<dim3(jobs, job.slots), estimator_threads, 0, stream>>>(program);
    measure_noise<<<job.slots, estimator_threads, 0, stream>>>(program, job.estimates);
    check(cudaGetLastError());
}

void prepare_projection() {
    load_code(project_tiles);
    load_code(sum_residuals);
    load_code(measure_noise);
}

}  // namespace phy::gpu::detail
