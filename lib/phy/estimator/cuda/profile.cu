// The power-delay profile, and where its extent begins.

#include <algorithm>

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/profile-inl.h"
#include "phy/ofdm/cuda/transform.cuh"

namespace phy::gpu::detail {
namespace {

constexpr int transform_lanes = phy::detail::estimator_transform_lanes;
static_assert(transform_lanes == 16);

/// The pilots of a window, averaged over DM-RS and tapered, conjugate.
struct LoadPilots {
    const EstimatorProgram& program;
    unsigned slot;
    int row;  ///< (antennas, streams)
    int comb;
    int first;

    __device__ __forceinline__ TransformNumber operator()(unsigned point) const {
        const int m = first + static_cast<int>(point);
        if (static_cast<int>(point) >= program.profile.pilots) return {0.0F, 0.0F};
        const EstimatorStream& stream = program.streams[row % program.streams_count];
        const int antenna = row / program.streams_count;
        const int stride = program.comb_stride;
        const SlotState& state = program.states[slot];
        const float* const from =
            program.rows_at + slot * program.rows_size +
            static_cast<std::size_t>((antenna * program.groups_count + stream.group) * program.symbols) * 4 *
                static_cast<unsigned>(stride) +
            2 * comb * stride + m;
        const float sign = comb == 1 && stream.layer[0] < 0 ? -1.0F : 1.0F;
        DeviceComplex sum = {0.0F, 0.0F};
        for (int symbol = 0; symbol < program.symbols; ++symbol) {
            const float share = Ops::div(Ops::mul(sign, stream.in_time[symbol % program.length]),
                                         static_cast<float>(program.symbols));
            const int l = program.dmrs_symbols[symbol];
            sum = phy::detail::cuda::add_product<Ops>(
                sum, {Ops::mul(share, state.phase_re[l]), Ops::mul(-share, state.phase_im[l])},
                complex_at(from + static_cast<std::size_t>(symbol) * 4 * static_cast<unsigned>(stride),
                           stride, 0));
        }
        const DeviceComplex tapered =
            phy::detail::cuda::times<Ops>(sum, DeviceComplex{__ldg(program.profile.taper + m), 0.0F});
        return {tapered.re, -tapered.im};
    }
};

struct StorePowers {
    float* powers;

