// Pilots to the channel's modes.

#include "phy/channel/estimator/cuda/device.cuh"
#include "phy/channel/estimator/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

constexpr int chunk = warp_size;  // pilots at a time
constexpr int real_columns = 2 * projection_columns;
constexpr int column_lanes = real_columns / columns_of_thread;
constexpr int projection_warps = projection_threads / warp_size;
constexpr int sums_of_warp = (real_columns + projection_warps - 1) / projection_warps;

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

__device__ __forceinline__ void load_chunk(const EstimatorProgram& program, const DeviceModes& modes,
                                           const FoldedColumn* columns, int count, int first_mode, int k0,
                                           ProjectionShared& shared) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
#pragma unroll 1
    for (int c = static_cast<int>(threadIdx.x) / warp_size; c < projection_columns; c += projection_warps) {
        const DeviceComplex x = c < count ? columns[c].at(k0 + lane) : DeviceComplex{0.0F, 0.0F};
        shared.columns[lane][2 * c] = x.re;
        shared.columns[lane][2 * c + 1] = x.im;
    }
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < chunk * projection_modes / 4; i += projection_threads) {
        const int k = i / (projection_modes / 4);
        const int mode = first_mode + 4 * (i % (projection_modes / 4));
        const bool is_there = k0 + k < modes.pilots && mode < modes.width;
        shared.modes[k][i % (projection_modes / 4)] =
            is_there ? *reinterpret_cast<const float4*>(modes.project + (k0 + k) * modes.width + mode)
                     : make_float4(0.0F, 0.0F, 0.0F, 0.0F);
    }
}

/// The complex columns of a block.
struct ColumnBlock {
    int kind;
    int first;
    int count;
};

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
    const int column_block = static_cast<int>(blockIdx.x) / mode_blocks;
    const int kind = column_block < joint_blocks ? 1 : 0;
    const int first_column = projection_columns * (kind == 1 ? column_block : column_block - joint_blocks);
    const int first_mode = projection_modes * (static_cast<int>(blockIdx.x) % mode_blocks);
    const DeviceModes& modes = filter.kinds[kind];
    if (first_mode >= modes.width) return;
    const int count = min(projection_columns, program.columns[kind] / 2 - first_column);
    if (static_cast<int>(threadIdx.x) < count)
        folded[threadIdx.x] =
            folded_column(program, slot, job, filter, kind, first_column + static_cast<int>(threadIdx.x));
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int tx = static_cast<int>(threadIdx.x) % column_lanes;
    const int ty = static_cast<int>(threadIdx.x) / column_lanes;
    float sums[columns_of_thread][modes_of_thread] = {};
    float energies[sums_of_warp] = {};
    for (int k0 = 0; k0 < modes.pilots; k0 += chunk) {
        __syncthreads();
        load_chunk(program, modes, folded, count, first_mode, k0, shared);
        __syncthreads();
        const int here = min(chunk, modes.pilots - k0);
#pragma unroll 4
        for (int k = 0; k < here; ++k) {
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
        if (first_mode != 0) continue;
#pragma unroll
        for (int i = 0; i < sums_of_warp; ++i) {
            const int c = warp + i * projection_warps;
            const float x = c < real_columns ? shared.columns[lane][c] : 0.0F;
            energies[i] = Ops::fma(x, x, energies[i]);
        }
    }
    const ColumnBlock block = {kind, first_column, count};
    store_modes(program, modes_of(program, slot, job, filter, kind), block, modes.width,
                first_mode + modes_of_thread * ty, sums);
    if (first_mode != 0) return;
    store_energies(program,
                   program.column_sums +
                       2 * (std::size_t{slot} * static_cast<unsigned>(program.most_jobs) + blockIdx.y) *
                           static_cast<unsigned>(program.columns[0] + program.columns[1]),
                   block, energies);
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
    check(cudaGetLastError());
}

void prepare_projection() {
    load_code(project_tiles);
}

}  // namespace phy::gpu::detail
