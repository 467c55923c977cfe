// Projects pilots on the modes of the channel.

#include <cuda_pipeline.h>

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

/// The first pilot of a tile's window in the row of a column, and its mirror, the last one.
struct WindowOfColumn {
    const float* first;
    const float* last;
};

/// Complex column `column` of a kind: (streams, combs, antennas, estimates).
__device__ __forceinline__ WindowOfColumn window_of(const EstimatorProgram& program, unsigned slot,
                                                    const EstimatorTileJob& job, const DeviceFilter& filter,
                                                    int kind, int column) {
    const int in_group = program.antennas * program.estimates;
    const int combs = kind == 1 ? 2 : 1;
    const int group = column / in_group;
    const int comb = group % combs;
    const int index = group / combs;
    int stream = 0;
    for (; stream < program.streams_count; ++stream)
        if (program.constants.joint[stream] == kind && program.index_in_kind[stream] == index) break;
    const int antenna = column % in_group / program.estimates;
    const int estimate = column % program.estimates;
    const int stride = program.comb_stride;
    const int row = (antenna * program.streams_count + stream) * program.estimates + estimate;
    const float* const at = program.streams_at + slot * program.streams_size +
                            static_cast<std::size_t>(row) * 4 * static_cast<unsigned>(stride);
    const float* const other = at + 2 * stride;
    const int first = program.ranges[job.range].offset + job.tile.window * program.comb_pilots;
    const int last = first + filter.window_blocks * program.comb_pilots - 1;
    return {.first = (kind == 1 && comb == 1 ? other : at) + first,
            .last = (kind == 1 && comb == 0 ? at : other) + last};
}

constexpr int mode_vectors = projection_modes / 4;

/// Work per block and thread of project_tiles(). If a multiprocessor has few other warps, some warps load
/// while others add.
template <int of_thread>
struct Projection {
    static constexpr bool is_small = of_thread == 1;
    static constexpr int columns_of_thread = of_thread;
    static constexpr int real_columns = of_thread * projection_column_lanes;
    static constexpr int columns = real_columns / 2;
    static constexpr int first_loader = is_small ? projection_threads : 0;
    static constexpr int loader_warps = is_small ? columns : projection_threads / warp_size;
    static constexpr int loaders = loader_warps * warp_size;
    static constexpr int threads = first_loader + loaders;
    static constexpr int columns_of_warp = (columns + loader_warps - 1) / loader_warps;
    static constexpr int rounds = is_small ? 2 : 1;
    static constexpr int chunk = rounds * warp_size;  ///< pilots at a time
    static constexpr int pilots_at_once = is_small ? 16 : 4;
    static constexpr int blocks_of_multiprocessor = is_small ? 1 : 5;  ///< that registers allow
    static constexpr int row = real_columns + (is_small ? 2 : 4);

    static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
    static __device__ __forceinline__ bool adds() { return thread() < projection_threads; }
    static __device__ __forceinline__ bool loads() { return thread() >= first_loader; }
    static __device__ __forceinline__ int loader() { return thread() - first_loader; }
    static __device__ __forceinline__ int lane() { return thread() % warp_size; }
    static __device__ __forceinline__ int column_of_loader(int c) {
        return loader() / warp_size + c * loader_warps;
    }
};

/// Two chunks: one is loaded while the other is processed.
template <class Size>
struct ProjectionShared {
    float4 modes[2][Size::chunk][mode_vectors];
    alignas(16) float columns[2][Size::chunk][Size::row];
    const float* first[Size::columns];  ///< pilot of the window
    const float* last[Size::columns];   ///< of its mirror
};

__host__ __device__ __forceinline__ int blocks_of(int count, int each) {
    return (count + each - 1) / each;
}

/// The index of a block's real column among those of its kind: (streams, combs, parts, antennas, estimates).
__device__ __forceinline__ int index_of_column(const EstimatorProgram& program, int complex_column,
                                               int part) {
    const int in_group = program.antennas * program.estimates;
    return (2 * (complex_column / in_group) + part) * in_group + complex_column % in_group;
}

/// The modes of a block, all of one parity, and the folded pilots that they have.
struct ModeBlock {
    int first;
    int end;
    int first_pilot;
    int end_pilot;
    int end_energy;  ///< pilots up to here are added to the energies
};

__host__ __device__ __forceinline__ int mode_blocks_of(const EstimatorModes& modes) {
    return blocks_of(modes.part(0), projection_modes) + blocks_of(modes.part(1), projection_modes);
}

