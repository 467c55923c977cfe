// Turns the modes of the channel into coefficients.

#include <algorithm>
#include <type_traits>

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

constexpr int max_ports = 2;  // per stream

/// Work per block and thread of synthesize_tiles().
struct UsualSynthesis {
    static constexpr int group = synthesis_group;
    static constexpr int columns = synthesis_columns;
    static constexpr int loads_at_once = 4;
    static constexpr int blocks_of_multiprocessor = 3;  ///< that registers allow
};
struct SmallSynthesis {
    static constexpr int group = synthesis_group_if_few;
    static constexpr int columns = synthesis_columns_if_few;
    static constexpr int loads_at_once = 16;
    static constexpr int blocks_of_multiprocessor = 2;
};

template <class Size>
constexpr int shared_row = max_ports* Size::group;

/// The work of a block: a stream's columns of some antennas and estimates in a tile.
struct Part {
    int stream;
    int kind;
    int combs;  ///< or ports
    int first;  ///< column
    int count;
    const DeviceFilter* filter;
    const EstimatorTileJob* job;
};

/// Writes modes times their gains to shared memory: (combs, parts, largest width, Size::group).
template <class Size>
__device__ __forceinline__ void load_modes(const EstimatorProgram& program, unsigned slot, const Part& part,
                                           float* columns) {
    const DeviceModes& modes = part.filter->kinds[part.kind];
    const int width = modes.width;
    const int in_group = program.antennas * program.estimates;
    const float* const gains =
        program.gains +
        (std::size_t{slot} * static_cast<unsigned>(program.largest.filters * program.streams_count) +
         static_cast<unsigned>(part.job->filter * program.streams_count + part.stream)) *
            static_cast<unsigned>(program.largest.width);
    const float* const from =
        modes_of(program, slot, *part.job, *part.filter, part.kind) +
        static_cast<std::size_t>(program.index_in_kind[part.stream] * part.combs * 2 * in_group +
                                 part.first) *
            static_cast<unsigned>(width);
    const int of_group = part.count * width;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < 2 * part.combs * of_group; i += synthesis_threads) {
        const int group = i / of_group;
        const int in_rows = i % of_group;
        const int mode = in_rows % width;
        columns[(group * program.largest.width + mode) * Size::group + in_rows / width] =
            Ops::mul(from[group * in_group * width + in_rows], gains[mode]);
    }
}

/// Calls add(std::integral_constant<int, n>, k) for all k below count, n at a time: first `many`, which load
/// together, then fewer.
template <int many, class Add>
__device__ __forceinline__ void in_batches(int count, Add add) {
    int k = 0;
#pragma unroll 1
    for (; k + many <= count; k += many)
        add(std::integral_constant<int, many>(), k);
    if constexpr (many > 4) {
#pragma unroll 1
        for (; k + 4 <= count; k += 4)
            add(std::integral_constant<int, 4>(), k);
    }
#pragma unroll 1
    for (; k < count; ++k)
        add(std::integral_constant<int, 1>(), k);
}

/// Adds row n of M times the modes of two columns, of each comb.
template <class Size, int combs>
__device__ __forceinline__ void add_mix(const float* mix, int width, int modes, const float* columns,
                                        int of_part, float (&sums)[combs][2]) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        in_batches<Size::loads_at_once>(modes, [&](auto batch, int first) {
            float m[batch()][combs];
#pragma unroll
            for (int i = 0; i < batch(); ++i) {
#pragma unroll
                for (int comb = 0; comb < combs; ++comb)
                    m[i][comb] = __ldg(mix + ((2 * comb + part) * modes + first + i) * width);
            }
#pragma unroll
            for (int i = 0; i < batch(); ++i) {
#pragma unroll
                for (int comb = 0; comb < combs; ++comb) {
                    const float2 x = *reinterpret_cast<const float2*>(columns + (2 * comb + part) * of_part +
                                                                      (first + i) * Size::group);
                    sums[comb][0] = Ops::fma(m[i][comb], x.x, sums[comb][0]);
                    sums[comb][1] = Ops::fma(m[i][comb], x.y, sums[comb][1]);
                }
            }
        });
    }
}

/// Multiplies by M, and writes the sums and differences of combs to (tile_modes, ports and columns, parts).
template <class Size, int combs>
__device__ __forceinline__ void mix_modes(const EstimatorProgram& program, const Part& part,
                                          const float* columns, float* mixed) {
    const DeviceFilter& filter = *part.filter;
    const DeviceModes& modes = filter.kinds[part.kind];
    const int variant = filter.tiles[part.job->tile].variant;
    const int group = variant * program.groups_count + program.streams[part.stream].group;
    const float* const mix = modes.mix + static_cast<std::size_t>(group * combs) * 2 *
                                             static_cast<unsigned>(modes.modes * filter.mix_width);
    const int rows = 2 * filter.tile_modes;
    for (int i = static_cast<int>(threadIdx.x); i < (part.count + 1) / 2 * rows; i += synthesis_threads) {
        const int n = i % rows;
        const int column = i / rows * 2;
        float sums[combs][2] = {};
        add_mix<Size, combs>(mix + n, filter.mix_width, modes.modes, columns + column,
                             program.largest.width * Size::group, sums);
        const bool is_imaginary = n >= filter.tile_modes;
        float* const to = mixed +
                          2 * ((is_imaginary ? n - filter.tile_modes : n) * shared_row<Size> + column) +
                          is_imaginary;
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            if (column + c >= part.count) continue;
            if constexpr (combs == 1) {
                to[2 * c] = sums[0][c];
            } else {
                to[2 * c] = Ops::add(sums[0][c], sums[1][c]);
                to[2 * (part.count + c)] = Ops::sub(sums[0][c], sums[1][c]);
            }
        }
    }
}

