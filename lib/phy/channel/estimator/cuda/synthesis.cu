// The channel's modes to coefficients.

#include "phy/channel/estimator/cuda/device.cuh"
#include "phy/channel/estimator/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

/// What a block works on: a stream's columns of some antennas and estimates in a tile.
struct Part {
    int stream;
    int kind;
    int combs;
    int first;  ///< of the columns
    int count;
    const DeviceFilter* filter;
    const EstimatorTileJob* job;
};

__device__ __forceinline__ int shared_columns(const EstimatorProgram& program) {
    return 4 * synthesis_group * program.most_width;
}

/// Modes times their gains to shared memory: (combs, parts, synthesis_group, most_width).
__device__ __forceinline__ void load_modes(const EstimatorProgram& program, unsigned slot, const Part& part,
                                           float* columns) {
    const DeviceModes& modes = part.filter->kinds[part.kind];
    const int in_group = program.antennas * program.estimates;
    const float* const gains =
        program.gains +
        (std::size_t{slot} * static_cast<unsigned>(program.most_filters * program.streams_count) +
         static_cast<unsigned>(part.job->filter * program.streams_count + part.stream)) *
            static_cast<unsigned>(program.most_width);
    const float* const from = modes_of(program, slot, *part.job, *part.filter, part.kind);
    const int first_group = program.place[part.stream] * part.combs * 2;
    for (int group = 0; group < 2 * part.combs; ++group) {
        for (int i = static_cast<int>(threadIdx.x); i < part.count * modes.width; i += estimator_threads) {
            const int column = i / modes.width;
            const int mode = i % modes.width;
            const std::size_t at =
                static_cast<std::size_t>((first_group + group) * in_group + part.first + column) *
                    static_cast<unsigned>(modes.width) +
                static_cast<unsigned>(mode);
            columns[(group * synthesis_group + column) * program.most_width + mode] =
                Ops::mul(from[at], gains[mode]);
        }
    }
}

/// M, to (combs, synthesis_group, most_mix).
__device__ __forceinline__ void mix_modes(const EstimatorProgram& program, const Part& part,
                                          const float* columns, float* mixed) {
    const DeviceModes& modes = part.filter->kinds[part.kind];
    const int width = part.filter->mix_width;
    const int variant = part.filter->tiles[part.job->tile].variant;
    const int group = variant * program.groups_count + program.streams[part.stream].group;
    for (int i = static_cast<int>(threadIdx.x); i < part.combs * part.count * width; i += estimator_threads) {
        const int n = i % width;
        const int column = i / width % part.count;
        const int comb = i / width / part.count;
        const float* const mix = modes.mix +
                                 static_cast<std::size_t>(group * part.combs + comb) * 2 *
                                     static_cast<unsigned>(modes.modes * width) +
                                 n;
        const float* const re = columns + (2 * comb * synthesis_group + column) * program.most_width;
        const float* const im = re + synthesis_group * program.most_width;
        float sum = 0.0F;
        for (int k = 0; k < modes.modes; ++k)
            sum = Ops::fma(mix[k * width], re[k], sum);
        for (int k = 0; k < modes.modes; ++k)
            sum = Ops::fma(mix[(modes.modes + k) * width], im[k], sum);
        mixed[(comb * synthesis_group + column) * program.most_mix + n] = sum;
    }
}

__device__ __forceinline__ void write(const EstimatorProgram& program, float* channel, unsigned slot, int row,
                                      int subcarrier, DeviceComplex h, DeviceComplex ramp) {
    const auto subcarriers = static_cast<unsigned>(program.subcarriers);
    const std::size_t rows = std::size_t{static_cast<unsigned>(program.estimates)} *
                             static_cast<unsigned>(program.antennas * program.layers);
    float* const out = channel + 2 * (slot * rows + static_cast<unsigned>(row)) * subcarriers;
    const DeviceComplex turned = phy::detail::cuda::times_conjugate<Ops>(h, ramp);
    out[subcarrier] = turned.re;
    out[subcarriers + static_cast<unsigned>(subcarrier)] = turned.im;
}