/// The energies of columns are summed by the block with the first modes.
__device__ __forceinline__ ModeBlock mode_block(const DeviceKind& kind, int index) {
    const int even = kind.modes.part(0);
    const int even_blocks = blocks_of(even, projection_modes);
    const int sums = (kind.pilots + 1) / 2;
    if (index < even_blocks)
        return {projection_modes * index, even, 0, sums, index == 0 ? kind.pilots : sums};
    return {even + projection_modes * (index - even_blocks), kind.modes.width(), sums, kind.pilots,
            kind.pilots};
}

/// The complex columns of a block.
struct ColumnBlock {
    int kind;
    int first;
    int count;
    int stride;
};

/// Starts to copy a chunk of U; fills with zeros beyond it.
template <class Size>
__device__ __forceinline__ void copy_modes(const DeviceKind& kind, const ModeBlock& modes, int k0,
                                           float4 (&to)[Size::chunk][mode_vectors]) {
#pragma unroll
    for (int i = 0; i < Size::chunk * mode_vectors / Size::loaders; ++i) {
        const int at = Size::loader() + i * Size::loaders;
        const int k = at / mode_vectors;
        const int mode = modes.first + 4 * (at % mode_vectors);
        const bool is_there = k0 + k < modes.end_pilot && mode < modes.end;
        const int from = is_there ? (k0 + k) * kind.modes.width() + mode : 0;
        __pipeline_memcpy_async(&to[k][at % mode_vectors], kind.project + from, sizeof(float4),
                                is_there ? 0 : sizeof(float4));
    }
    __pipeline_commit();
}

/// The part of a chunk that a thread folds: pilot `lane` of its warp's columns.
template <class Size>
struct FoldedChunk {
    DeviceComplex here[Size::columns_of_warp][Size::rounds];
    DeviceComplex there[Size::columns_of_warp][Size::rounds];

    __device__ __forceinline__ void load(const ProjectionShared<Size>& shared, const ColumnBlock& block,
                                         int pilots, int k0) {
        const int half = pilots / 2;
#pragma unroll
        for (int r = 0; r < Size::rounds; ++r) {
            const int k = k0 + r * warp_size + Size::lane();
            const int i = k < pilots - half ? k : k - (pilots - half);
#pragma unroll
            for (int c = 0; c < Size::columns_of_warp; ++c) {
                const int column = Size::column_of_loader(c);
                here[c][r] = {0.0F, 0.0F};
                there[c][r] = {0.0F, 0.0F};
                if (k >= pilots || column >= block.count) continue;
                here[c][r] = complex_at(shared.first[column], block.stride, i);
                there[c][r] = complex_at(shared.last[column], block.stride, -i);
            }
        }
    }

    /// Folds as SlotEstimator::fold_column(); adds to the energies of real columns.
    __device__ __forceinline__ void store(float (&to)[Size::chunk][Size::row], int pilots, int k0,
                                          float (&energies)[Size::columns_of_warp][2]) const {
        const int half = pilots / 2;
#pragma unroll
        for (int r = 0; r < Size::rounds; ++r) {
            const int of_chunk = r * warp_size + Size::lane();
            const int k = k0 + of_chunk;
            const bool is_middle = pilots % 2 != 0 && k == half;
#pragma unroll
            for (int c = 0; c < Size::columns_of_warp; ++c) {
                const int column = Size::column_of_loader(c);
                if (column >= Size::columns) continue;
                const auto x = is_middle ? phy::detail::cuda::folded_middle<Ops>(here[c][r])
                               : k < half
                                   ? phy::detail::cuda::folded_sum<Ops>(here[c][r], there[c][r])
                                   : phy::detail::cuda::folded_difference<Ops>(here[c][r], there[c][r]);
                energies[c][0] = Ops::fma(x.re, x.re, energies[c][0]);
                energies[c][1] = Ops::fma(x.im, x.im, energies[c][1]);
                *reinterpret_cast<float2*>(&to[of_chunk][2 * column]) = make_float2(x.re, x.im);
            }
        }
    }
};

template <int count>
__device__ __forceinline__ void load_columns(const float* from, float (&to)[count]) {
    static_assert(count == 1 || count == 4);
    if constexpr (count == 1) {
        to[0] = *from;
    } else {
        const float4 x = *reinterpret_cast<const float4*>(from);
        to[0] = x.x;
        to[1] = x.y;
        to[2] = x.z;
        to[3] = x.w;
    }
}

