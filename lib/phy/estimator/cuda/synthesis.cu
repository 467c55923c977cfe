// Turns the modes of the channel into coefficients, and writes a slot's estimate.

#include <algorithm>
#include <type_traits>

#include "phy/cuda/shared_memory.hpp"
#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

constexpr int max_filters = 32;  ///< lengths of windows

/// Work per block and thread of synthesize_tiles().
struct UsualSynthesis {
    static constexpr int group = synthesis_group;
    static constexpr int columns = synthesis_columns;
    static constexpr int loads_at_once = 6;
    static constexpr int blocks_of_multiprocessor = 4;  ///< that registers allow
};
struct SmallSynthesis {
    static constexpr int group = synthesis_group_if_few;
    static constexpr int columns = synthesis_columns_if_few;
    static constexpr int loads_at_once = 16;
    static constexpr int blocks_of_multiprocessor = 2;
};

/// Real columns of a stream's combs in shared memory: (combs, columns, parts).
template <class Size>
constexpr int shared_row = 4 * Size::group;

/// The work of a block: a stream's columns of some antennas and estimates in a tile.
struct Part {
    int stream;
    int kind;
    int combs;  ///< or ports
    int first;  ///< column
    int count;
    const DeviceFilter* filter;
    const DeviceKind* of_kind;
    const DeviceTileShape* shape;
    const EstimatorTileJob* job;
};

