// The power-delay profile, and where its extent begins.

#include "phy/cuda/shared_memory.hpp"
#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/profile-inl.h"
#include "phy/ofdm/cuda/transform.cuh"

namespace phy::gpu::detail {
namespace {

constexpr int transform_lanes = phy::detail::estimator_transform_lanes;
static_assert(transform_threads >= symbols_per_slot);
static_assert(transform_lanes == 16 && placement_threads >= phy::detail::estimator_max_bins);

/// What the pilots of DM-RS symbols are multiplied by, to average them.
struct Weights {
    float re[symbols_per_slot];
    float im[symbols_per_slot];
};

__device__ __forceinline__ void set_weights(const EstimatorProgram& program, unsigned slot, int row, int comb,
                                            Weights& weights) {
    const EstimatorStream& stream = program.streams[row % program.streams_count];
    const float sign = comb == 1 && stream.layer[0] < 0 ? -1.0F : 1.0F;
    const int symbol = thread();
    if (symbol < program.symbols) {
        const SlotState& state = program.states[slot];
        const float share = Ops::div(Ops::mul(sign, stream.in_time[symbol % program.length]),
                                     static_cast<float>(program.symbols));
        const int l = program.dmrs_symbols[symbol];
        weights.re[symbol] = Ops::mul(share, state.phase_re[l]);
        weights.im[symbol] = Ops::mul(-share, state.phase_im[l]);
    }
    __syncthreads();
}

/// The pilots of a window, averaged over DM-RS and tapered, conjugate.
struct LoadPilots {
    const Weights& weights;
    const float* first;  ///< real part of the window's first pilot in the first DM-RS symbol
    const float* taper;
    int pilots;
    int symbols;
    int stride;

    __device__ __forceinline__ TransformNumber operator()(unsigned point) const {
        const int m = static_cast<int>(point);
        if (m >= pilots) return {0.0F, 0.0F};
        DeviceComplex sum = {0.0F, 0.0F};
#pragma unroll 2
        for (int symbol = 0; symbol < symbols; ++symbol)
            sum = phy::detail::cuda::add_product<Ops>(sum, {weights.re[symbol], weights.im[symbol]},
                                                      complex_at(first, stride, symbol * 4 * stride + m));
        const DeviceComplex tapered =
            phy::detail::cuda::times<Ops>(sum, DeviceComplex{__ldg(taper + m), 0.0F});
        return {tapered.re, -tapered.im};
    }
};

struct StorePowers {
    float* powers;