template <class Size>
using Sums = float[Size::columns_of_thread][modes_of_thread];

/// Adds `count` pilots of a chunk. All are loaded before the first is used, to wait only once.
template <int count, class Size>
__device__ __forceinline__ void add_pilots(const ProjectionShared<Size>& shared, int buffer, int first,
                                           Sums<Size>& sums) {
    const int tx = static_cast<int>(threadIdx.x) % projection_column_lanes;
    const int ty = static_cast<int>(threadIdx.x) / projection_column_lanes;
    float4 modes[count];
    float x[count][Size::columns_of_thread];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        modes[k] = shared.modes[buffer][first + k][ty];
        load_columns(&shared.columns[buffer][first + k][tx * Size::columns_of_thread], x[k]);
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
#pragma unroll
        for (int c = 0; c < Size::columns_of_thread; ++c) {
            sums[c][0] = Ops::fma(modes[k].x, x[k][c], sums[c][0]);
            sums[c][1] = Ops::fma(modes[k].y, x[k][c], sums[c][1]);
            sums[c][2] = Ops::fma(modes[k].z, x[k][c], sums[c][2]);
            sums[c][3] = Ops::fma(modes[k].w, x[k][c], sums[c][3]);
        }
    }
}

template <class Size>
__device__ __forceinline__ void add_chunk(const ProjectionShared<Size>& shared, int buffer, int pilots,
                                          Sums<Size>& sums) {
    int k = 0;
#pragma unroll 1
    for (; k + Size::pilots_at_once <= pilots; k += Size::pilots_at_once)
        add_pilots<Size::pilots_at_once>(shared, buffer, k, sums);
#pragma unroll 1
    for (; k < pilots; ++k)
        add_pilots<1>(shared, buffer, k, sums);
}

template <class Size>
__device__ __forceinline__ void store_modes(const EstimatorProgram& program, float* out,
                                            const ColumnBlock& block, int width, const ModeBlock& modes,
                                            const Sums<Size>& sums) {
    const int mode =
        modes.first + modes_of_thread * (static_cast<int>(threadIdx.x) / projection_column_lanes);
#pragma unroll
    for (int c = 0; c < Size::columns_of_thread; ++c) {
        const int column =
            static_cast<int>(threadIdx.x) % projection_column_lanes * Size::columns_of_thread + c;
        if (column / 2 >= block.count || mode >= modes.end) continue;
        const int index = index_of_column(program, block.first + column / 2, column % 2);
        float* const to = out + static_cast<std::size_t>(index) * static_cast<unsigned>(width) + mode;
        *reinterpret_cast<float4*>(to) = make_float4(sums[c][0], sums[c][1], sums[c][2], sums[c][3]);
    }
}

template <class Size>
__device__ __forceinline__ void store_energies(const EstimatorProgram& program, unsigned slot,
                                               const ColumnBlock& block,
                                               const float (&energies)[Size::columns_of_warp][2]) {
    float* const column_sums =
        program.column_sums +
        2 * (std::size_t{slot} * static_cast<unsigned>(program.largest.jobs) + blockIdx.y) *
            static_cast<unsigned>(program.columns[0] + program.columns[1]);
#pragma unroll
    for (int c = 0; c < Size::columns_of_warp; ++c) {
        const int column = Size::column_of_loader(c);
#pragma unroll
        for (int part = 0; part < 2; ++part) {
            const float energy = joined_warp(energies[c][part]);
            if (Size::lane() != 0 || column >= block.count) continue;
            const int index = index_of_column(program, block.first + column, part);
            column_sums[2 * ((block.kind == 1 ? 0 : program.columns[1]) + index)] = Ops::mul(0.5F, energy);
        }
    }
}