/// Finds the output rows of a block's ports and columns.
__device__ __forceinline__ void find_rows(const EstimatorProgram& program, const Part& part, int* rows) {
    const int i = static_cast<int>(threadIdx.x);
    if (i >= part.combs * part.count) return;
    const EstimatorStream& stream = program.streams[part.stream];
    const int column = part.first + i % part.count;
    const int layer = part.kind == 1 ? stream.layer[i / part.count] : max(stream.layer[0], stream.layer[1]);
    const int antenna = column / program.estimates;
    const int estimate = column % program.estimates;
    rows[i] = (estimate * program.antennas + antenna) * program.layers + layer;
}

__device__ __forceinline__ void write(const EstimatorProgram& program, float* channel, unsigned slot, int row,
                                      int subcarrier, DeviceComplex h, DeviceComplex ramp) {
    const auto subcarriers = static_cast<unsigned>(program.subcarriers);
    const std::size_t rows = std::size_t{static_cast<unsigned>(program.estimates)} *
                             static_cast<unsigned>(program.antennas * program.layers);
    float* const out = channel + 2 * (slot * rows + static_cast<unsigned>(row)) * subcarriers;
    const DeviceComplex rotated = phy::detail::cuda::times_conjugate<Ops>(h, ramp);
    out[subcarrier] = rotated.re;
    out[subcarriers + static_cast<unsigned>(subcarrier)] = rotated.im;
}

/// V times some ports and columns: the real part of V to a, the imaginary part to b.
template <class Size>
__device__ __forceinline__ void add_modes(const DeviceFilter& filter, int half, int n, const float* mixed,
                                          DeviceComplex (&a)[Size::columns],
                                          DeviceComplex (&b)[Size::columns]) {
    const float* const modes = filter.synthesize + n;
    const int width = filter.tile_width;
    in_batches<Size::loads_at_once>(filter.tile_modes, [&](auto batch, int first) {
        float of_a[batch()];
        float of_b[batch()];
#pragma unroll
        for (int i = 0; i < batch(); ++i) {
            of_a[i] = __ldg(modes + (first + i) * width);
            of_b[i] = __ldg(modes + (first + i) * width + half);
        }
#pragma unroll
        for (int i = 0; i < batch(); ++i) {
#pragma unroll
            for (int c = 0; c < Size::columns; c += 2) {
                const float4 u =
                    *reinterpret_cast<const float4*>(mixed + 2 * ((first + i) * shared_row<Size> + c));
                a[c] = {Ops::fma(of_a[i], u.x, a[c].re), Ops::fma(of_a[i], u.y, a[c].im)};
                b[c] = {Ops::fma(of_b[i], u.x, b[c].re), Ops::fma(of_b[i], u.y, b[c].im)};
                a[c + 1] = {Ops::fma(of_a[i], u.z, a[c + 1].re), Ops::fma(of_a[i], u.w, a[c + 1].im)};
                b[c + 1] = {Ops::fma(of_b[i], u.z, b[c + 1].re), Ops::fma(of_b[i], u.w, b[c + 1].im)};
            }
        }
    });
}

/// Writes one subcarrier of a tile and its mirror, for some ports and columns.
template <class Size>
__device__ __forceinline__ void synthesize(const EstimatorProgram& program, unsigned slot, const Part& part,
                                           int n, int count, const float* mixed, const int* rows,
                                           float* channel) {
    const DeviceFilter& filter = *part.filter;
    const EstimatorTile& tile = filter.tiles[part.job->tile];
    const int half = filter.tile_blocks * subcarriers_per_resource_block / 2;
    DeviceComplex a[Size::columns] = {};
    DeviceComplex b[Size::columns] = {};
    add_modes<Size>(filter, half, n, mixed, a, b);
    const int skipped = tile.skipped * subcarriers_per_resource_block;
    const int start = (program.ranges[part.job->range].first + tile.start) * subcarriers_per_resource_block;
    const int mirror = 2 * half - 1 - n;
    const float step = program.states[slot].step;
    const DeviceComplex ramp = phy::detail::cuda::phasor<Ops>(static_cast<float>(start + n), step);
    const DeviceComplex of_mirror = phy::detail::cuda::phasor<Ops>(static_cast<float>(start + mirror), step);
#pragma unroll
    for (int c = 0; c < Size::columns; ++c) {
        if (c >= count) continue;
        if (n >= skipped)
            write(program, channel, slot, rows[c], start + n, phy::detail::cuda::unfolded<Ops>(a[c], b[c]),
                  ramp);
        if (mirror >= skipped)
            write(program, channel, slot, rows[c], start + mirror,
                  phy::detail::cuda::unfolded_mirror<Ops>(a[c], b[c]), of_mirror);
    }
}