/// Writes modes to shared memory: (modes, shared_row).
template <class Size>
__device__ __forceinline__ void load_modes(const EstimatorProgram& program, unsigned slot, const Part& part,
                                           float* columns) {
    const EstimatorModes& modes = part.of_kind->modes;
    const int width = modes.width();
    const int in_group = program.antennas * program.estimates;
    const float* const from =
        modes_of(program, slot, *part.job, *part.filter, part.kind) +
        static_cast<std::size_t>(program.index_in_kind[part.stream] * part.combs * 2 * in_group +
                                 part.first) *
            static_cast<unsigned>(width);
    constexpr int row = shared_row<Size>;
    const int all = row / 2 * part.combs;
    const int even_fours = (modes.counts[0] + 3) / 4;
    const int fours = even_fours + (modes.counts[1] + 3) / 4;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < all * fours; i += synthesis_threads) {
        const int to = i % all;  // (combs, columns, parts)
        const int column = to / 2 % Size::group;
        if (column >= part.count) continue;
        const int of_comb = 2 * (to / (2 * Size::group)) + to % 2;
        const int four = i / all;
        const int mode = four < even_fours ? 4 * four : modes.part(0) + 4 * (four - even_fours);
        const float4 x =
            *reinterpret_cast<const float4*>(from + (of_comb * in_group + column) * width + mode);
        columns[mode * row + to] = x.x;
        columns[(mode + 1) * row + to] = x.y;
        columns[(mode + 2) * row + to] = x.z;
        columns[(mode + 3) * row + to] = x.w;
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

/// Multiplies by M: writes (modes of the tile, shared_row). A thread has some columns of a row.
template <class Size>
__device__ __forceinline__ void mix_modes(const Part& part, const float* mix, const float* columns,
                                          float* mixed) {
    const EstimatorModes& modes = part.of_kind->modes;
    const EstimatorModes& of_tile = part.shape->modes;
    const int width = of_tile.width();
    const int tile_modes = of_tile.modes();
    const int groups = (part.count + 1) / 2;  // of four real columns, in a comb
    for (int i = static_cast<int>(threadIdx.x); i < part.combs * groups * tile_modes;
         i += synthesis_threads) {
        const int mode = i % tile_modes;
        const int group = i / tile_modes;
        const int n = mode < of_tile.counts[0] ? mode : mode - of_tile.counts[0] + of_tile.part(0);
        const int column = 2 * (group / groups * Size::group) + 4 * (group % groups);
        float4 sums = {0.0F, 0.0F, 0.0F, 0.0F};
        for (int parity = 0; parity < 2; ++parity) {
            const float* const rows = mix + n + (parity == 0 ? 0 : modes.counts[0] * width);
            const float* const from = columns + column + (parity == 0 ? 0 : modes.part(0) * shared_row<Size>);
            in_batches<Size::loads_at_once>(modes.counts[parity], [&](auto batch, int first) {
                float m[batch()];
#pragma unroll
                for (int k = 0; k < batch(); ++k)
                    m[k] = rows[(first + k) * width];
#pragma unroll
                for (int k = 0; k < batch(); ++k) {
                    const float4 x = *reinterpret_cast<const float4*>(from + (first + k) * shared_row<Size>);
                    sums = {Ops::fma(m[k], x.x, sums.x), Ops::fma(m[k], x.y, sums.y),
                            Ops::fma(m[k], x.z, sums.z), Ops::fma(m[k], x.w, sums.w)};
                }
            });
        }
        *reinterpret_cast<float4*>(mixed + n * shared_row<Size> + column) = sums;
    }
}

__device__ __forceinline__ void write(const EstimatorProgram& program, float* channel, unsigned slot,
                                      int column, int layer, int subcarrier, DeviceComplex h,
                                      DeviceComplex ramp) {
    const int antenna = column / program.estimates;
    const int estimate = column % program.estimates;
    const int row = (estimate * program.antennas + antenna) * program.layers + layer;
    const auto subcarriers = static_cast<unsigned>(program.subcarriers);
    const std::size_t rows = std::size_t{static_cast<unsigned>(program.estimates)} *
                             static_cast<unsigned>(program.antennas * program.layers);
    float* const out = channel + 2 * (slot * rows + static_cast<unsigned>(row)) * subcarriers;
    const DeviceComplex rotated = phy::detail::cuda::times_conjugate<Ops>(h, ramp);
    out[subcarrier] = rotated.re;
    out[subcarriers + static_cast<unsigned>(subcarrier)] = rotated.im;
}

/// Adds modes of one parity at position i for some columns.
template <class Size, int columns>
__device__ __forceinline__ void add_modes(const float* synthesize, int width, int count, const float* mixed,
                                          DeviceComplex (&sums)[columns]) {
    in_batches<Size::loads_at_once>(count, [&](auto batch, int first) {
        float v[batch()];
#pragma unroll
        for (int k = 0; k < batch(); ++k)
            v[k] = __ldg(synthesize + (first + k) * width);
#pragma unroll
        for (int k = 0; k < batch(); ++k) {
#pragma unroll
            for (int c = 0; c < columns; c += 2) {
                const float4 u =
                    *reinterpret_cast<const float4*>(mixed + (first + k) * shared_row<Size> + 2 * c);
                sums[c] = {Ops::fma(v[k], u.x, sums[c].re), Ops::fma(v[k], u.y, sums[c].im)};
                sums[c + 1] = {Ops::fma(v[k], u.z, sums[c + 1].re), Ops::fma(v[k], u.w, sums[c + 1].im)};
            }
        }
    });
}

/// A comb's channel at a position of the tile, for some columns.
template <class Size, int columns>
__device__ __forceinline__ void synthesize(const DeviceTileShape& shape, int position, const float* mixed,
                                           DeviceComplex (&h)[columns]) {
    const int half = shape.positions / 2;
    const bool is_mirror = position >= (shape.positions + 1) / 2;
    const int i = is_mirror ? shape.positions - 1 - position : position;
    DeviceComplex even[columns] = {};
    DeviceComplex odd[columns] = {};
    add_modes<Size>(shape.synthesize + i, shape.half_width, shape.modes.counts[0], mixed, even);
    add_modes<Size>(shape.synthesize + shape.modes.counts[0] * shape.half_width + i, shape.half_width,
                    shape.modes.counts[1], mixed + shape.modes.part(0) * shared_row<Size>, odd);
#pragma unroll
    for (int c = 0; c < columns; ++c)
        h[c] = is_mirror   ? phy::detail::cuda::unfolded_mirror<Ops>(even[c], odd[c])
               : i == half ? even[c]
                           : phy::detail::cuda::unfolded<Ops>(even[c], odd[c]);
}

/// Writes one subcarrier of a tile for some columns.
template <class Size, int combs>
__device__ __forceinline__ void write_subcarrier(const EstimatorProgram& program, unsigned slot,
                                                 const Part& part, int n, int first, const float* mixed,
                                                 float* channel) {
    constexpr int columns = Size::columns / combs > 2 ? Size::columns / combs : 2;
    const EstimatorStream& stream = program.streams[part.stream];
    const EstimatorTile& tile = part.job->tile;
    const DeviceTileShape& shape = *part.shape;
    const int position = n + (tile.first - tile.window) * subcarriers_per_resource_block -
                         program.groups[stream.group] - shape.begin;
    const int subcarrier =
        (program.ranges[part.job->range].first + tile.first) * subcarriers_per_resource_block + n;
    const DeviceComplex ramp =
        phy::detail::cuda::phasor<Ops>(static_cast<float>(subcarrier), program.states[slot].step);
    DeviceComplex h[combs][columns];
#pragma unroll
    for (int comb = 0; comb < combs; ++comb)
        synthesize<Size>(shape, position - comb * program.comb_shift,
                         mixed + 2 * (comb * Size::group + first), h[comb]);
#pragma unroll
    for (int c = 0; c < columns; ++c) {
        if (first + c >= part.count) continue;
        const int column = part.first + first + c;
        if constexpr (combs == 1) {
            write(program, channel, slot, column, max(stream.layer[0], stream.layer[1]), subcarrier, h[0][c],
                  ramp);
        } else {
            const DeviceComplex x = h[0][c];
            const DeviceComplex y = h[1][c];
            write(program, channel, slot, column, stream.layer[0], subcarrier,
                  {Ops::add(x.re, y.re), Ops::add(x.im, y.im)}, ramp);
            write(program, channel, slot, column, stream.layer[1], subcarrier,
                  {Ops::sub(x.re, y.re), Ops::sub(x.im, y.im)}, ramp);
        }
    }
}

template <class Size, int combs>
__device__ __forceinline__ void write_tile(const EstimatorProgram& program, unsigned slot, const Part& part,
                                           int split, int splits, const float* mixed, float* channel) {
    constexpr int columns = Size::columns / combs > 2 ? Size::columns / combs : 2;
    const int subcarriers = part.job->tile.blocks * subcarriers_per_resource_block;
    const int items = (part.count + columns - 1) / columns * subcarriers;
    for (int i = split * synthesis_threads + static_cast<int>(threadIdx.x); i < items;
         i += splits * synthesis_threads)
        write_subcarrier<Size, combs>(program, slot, part, i % subcarriers, i / subcarriers * columns, mixed,
                                      channel);
}

/// All threads of a block call it.
__device__ __forceinline__ void write_estimate(const EstimatorProgram& program, unsigned slot,
                                               SlotEstimate& out) {
    __shared__ float words[sizeof(SlotState) / sizeof(float)];
    __shared__ float errors[2 * max_filters];
    const int filters = program.largest.filters;
    const auto* const of_slot = reinterpret_cast<const float*>(program.states + slot);
    for (int i = thread(); i < static_cast<int>(sizeof(SlotState) / sizeof(float)); i += synthesis_threads)
        words[i] = of_slot[i];
    for (int i = thread(); i < 2 * filters; i += synthesis_threads)
        errors[i] =
            program.errors[std::size_t{slot} * static_cast<unsigned>(2 * filters) + static_cast<unsigned>(i)];
    __syncthreads();
    const SlotState& state = *reinterpret_cast<const SlotState*>(words);
    auto* const phases = reinterpret_cast<float*>(out.phase.data());
    if (threadIdx.x < symbols_per_slot) {
        phases[2 * threadIdx.x] = state.phase_re[threadIdx.x];
        phases[2 * threadIdx.x + 1] = state.phase_im[threadIdx.x];
    }
    if (threadIdx.x == 0)
        phy::detail::cuda::set_estimate<Ops>(program.constants, state, filters, program.shares, errors, out);
}

/// The blocks of gridDim.y share the tiles of a slot. If a slot has few tiles, several blocks share one: each
/// computes the full product with M, and its part of the product with V. The last block of a slot's first
/// column writes its estimate.
template <class Size>
__global__ void __launch_bounds__(synthesis_threads, Size::blocks_of_multiprocessor)
    synthesize_tiles(const __grid_constant__ EstimatorProgram program, float* channel,
                     SlotEstimate* estimates, int parts) {
    extern __shared__ float4 shared[];
    let_next_get_ready();
    wait_for_previous();
    const unsigned slot = blockIdx.z;
    if (blockIdx.x == 0 && blockIdx.y + 1 == gridDim.y) write_estimate(program, slot, estimates[slot]);
    const int jobs = program.largest.jobs;
    const int split = static_cast<int>(blockIdx.y) / jobs;
    Part part;
    part.stream = static_cast<int>(blockIdx.x) / parts;
    part.kind = program.constants.joint[part.stream];
    part.combs = part.kind == 1 ? 2 : 1;
    part.first = Size::group * (static_cast<int>(blockIdx.x) % parts);
    part.count = min(Size::group, program.antennas * program.estimates - part.first);
    part.job = &program.jobs[static_cast<int>(blockIdx.y) % jobs];
    part.filter = &program.filters[part.job->filter];
    part.of_kind = &part.filter->kinds[part.kind];
    part.shape = &part.of_kind->shapes[part.job->tile.shape];
    const int items = part.job->tile.blocks * subcarriers_per_resource_block *
                      ((part.combs * part.count + Size::columns - 1) / Size::columns);
    const int room = synthesis_blocks_of_all / (static_cast<int>(gridDim.x * gridDim.z) * jobs);
    const int useful = (items + synthesis_threads - 1) / synthesis_threads;
    const int splits = min(static_cast<int>(gridDim.y) / jobs, max(1, min(room, useful)));
    if (split >= splits) return;
    auto* const modes = reinterpret_cast<float*>(shared);
    float* const mixed = modes + shared_row<Size> * program.largest.width;
    const float* const mix = program.mix +
                             (std::size_t{slot} * static_cast<unsigned>(2 * program.largest.filters) +
                              static_cast<unsigned>(2 * part.job->filter + part.kind)) *
                                 program.largest.mix +
                             part.shape->mix_at;
    load_modes<Size>(program, slot, part, modes);
    __syncthreads();
    mix_modes<Size>(part, mix, modes, mixed);
    __syncthreads();
    if (part.kind == 1)
        write_tile<Size, 2>(program, slot, part, split, splits, mixed, channel);
    else
        write_tile<Size, 1>(program, slot, part, split, splits, mixed, channel);
}

/// A block per slot and row of the channel.
__global__ void __launch_bounds__(warp_size)
    erase_subcarriers(const __grid_constant__ EstimatorProgram program, float* channel) {
    const std::size_t row = std::size_t{blockIdx.y} * gridDim.x + blockIdx.x;
    float* const out = channel + 2 * row * static_cast<unsigned>(program.subcarriers);
    for (int i = static_cast<int>(threadIdx.x); i < program.erased_count; i += warp_size) {
        out[program.erased[i]] = 0.0F;
        out[program.subcarriers + program.erased[i]] = 0.0F;
    }
}

template <class Size>
std::size_t shared_bytes(const EstimatorProgram& host) {
    return sizeof(float) * shared_row<Size> *
           static_cast<std::size_t>(host.largest.width + host.largest.tile_width);
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
                     shared_bytes<Size>(host), stream, host, job.channel, job.estimates,
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
    if (host.erased_count == 0) return;
    const int rows = host.estimates * host.antennas * host.layers;
    erase_subcarriers<<<dim3(static_cast<unsigned>(rows), job.slots), warp_size, 0, stream>>>(host,
                                                                                              job.channel);
    check(cudaGetLastError());
}

void prepare_synthesis() {
    load_code_with_shared_memory(synthesize_tiles<UsualSynthesis>);
    load_code_with_shared_memory(synthesize_tiles<SmallSynthesis>);
    load_code(erase_subcarriers);
}

}  // namespace phy::gpu::detail