/// One subcarrier of a tile, its mirror, and synthesis_columns columns of a port.
__device__ __forceinline__ void synthesize(const EstimatorProgram& program, unsigned slot, const Part& part,
                                           int layer, int n, int first, const float* mixed, float* channel) {
    const DeviceFilter& filter = *part.filter;
    const EstimatorTile& tile = filter.tiles[part.job->tile];
    const int half = filter.tile_blocks * subcarriers_per_resource_block / 2;
    const float* const modes = filter.synthesize + n;
    DeviceComplex a[synthesis_columns] = {};
    DeviceComplex b[synthesis_columns] = {};
    const float* const u = mixed + first * program.most_mix;
    for (int k = 0; k < filter.tile_modes; ++k) {
        const float of_a = __ldg(modes + k * filter.tile_width);
        const float of_b = __ldg(modes + k * filter.tile_width + half);
#pragma unroll
        for (int c = 0; c < synthesis_columns; ++c) {
            const float re = u[c * program.most_mix + k];
            const float im = u[c * program.most_mix + filter.tile_modes + k];
            a[c] = {Ops::fma(of_a, re, a[c].re), Ops::fma(of_a, im, a[c].im)};
            b[c] = {Ops::fma(of_b, re, b[c].re), Ops::fma(of_b, im, b[c].im)};
        }
    }
    const int skipped = tile.skipped * subcarriers_per_resource_block;
    const int start = (program.ranges[part.job->range].first + tile.start) * subcarriers_per_resource_block;
    const int mirror = 2 * half - 1 - n;
    const float step = program.states[slot].step;
    const DeviceComplex ramp = phy::detail::cuda::turned<Ops>(static_cast<float>(start + n), step);
    const DeviceComplex of_mirror = phy::detail::cuda::turned<Ops>(static_cast<float>(start + mirror), step);
#pragma unroll
    for (int c = 0; c < synthesis_columns; ++c) {
        if (first + c >= part.count) continue;
        const int antenna = (part.first + first + c) / program.estimates;
        const int estimate = (part.first + first + c) % program.estimates;
        const int row = (estimate * program.antennas + antenna) * program.layers + layer;
        if (n >= skipped)
            write(program, channel, slot, row, start + n, phy::detail::cuda::unfolded<Ops>(a[c], b[c]), ramp);
        if (mirror >= skipped)
            write(program, channel, slot, row, start + mirror,
                  phy::detail::cuda::unfolded_mirror<Ops>(a[c], b[c]), of_mirror);
    }
}

__global__ void __launch_bounds__(estimator_threads)
    synthesize_tiles(const EstimatorProgram* __restrict__ of_all, float* channel, int parts) {
    extern __shared__ float shared[];
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.z;
    const DeviceTables& tables = tables_of(program, slot);
    if (static_cast<int>(blockIdx.y) >= tables.jobs_count) return;
    Part part;
    part.stream = static_cast<int>(blockIdx.x) / parts;
    part.kind = program.constants.joint[part.stream];
    part.combs = part.kind == 1 ? 2 : 1;
    part.first = synthesis_group * (static_cast<int>(blockIdx.x) % parts);
    part.count = min(synthesis_group, program.antennas * program.estimates - part.first);
    part.job = &tables.jobs[blockIdx.y];
    part.filter = &tables.filters[part.job->filter];
    float* const mixed = shared + shared_columns(program);
    load_modes(program, slot, part, shared);
    __syncthreads();
    mix_modes(program, part, shared, mixed);
    __syncthreads();
    if (part.kind == 1) {
        const int distance = synthesis_group * program.most_mix;
        for (int i = static_cast<int>(threadIdx.x); i < part.count * program.most_mix;
             i += estimator_threads) {
            const float x = mixed[i];
            const float y = mixed[i + distance];
            mixed[i] = Ops::add(x, y);
            mixed[i + distance] = Ops::sub(x, y);
        }
        __syncthreads();
    }
    const EstimatorStream& stream = program.streams[part.stream];
    const int half = part.filter->tile_blocks * subcarriers_per_resource_block / 2;
    const int chunks = (part.count + synthesis_columns - 1) / synthesis_columns;
    for (int i = static_cast<int>(threadIdx.x); i < part.combs * chunks * half; i += estimator_threads) {
        const int n = i % half;
        const int first = i / half % chunks * synthesis_columns;
        const int port = i / half / chunks;
        const int layer = part.kind == 1 ? stream.layer[port] : max(stream.layer[0], stream.layer[1]);
        synthesize(program, slot, part, layer, n, first, mixed + port * synthesis_group * program.most_mix,
                   channel);
    }
}

std::size_t shared_bytes(const EstimatorProgram& host) {
    return sizeof(float) * synthesis_group *
           (4 * static_cast<std::size_t>(host.most_width) + 2 * static_cast<std::size_t>(host.most_mix));
}

}  // namespace

void start_synthesis(const EstimatorProgram& host, const EstimatorProgram* program, const EstimatorJob& job,
                     cudaStream_t stream) {
    const int parts = (host.antennas * host.estimates + synthesis_group - 1) / synthesis_group;
    const dim3 blocks(static_cast<unsigned>(host.streams_count * parts),
                      static_cast<unsigned>(host.most_jobs), job.slots);
    synthesize_tiles<<<blocks, estimator_threads, shared_bytes(host), stream>>>(program, job.channel, parts);
    check(cudaGetLastError());
}

void prepare_synthesis(const EstimatorProgram& host) {
    check(cudaFuncSetAttribute(synthesize_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes(host))));
    load_code(synthesize_tiles);
}

}  // namespace phy::gpu::detail