/// The blocks of gridDim.y share the tiles of a slot. If a slot has few tiles, several blocks share one: each
/// computes the full product with M, and its part of the product with V.
template <class Size>
__global__ void __launch_bounds__(synthesis_threads, Size::blocks_of_multiprocessor)
    synthesize_tiles(const __grid_constant__ EstimatorProgram program, float* channel, int parts) {
    extern __shared__ float4 shared[];
    __shared__ int rows[shared_row<Size>];
    let_next_get_ready();
    wait_for_previous();
    const unsigned slot = blockIdx.z;
    const DeviceEstimatorTables& tables = tables_of(program, slot);
    const int jobs = tables.jobs_count;
    const int split = static_cast<int>(blockIdx.y) / jobs;
    Part part;
    part.stream = static_cast<int>(blockIdx.x) / parts;
    part.kind = program.constants.joint[part.stream];
    part.combs = part.kind == 1 ? 2 : 1;
    part.first = Size::group * (static_cast<int>(blockIdx.x) % parts);
    part.count = min(Size::group, program.antennas * program.estimates - part.first);
    part.job = &tables.jobs[static_cast<int>(blockIdx.y) % jobs];
    part.filter = &tables.filters[part.job->filter];
    const int half = part.filter->tile_blocks * subcarriers_per_resource_block / 2;
    const int count = part.combs * part.count;
    const int items = (count + Size::columns - 1) / Size::columns * half;
    const int room = synthesis_blocks_of_all / (static_cast<int>(gridDim.x * gridDim.z) * jobs);
    const int useful = (items + synthesis_threads - 1) / synthesis_threads;
    const int splits = min(static_cast<int>(gridDim.y) / jobs, max(1, min(room, useful)));
    if (split >= splits) return;
    auto* const modes = reinterpret_cast<float*>(shared);
    float* const mixed = modes + 4 * Size::group * program.largest.width;
    find_rows(program, part, rows);
    load_modes<Size>(program, slot, part, modes);
    __syncthreads();
    if (part.kind == 1)
        mix_modes<Size, 2>(program, part, modes, mixed);
    else
        mix_modes<Size, 1>(program, part, modes, mixed);
    __syncthreads();
    for (int i = split * synthesis_threads + static_cast<int>(threadIdx.x); i < items;
         i += splits * synthesis_threads) {
        const int first = i / half * Size::columns;
        synthesize<Size>(program, slot, part, i % half, count - first, mixed + 2 * first, rows + first,
                         channel);
    }
}

template <class Size>
std::size_t shared_bytes(const EstimatorProgram& host) {
    return sizeof(float) * Size::group *
           (4 * static_cast<std::size_t>(host.largest.width) +
            2 * static_cast<std::size_t>(host.largest.mix_width));
}

/// The grid of a launch with one tile per block.
template <class Size>
dim3 synthesis_blocks(const EstimatorProgram& host, unsigned slots) {
    const int parts = (host.antennas * host.estimates + Size::group - 1) / Size::group;
    return {static_cast<unsigned>(host.streams_count * parts), static_cast<unsigned>(host.largest.jobs),
            slots};
}

template <class Size>
void start_tiles(const EstimatorProgram& host, const EstimatorJob& job, dim3 blocks, cudaStream_t stream) {
    launch_dependent(synthesize_tiles<Size>, starts_early(job.slots), blocks, synthesis_threads,
                     shared_bytes<Size>(host), stream, host, job.channel,
                     static_cast<int>(blocks.x) / host.streams_count);
}

}  // namespace

void start_synthesis(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    const dim3 blocks = synthesis_blocks<UsualSynthesis>(host, job.slots);
    if (blocks.x * blocks.y * blocks.z <= few_blocks) {
        dim3 small = synthesis_blocks<SmallSynthesis>(host, job.slots);
        small.y = std::max(small.y, unsigned{synthesis_units_if_few});
        start_tiles<SmallSynthesis>(host, job, small, stream);
    } else {
        start_tiles<UsualSynthesis>(host, job, blocks, stream);
    }
}

void prepare_synthesis(const EstimatorProgram& host) {
    const auto prepare = [](auto* kernel, std::size_t bytes) {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)));
        load_code(kernel);
    };
    prepare(synthesize_tiles<UsualSynthesis>, shared_bytes<UsualSynthesis>(host));
    prepare(synthesize_tiles<SmallSynthesis>, shared_bytes<SmallSynthesis>(host));
}

}  // namespace phy::gpu::detail
