// Noise from the energies of pilots and modes.

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

constexpr int warps = estimator_threads / warp_size;
constexpr int columns_at_once = 4;  ///< per warp
constexpr int jobs_at_once = 64;    ///< whose sums are joined
constexpr unsigned state_words = sizeof(SlotState) / sizeof(float);
static_assert(sizeof(SlotState) == state_words * sizeof(float) && state_words <= estimator_threads);

/// A warp processes the columns of a kind, several at a time, and writes their residual energies to (columns,
/// 2) after them.
__device__ __forceinline__ void subtract_modes(const DeviceKind& kind, const float* numbers, int columns,
                                               float* sums) {
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int width = kind.modes.width();
    for (int first = columns_at_once * warp; first < columns; first += columns_at_once * warps) {
        float sum[columns_at_once] = {};
#pragma unroll 1
        for (int i = lane; i < width; i += warp_size) {
            const float keep = kind.keep[i];
            float x[columns_at_once];
#pragma unroll
            for (int c = 0; c < columns_at_once; ++c)
                x[c] = numbers[static_cast<std::size_t>(min(first + c, columns - 1)) *
                                   static_cast<unsigned>(width) +
                               static_cast<unsigned>(i)];
#pragma unroll
            for (int c = 0; c < columns_at_once; ++c)
                sum[c] = Ops::fma(Ops::mul(x[c], keep), x[c], sum[c]);
        }
#pragma unroll
        for (int c = 0; c < columns_at_once; ++c) {
            sum[c] = joined_warp(sum[c]);
            if (lane != 0 || first + c >= columns) continue;
            sums[2 * (first + c) + 1] = Ops::sub(sums[2 * (first + c)], sum[c]);
        }
    }
}

/// Energies and residuals of a slot's streams: sums over its tiles, in order.
__device__ __forceinline__ void join_jobs(const EstimatorProgram& program, unsigned slot, int jobs,
                                          float (&sums)[2][phy::detail::max_streams]) {
    __shared__ float some[jobs_at_once * 2 * phy::detail::max_streams];
    const int of_job = 2 * program.streams_count;
    const float* const all = program.job_sums + std::size_t{slot} *
                                                    static_cast<unsigned>(program.largest.jobs) *
                                                    static_cast<unsigned>(of_job);
    const int i = static_cast<int>(threadIdx.x);
    float sum = 0.0F;
    for (int first = 0; first < jobs; first += jobs_at_once) {
        const int count = min(jobs_at_once, jobs - first);
        __syncthreads();
        for (int k = i; k < count * of_job; k += estimator_threads)
            some[k] = __ldcg(all + first * of_job + k);
        __syncthreads();
        if (i >= of_job) continue;
#pragma unroll 4
        for (int job = 0; job < count; ++job)
            sum = Ops::add(sum, some[job * of_job + i]);
    }
    if (i < of_job) sums[i % 2][i / 2] = sum;
}

/// The noise of a slot.
__device__ __forceinline__ void measure_noise(const EstimatorProgram& program, unsigned slot) {
    __shared__ float sums[2][phy::detail::max_streams];
    __shared__ SlotState state;
    const unsigned i = threadIdx.x;
    auto* const words = reinterpret_cast<float*>(&state);
    auto* const of_slot = reinterpret_cast<float*>(program.states + slot);
    if (i < state_words) words[i] = of_slot[i];
    join_jobs(program, slot, program.largest.jobs, sums);
    __syncthreads();
    if (i == 0) phy::detail::cuda::set_noise<Ops>(program.constants, program.facts, sums[0], sums[1], state);
    __syncthreads();
    if (i < state_words) of_slot[i] = words[i];
}

/// One block per tile and slot; a slot's last block measures its noise.
__global__ void __launch_bounds__(estimator_threads)
    sum_residuals(const __grid_constant__ EstimatorProgram program) {
    extern __shared__ float sums[];  // (columns, 2): energy, residual
    let_next_get_ready();
    wait_for_previous();
    const unsigned slot = blockIdx.y;
    const EstimatorTileJob& job = program.jobs[blockIdx.x];
    const DeviceFilter& filter = program.filters[job.filter];
    const int columns = program.columns[0] + program.columns[1];
    const std::size_t of_job = std::size_t{slot} * static_cast<unsigned>(program.largest.jobs) + blockIdx.x;
    const float* const energies = program.column_sums + 2 * of_job * static_cast<unsigned>(columns);
    const int i = static_cast<int>(threadIdx.x);
    for (int column = i; column < columns; column += estimator_threads)
        sums[2 * column] = energies[2 * column];
    __syncthreads();
#pragma unroll 1
    for (int kind = 1; kind >= 0; --kind)
        subtract_modes(filter.kinds[kind], modes_of(program, slot, job, filter, kind), program.columns[kind],
                       sums + (kind == 1 ? 0 : 2 * program.columns[1]));
    __syncthreads();
    if (i < 2 * program.streams_count) {
        const int stream = i / 2;
        const int kind = program.constants.joint[stream];
        const int of_stream = program.columns[kind] / program.kind_streams[kind];
        const int first = (kind == 1 ? 0 : program.columns[1]) + program.index_in_kind[stream] * of_stream;
        float sum = 0.0F;
#pragma unroll 4
        for (int column = first; column < first + of_stream; ++column)
            sum = Ops::add(sum, sums[2 * column + i % 2]);
        program.job_sums[of_job * 2 * static_cast<unsigned>(program.streams_count) + threadIdx.x] = sum;
    }
    if (is_last_block(program.arrivals + slot, gridDim.x)) measure_noise(program, slot);
}

}  // namespace

void start_noise(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    const std::size_t shared =
        2 * sizeof(float) * static_cast<std::size_t>(host.columns[0] + host.columns[1]);
    launch_dependent(sum_residuals, starts_early(job.slots),
                     dim3(static_cast<unsigned>(host.largest.jobs), job.slots), estimator_threads, shared,
                     stream, host);
}

void prepare_noise() {
    load_code(sum_residuals);
}

}  // namespace phy::gpu::detail