    __device__ __forceinline__ void operator()(unsigned bin, const TransformNumber& value) const {
        powers[bin] = phy::detail::cuda::power_of<Ops>(DeviceComplex{value.re, value.im});
    }
};

/// (transforms, bins) of a slot.
__device__ __forceinline__ float* powers_of(const EstimatorProgram& program, unsigned slot) {
    return program.powers_at + std::size_t{slot} * static_cast<unsigned>(program.profile.transforms) *
                                   static_cast<unsigned>(program.profile.bins);
}

/// One block per transform and slot.
__global__ void __launch_bounds__(transform_threads)
    transform_windows(const __grid_constant__ EstimatorProgram program) {
    extern __shared__ __align__(16) float shared[];
    __shared__ Weights weights;
    let_next_get_ready();
    const unsigned slot = blockIdx.y;
    const DeviceProfile& profile = program.profile;
    const int window = static_cast<int>(blockIdx.x) % profile.windows;
    const int comb = static_cast<int>(blockIdx.x) / profile.windows % 2;
    const int row = static_cast<int>(blockIdx.x) / profile.windows / 2;  // (antennas, streams)
    const int antenna = row / program.streams_count;
    const int group = program.streams[row % program.streams_count].group;
    const int stride = program.comb_stride;
    const int first = __ldg(&profile.at[window].first);
    const float* const from =
        program.rows_at + slot * program.rows_size + 2 * comb * stride + first +
        static_cast<std::size_t>((antenna * program.groups_count + group) * program.symbols) * 4 *
            static_cast<unsigned>(stride);
    const auto bins = static_cast<unsigned>(profile.bins);
    const Team team = {threadIdx.x, static_cast<unsigned>(transform_threads), shared, plane_of(bins)};
    wait_for_previous();
    set_weights(program, slot, row, comb, weights);
    transform(profile.fft, team,
              LoadPilots{weights, from, profile.taper + first, profile.pilots, program.symbols, stride},
              StorePowers{powers_of(program, slot) + std::size_t{blockIdx.x} * bins});
}

/// The sums of all transforms: of 16 lanes of them, then over lanes. lanes: workspace (16, bins), which may
/// hold the result.
__device__ __forceinline__ void sum_transforms(const DeviceProfile& profile, const float* all, float* lanes,
                                               float* powers) {
    const int bins = profile.bins;
    const int fours = bins / 4;
    for (int i = thread(); i < transform_lanes * fours; i += placement_threads) {
        const int lane = i / fours;
        const int four = i % fours;
        float4 sum = {0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll 4
        for (int t = lane; t < profile.transforms; t += transform_lanes) {
            const float4 x = reinterpret_cast<const float4*>(all + static_cast<std::size_t>(t * bins))[four];
            sum = {Ops::add(sum.x, x.x), Ops::add(sum.y, x.y), Ops::add(sum.z, x.z), Ops::add(sum.w, x.w)};
        }
        reinterpret_cast<float4*>(lanes)[i] = sum;
    }
    __syncthreads();
    float sums[transform_lanes];
    if (thread() < bins) {
#pragma unroll
        for (int lane = 0; lane < transform_lanes; ++lane)
            sums[lane] = lanes[lane * bins + thread()];
#pragma unroll
        for (int level = 3; level >= 0; --level) {
#pragma unroll
            for (int lane = 0; lane < transform_lanes / 2; ++lane)
                if (lane < 1 << level) sums[lane] = Ops::add(sums[lane], sums[lane + (1 << level)]);
        }
    }
    __syncthreads();
    if (thread() < bins) powers[thread()] = sums[0];
    __syncthreads();
}

/// bin + by, of bins in a circle.
__device__ __forceinline__ int moved(int bin, int by, int bins) {
    const int at = bin + by;
    return at < 0 ? at + bins : at >= bins ? at - bins : at;
}

/// As the host's: sums of `count` neighbours from sums of 1, 2, 4 ... bins. A thread has a bin.
__device__ __forceinline__ void sum_neighbours(float power, int bins, int count, float* doubled,
                                               float* sums) {
    float* now = doubled;
    float* next = doubled + bins;
    const int b = thread();
    float sum = 0.0F;
    if (b < bins) now[b] = power;
    __syncthreads();
    int offset = 0;
#pragma unroll 1
    for (int length = 1; length <= count; length *= 2) {
        const bool is_part = (count & length) != 0;
        if (b < bins) {
            if (is_part) sum = Ops::add(sum, now[moved(b, offset, bins)]);
            power = Ops::add(power, now[moved(b, length, bins)]);
            next[b] = power;
        }
        __syncthreads();
        if (is_part) offset += length;
        float* const last = now;
        now = next;
        next = last;
    }
    if (b < bins) sums[b] = sum;
    __syncthreads();
}

/// Values of the placement that the threads of a block share.
struct Placement {
    unsigned max_power;
    unsigned first;     ///< of the bins with it, counted from the last bin
    unsigned earliest;  ///< of equal positions, counted from the last one
    unsigned latest;
    float noise;
};

__device__ __forceinline__ void set_largest(unsigned value, unsigned& shared) {
    const unsigned largest = largest_of_warp(value);
    if (thread() % warp_size == 0) atomicMax(&shared, largest);
}

/// The first of the bins with the largest sum. A thread has a bin.
__device__ __forceinline__ int find_best(const float* sums, int bins, Placement& shared) {
    const int b = thread();
    const unsigned power = b < bins ? __float_as_uint(sums[b]) : 0;
    set_largest(power, shared.max_power);
    __syncthreads();
    set_largest(b < bins && power == shared.max_power ? static_cast<unsigned>(bins - b) : 0, shared.first);
    __syncthreads();
    return bins - static_cast<int>(shared.first);
}

/// Mean power outside of the extent at `best`.
__device__ __forceinline__ void measure_outside(const DeviceProfile& profile, const float* powers, int best,
                                                Placement& shared) {
    const int outside = profile.bins - profile.extent - 2 * profile.cell;
    const int first = moved(best, profile.extent + profile.cell, profile.bins);
    if (thread() < warp_size) {
        float lane = 0.0F;
#pragma unroll 4
        for (int i = thread(); i < outside; i += warp_size)
            lane = Ops::add(lane, powers[moved(first, i, profile.bins)]);
        lane = joined_warp(lane);
        if (thread() == 0) shared.noise = outside > 0 ? Ops::div(lane, static_cast<float>(outside)) : 0.0F;
    }
    __syncthreads();
}

/// The middle of the positions near `best` that hold most. A thread has a position.
__device__ __forceinline__ int middle_of_best(const DeviceProfile& profile, const float* sums, int best,
                                              Placement& shared) {
    const int half = (profile.extent - 1) / 2;
    const int i = thread();
    const float power = i < profile.extent ? sums[moved(best, i - half, profile.bins)] : 0.0F;
    if (thread() == 0) shared.max_power = 0;
    __syncthreads();
    set_largest(__float_as_uint(power), shared.max_power);
    __syncthreads();
    const float enough = Ops::mul(__uint_as_float(shared.max_power), phy::detail::cuda::equal_power);
    const bool is_equal = i < profile.extent && power >= enough;
    set_largest(is_equal ? static_cast<unsigned>(profile.extent - 1 - i) : 0, shared.earliest);
    set_largest(is_equal ? static_cast<unsigned>(i) : 0, shared.latest);
    __syncthreads();
    const int earliest = half - static_cast<int>(shared.earliest);
    const int latest = static_cast<int>(shared.latest) - half;
    return (best + profile.bins + (earliest + latest) / 2) % profile.bins;
}

/// One block per slot.
__global__ void __launch_bounds__(placement_threads)
    place_extents(const __grid_constant__ EstimatorProgram program) {
    extern __shared__ __align__(16) float shared[];
    __shared__ Placement placement;
    let_next_get_ready();
    const unsigned slot = blockIdx.x;
    const DeviceProfile& profile = program.profile;
    const int bins = profile.bins;
    float* const powers = shared;
    float* const sums = powers + bins;
    float* const doubled = sums + bins;
    if (thread() == 0) placement = {};
    wait_for_previous();
    sum_transforms(profile, powers_of(program, slot), shared, powers);
    const float power = thread() < bins ? powers[thread()] : 0.0F;
    sum_neighbours(power, bins, profile.extent, doubled, sums);
    const int best = find_best(sums, bins, placement);
    int first = bins - (profile.extent - 1) / 2;
    if (program.constants.corrects_timing != 0 && placement.max_power != 0) {
        measure_outside(profile, powers, best, placement);
        const float threshold = Ops::mul(placement.noise, profile.threshold);
        sum_neighbours(phy::detail::cuda::signal_of<Ops>(power, threshold), bins, profile.extent, doubled,
                       sums);
        first = middle_of_best(profile, sums, best, placement);
    }
    if (thread() == 0) phy::detail::cuda::place<Ops>(profile, first, program.states[slot]);
    float* const measured = program.measured + std::size_t{slot} * static_cast<unsigned>(profile.extent);
    if (thread() < profile.extent) measured[thread()] = powers[(first + thread()) % bins];
}

std::size_t shared_of_transform(const EstimatorProgram& host) {
    return 2 * sizeof(float) * plane_of(static_cast<unsigned>(host.profile.bins));
}

std::size_t shared_of_placement(const EstimatorProgram& host) {
    return sizeof(float) * static_cast<std::size_t>(transform_lanes * host.profile.bins);
}

}  // namespace

void start_profile(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    launch_dependent(transform_windows, starts_early(job.slots),
                     dim3(static_cast<unsigned>(host.profile.transforms), job.slots), transform_threads,
                     shared_of_transform(host), stream, host);
    launch_dependent(place_extents, starts_early(job.slots), dim3(job.slots), placement_threads,
                     shared_of_placement(host), stream, host);
}

void prepare_profile() {
    load_code(transform_windows);
    load_code_with_shared_memory(place_extents);
}

}  // namespace phy::gpu::detail