    __device__ __forceinline__ void operator()(unsigned bin, const TransformNumber& value) const {
        powers[bin] = phy::detail::cuda::power_of<Ops>(DeviceComplex{value.re, value.im});
    }
};

/// As the host's: sums of `count` neighbours from sums of 1, 2, 4 ... bins.
__device__ __forceinline__ void sum_neighbours(const float* powers, int bins, int count, float* doubled,
                                               float* sums) {
    float* now = doubled;
    float* next = doubled + bins;
    const int thread = static_cast<int>(threadIdx.x);
    for (int b = thread; b < bins; b += estimator_threads) {
        now[b] = powers[b];
        sums[b] = 0.0F;
    }
    __syncthreads();
    int offset = 0;
#pragma unroll 1
    for (int length = 1; length <= count; length *= 2) {
        const bool is_part = (count & length) != 0;
        for (int b = thread; b < bins; b += estimator_threads) {
            const int other = b + offset < bins ? b + offset : b + offset - bins;
            const int later = b + length < bins ? b + length : b + length - bins;
            if (is_part) sums[b] = Ops::add(sums[b], now[other]);
            next[b] = Ops::add(now[b], now[later]);
        }
        __syncthreads();
        if (is_part) offset += length;
        float* const last = now;
        now = next;
        next = last;
    }
}

/// Values of the placement that the threads of a block share.
struct Placement {
    unsigned long long best;  ///< power and, inverted, its first bin
    unsigned most;
    int earliest;
    int latest;
    float noise;
};

__device__ __forceinline__ void find_best(const float* sums, int bins, Placement& shared) {
    if (threadIdx.x == 0) shared.best = 0;
    __syncthreads();
    unsigned long long best = 0;
    for (int b = static_cast<int>(threadIdx.x); b < bins; b += estimator_threads) {
        const unsigned long long key =
            (static_cast<unsigned long long>(__float_as_uint(sums[b])) << 32) | (~static_cast<unsigned>(b));
        best = max(best, key);
    }
    atomicMax(&shared.best, best);
    __syncthreads();
}

/// Mean power outside of the extent at `best`.
__device__ __forceinline__ void measure_outside(const DeviceProfile& profile, const float* powers, int best,
                                                Placement& shared) {
    const int outside = profile.bins - profile.extent - 2 * profile.cell;
    if (threadIdx.x < warp_size) {
        float lane = 0.0F;
        for (int i = static_cast<int>(threadIdx.x); i < outside; i += warp_size)
            lane = Ops::add(lane, powers[(best + profile.extent + profile.cell + i) % profile.bins]);
        lane = joined_warp(lane);
        if (threadIdx.x == 0) shared.noise = outside > 0 ? Ops::div(lane, static_cast<float>(outside)) : 0.0F;
    }
    __syncthreads();
}

/// The middle of the positions near `best` that hold most.
__device__ __forceinline__ int middle_of_best(const DeviceProfile& profile, const float* sums, int best,
                                              Placement& shared) {
    const int half = (profile.extent - 1) / 2;
    const int bins = profile.bins;
    if (threadIdx.x == 0) {
        shared.most = 0;
        shared.earliest = half;
        shared.latest = -half;
    }
    __syncthreads();
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < profile.extent; i += estimator_threads)
        atomicMax(&shared.most, __float_as_uint(sums[(best + i - half + bins) % bins]));
    __syncthreads();
    const float enough = Ops::mul(__uint_as_float(shared.most), phy::detail::cuda::equal_power);
    for (int i = thread; i < profile.extent; i += estimator_threads) {
        if (!(sums[(best + i - half + bins) % bins] >= enough)) continue;
        atomicMin(&shared.earliest, i - half);
        atomicMax(&shared.latest, i - half);
    }
    __syncthreads();
    return (best + bins + (shared.earliest + shared.latest) / 2) % bins;
}

/// (transforms, bins) of a slot.
__device__ __forceinline__ float* powers_of(const EstimatorProgram& program, unsigned slot) {
    return program.powers_at + std::size_t{slot} * static_cast<unsigned>(program.profile.transforms) *
                                   static_cast<unsigned>(program.profile.bins);
}

/// A lane's sum over transforms, into its first one.
__device__ __forceinline__ void sum_lane(const DeviceProfile& profile, float* powers, int lane) {
    for (int b = static_cast<int>(threadIdx.x); b < profile.bins; b += estimator_threads) {
        float sum = 0.0F;
#pragma unroll 4
        for (int t = lane; t < profile.transforms; t += transform_lanes)
            sum = Ops::add(sum, __ldcg(powers + t * profile.bins + b));
        powers[lane * profile.bins + b] = sum;
    }
}

/// shared: (5, bins).
__device__ __forceinline__ void place_extent(const EstimatorProgram& program, unsigned slot, float* shared) {
    __shared__ Placement placement;
    const DeviceProfile& profile = program.profile;
    const int bins = profile.bins;
    float* const powers = shared;
    float* const signal = powers + bins;
    float* const sums = signal + bins;
    float* const doubled = sums + bins;
    const float* const all = powers_of(program, slot);
    const int thread = static_cast<int>(threadIdx.x);
    for (int b = thread; b < bins; b += estimator_threads) {
        float lanes[transform_lanes];
#pragma unroll
        for (int lane = 0; lane < transform_lanes; ++lane)
            lanes[lane] = lane < profile.transforms ? __ldcg(all + lane * bins + b) : 0.0F;
#pragma unroll
        for (int level = 3; level >= 0; --level) {
#pragma unroll
            for (int lane = 0; lane < transform_lanes / 2; ++lane)
                if (lane < 1 << level) lanes[lane] = Ops::add(lanes[lane], lanes[lane + (1 << level)]);
        }
        powers[b] = lanes[0];
    }
    __syncthreads();
    sum_neighbours(powers, bins, profile.extent, doubled, sums);
    find_best(sums, bins, placement);
    const int best = static_cast<int>(~static_cast<unsigned>(placement.best));
    int first = bins - (profile.extent - 1) / 2;
    if (program.constants.corrects_timing != 0 && sums[best] > 0.0F) {
        measure_outside(profile, powers, best, placement);
        const float threshold = Ops::mul(placement.noise, profile.threshold);
        for (int b = thread; b < bins; b += estimator_threads)
            signal[b] = phy::detail::cuda::signal_of<Ops>(powers[b], threshold);
        __syncthreads();
        sum_neighbours(signal, bins, profile.extent, doubled, sums);
        first = middle_of_best(profile, sums, best, placement);
    }
    if (thread == 0) phy::detail::cuda::place<Ops>(profile, first, program.states[slot]);
    float* const measured = program.measured + std::size_t{slot} * static_cast<unsigned>(profile.extent);
    for (int i = thread; i < profile.extent; i += estimator_threads)
        measured[i] = powers[(first + i) % bins];
}

/// One block per transform and slot; the last one of a lane sums it, and a slot's last one places the extent.
__global__ void __launch_bounds__(estimator_threads)
    transform_windows(const __grid_constant__ EstimatorProgram program) {
    extern __shared__ float shared[];
    let_next_get_ready();
    wait_for_previous();
    const unsigned slot = blockIdx.y;
    const DeviceProfile& profile = program.profile;
    const int window = static_cast<int>(blockIdx.x) % profile.windows;
    const int row = static_cast<int>(blockIdx.x) / profile.windows;
    const auto bins = static_cast<unsigned>(profile.bins);
    const Team team = {threadIdx.x, static_cast<unsigned>(estimator_threads), shared, plane_of(bins)};
    transform(profile.fft, team, LoadPilots{program, slot, row / 2, row % 2, profile.at[window].first},
              StorePowers{powers_of(program, slot) + std::size_t{blockIdx.x} * bins});
    unsigned* const arrivals = arrivals_of(program, slot);
    const unsigned lane = blockIdx.x % transform_lanes;
    const unsigned of_lane = (gridDim.x - lane + transform_lanes - 1) / transform_lanes;
    if (of_lane > 1) {
        if (!is_last_block(arrivals + 1 + lane, of_lane)) return;
        sum_lane(profile, powers_of(program, slot), static_cast<int>(lane));
    }
    if (is_last_block(arrivals, min(gridDim.x, unsigned{transform_lanes})))
        place_extent(program, slot, shared);
}

std::size_t shared_bytes(const EstimatorProgram& host) {
    return sizeof(float) * std::max(std::size_t{2} * plane_of(static_cast<unsigned>(host.profile.bins)),
                                    std::size_t{5} * static_cast<unsigned>(host.profile.bins));
}

}  // namespace

void start_profile(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    launch_dependent(transform_windows, starts_early(job.slots),
                     dim3(static_cast<unsigned>(host.profile.transforms), job.slots), estimator_threads,
                     shared_bytes(host), stream, host);
}

void prepare_profile(const EstimatorProgram& host) {
    check(cudaFuncSetAttribute(transform_windows, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes(host))));
    load_code(transform_windows);
}

}  // namespace phy::gpu::detail