/// Adds all pilots of a block's columns, chunk by chunk.
template <class Size>
__device__ __forceinline__ void add_chunks(const DeviceKind& kind, const ColumnBlock& block,
                                           const ModeBlock& modes, ProjectionShared<Size>& shared,
                                           Sums<Size>& sums, float (&energies)[Size::columns_of_warp][2]) {
    FoldedChunk<Size> next;
    const int pilots = kind.pilots;
    if (Size::loads()) {
        next.load(shared, block, pilots, modes.first_pilot);
        next.store(shared.columns[0], pilots, modes.first_pilot, energies);
        if constexpr (Size::is_small) next.load(shared, block, pilots, modes.first_pilot + Size::chunk);
        __pipeline_wait_prior(0);
    }
    __syncthreads();
    int buffer = 0;
#pragma unroll 1
    for (int k0 = modes.first_pilot; k0 < modes.end_energy; k0 += Size::chunk) {
        const int next_k0 = k0 + Size::chunk;
        const bool has_next = next_k0 < modes.end_energy;
        if (Size::loads() && has_next) {
            copy_modes<Size>(kind, modes, next_k0, shared.modes[1 - buffer]);
            if constexpr (!Size::is_small) next.load(shared, block, pilots, next_k0);
        }
        if (Size::adds()) add_chunk(shared, buffer, min(Size::chunk, modes.end_pilot - k0), sums);
        if (!has_next) break;
        buffer = 1 - buffer;
        if (Size::loads()) {
            next.store(shared.columns[buffer], pilots, next_k0, energies);
            if constexpr (Size::is_small) next.load(shared, block, pilots, next_k0 + Size::chunk);
            __pipeline_wait_prior(0);
        }
        __syncthreads();
    }
}

/// A block computes projection_modes modes of Size::columns complex columns of a tile.
template <class Size>
__global__ void __launch_bounds__(Size::threads, Size::blocks_of_multiprocessor)
    project_tiles(const EstimatorProgram* __restrict__ of_all, int joint_blocks, int mode_blocks) {
    __shared__ ProjectionShared<Size> shared;
    const EstimatorProgram& program = *of_all;
    let_next_get_ready();
    wait_for_previous();
    const unsigned slot = blockIdx.z;
    const EstimatorTileJob& job = program.jobs[blockIdx.y];
    const DeviceFilter& filter = program.filters[job.filter];
    const int column_block = static_cast<int>(blockIdx.x) / mode_blocks;
    ColumnBlock block;
    block.kind = column_block < joint_blocks ? 1 : 0;
    block.first = Size::columns * (block.kind == 1 ? column_block : column_block - joint_blocks);
    block.count = min(Size::columns, program.columns[block.kind] / 2 - block.first);
    block.stride = program.comb_stride;
    const int index = static_cast<int>(blockIdx.x) % mode_blocks;
    const DeviceKind& kind = filter.kinds[block.kind];
    if (index >= mode_blocks_of(kind.modes)) return;
    const ModeBlock modes = mode_block(kind, index);
    if (Size::loads()) copy_modes<Size>(kind, modes, modes.first_pilot, shared.modes[0]);
    const int i = static_cast<int>(threadIdx.x);
    if (i < block.count) {
        const WindowOfColumn column = window_of(program, slot, job, filter, block.kind, block.first + i);
        shared.first[i] = column.first;
        shared.last[i] = column.last;
    }
    __syncthreads();
    Sums<Size> sums = {};
    float energies[Size::columns_of_warp][2] = {};
    add_chunks(kind, block, modes, shared, sums, energies);
    if (Size::adds())
        store_modes<Size>(program, modes_of(program, slot, job, filter, block.kind), block,
                          kind.modes.width(), modes, sums);
    if (Size::loads() && index == 0) store_energies<Size>(program, slot, block, energies);
}

template <class Size>
int column_blocks(const EstimatorProgram& host) {
    return blocks_of(host.columns[1] / 2, Size::columns) + blocks_of(host.columns[0] / 2, Size::columns);
}

template <class Size>
void start_tiles(const EstimatorProgram& host, const EstimatorProgram* program, unsigned slots,
                 cudaStream_t stream) {
    const int mode_blocks = host.mode_blocks;
    const dim3 blocks(static_cast<unsigned>(column_blocks<Size>(host) * mode_blocks),
                      static_cast<unsigned>(host.largest.jobs), slots);
    launch_dependent(project_tiles<Size>, starts_early(slots), blocks, Size::threads, 0, stream, program,
                     blocks_of(host.columns[1] / 2, Size::columns), mode_blocks);
}

using UsualProjection = Projection<columns_of_thread>;
using SmallProjection = Projection<columns_of_thread_if_few>;

}  // namespace

void start_projection(const EstimatorProgram& host, const EstimatorProgram* program, const EstimatorJob& job,
                      cudaStream_t stream) {
    if (static_cast<unsigned>(column_blocks<UsualProjection>(host)) * job.slots <= few_column_blocks)
        start_tiles<SmallProjection>(host, program, job.slots, stream);
    else
        start_tiles<UsualProjection>(host, program, job.slots, stream);
}

void prepare_projection() {
    load_code(project_tiles<UsualProjection>);
    load_code(project_tiles<SmallProjection>);
}

}  // namespace phy::gpu::detail
