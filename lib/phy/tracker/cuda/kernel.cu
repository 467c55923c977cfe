#include <algorithm>

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/reduce/warp.cuh"
#include "phy/tracker/cuda/launch.hpp"
#include "phy/tracker/math/track-inl.h"

namespace phy::gpu::detail {
namespace {

namespace tracker = phy::detail::cuda;
using Ops = tracker::Ops;
using phy::detail::TrackedPhase;
using phy::detail::TrackedSymbol;
using phy::detail::TrackPlan;
using phy::detail::TrackStep;

constexpr unsigned summing_threads = phy::detail::tracker_lanes;  ///< one per lane
constexpr unsigned warps = summing_threads / warp_size;
static_assert(warps == 4);

using Sums = tracker::PhaseSums<Ops>;
constexpr unsigned sum_count = sizeof(Sums) / sizeof(float);

/// The numbers of all lanes, and their sums.
template <unsigned count>
struct Joined {
    float lanes[count][summing_threads];
    float sums[count];

    /// Sums numbers of all threads, which call it.
    __device__ __forceinline__ const float (&joined(const float (&mine)[count]))[count] {
#pragma unroll
        for (unsigned row = 0; row < count; ++row)
            lanes[row][threadIdx.x] = mine[row];
        join(count);
        return sums;
    }

    /// Sums the first `used` rows. All threads call it, and may read the sums after it.
    __device__ __forceinline__ void join(unsigned used) {
        const unsigned lane = threadIdx.x % warp_size;
        __syncthreads();
        for (unsigned row = threadIdx.x / warp_size; row < used; row += warps) {
            const float* const of_row = lanes[row] + lane;
            const float even = Ops::add(of_row[0], of_row[2 * warp_size]);
            const float odd = Ops::add(of_row[warp_size], of_row[3 * warp_size]);
            const float sum = joined_warp(Ops::add(even, odd));
            if (lane == 0) sums[row] = sum;
        }
        __syncthreads();
    }
};

struct Shared {
    float2 symbols[phy::detail::max_tracked_symbols];
    float weight[phy::detail::max_tracked_symbols];
    Joined<sum_count> all;
    Joined<TrackPlan::max_tried_steps> tried;
    tracker::PtrsPhase ptrs[TrackPlan::max_steps];
};

/// The symbols of a step, for follow_symbol(). A thread has those of its lane, which no other thread reads.
template <bool diagonal>
class StepSymbols {
public:
    __device__ __forceinline__ StepSymbols(const TrackerJob& job, const TrackStep& step, Shared& shared)
        : shared_(shared),
          end_(step.used()),
          scale_(tracker::lane_scale<Ops>(
              job.plan.scale,
              job.plan.scale.rotating && (step.first + threadIdx.x) % 2 != 0 ? -1.0F : 0.0F)) {
        const std::size_t first = std::size_t{blockIdx.y} * job.plan.symbols + step.first;
        const auto* const symbols = reinterpret_cast<const float*>(job.symbols) + 2 * first;
        const float* const noise_variance = job.noise_variance + first;
#pragma unroll 4
        for (unsigned s = threadIdx.x; s < end_; s += summing_threads) {
            const std::size_t from = s * step.stride;
            shared_.symbols[s] = {symbols[2 * from], symbols[2 * from + 1]};
            shared_.weight[s] = tracker::weight_of<Ops>(noise_variance[from], scale_);
        }
    }

    __device__ __forceinline__ Sums sums(const TrackedPhase& phase) const {
        Sums mine = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
#pragma unroll 2
        for (unsigned s = threadIdx.x; s < end_; s += summing_threads)
            tracker::add_symbol<Ops, diagonal>(shared_.symbols[s].x, shared_.symbols[s].y, shared_.weight[s],
                                               {phase.re, phase.im}, scale_, mine);
        const auto& [score, agreement, lost, misfit, used] =
            shared_.all.joined({mine.score, mine.agreement, mine.lost, mine.misfit, mine.used});
        return {score, agreement, lost, misfit, used};
    }

    __device__ __forceinline__ const float* misfits(const TrackPlan& plan, const TrackedPhase& before) const {
        shared_.tried.lanes[0][threadIdx.x] = 0.0F;
#pragma unroll 1
        for (unsigned k = 1; k < plan.tried_count; ++k)
            shared_.tried.lanes[k][threadIdx.x] =
                of_lane<false>(tracker::tried_phase<Ops>(before, plan.tried[k]), 0.0F);
        shared_.tried.join(plan.tried_count);
        return shared_.tried.sums;
    }

    __device__ __forceinline__ float limited_misfit(const TrackedPhase& phase, float limit) const {
        shared_.tried.lanes[0][threadIdx.x] = of_lane<true>(phase, limit);
        shared_.tried.join(1);
        return shared_.tried.sums[0];
    }

private:
    template <bool has_limit>
    __device__ __forceinline__ float of_lane(const TrackedPhase& phase, float limit) const {
        float sum = 0.0F;
#pragma unroll 4
        for (unsigned s = threadIdx.x; s < end_; s += summing_threads)
            sum = tracker::add_misfit<Ops, diagonal, has_limit>(shared_.symbols[s].x, shared_.symbols[s].y,
                                                                shared_.weight[s], {phase.re, phase.im},
                                                                limit, scale_, sum);
        return sum;
    }

    Shared& shared_;
    unsigned end_;
    tracker::LaneScale<Ops> scale_;
};

__device__ __forceinline__ tracker::PtrsPhase phase_of_ptrs(const TrackerJob& job, const TrackStep& step,
                                                            Shared& shared) {
    if (job.places == nullptr || step.ptrs == 0) return {};
    const std::size_t slot = blockIdx.y;
    const auto* const symbols = reinterpret_cast<const float*>(job.ptrs) + 2 * slot * job.plan.ptrs_symbols;
    const float* const noise_variance = job.ptrs_noise_variance + slot * job.plan.ptrs_symbols;
    const auto* const pilots = reinterpret_cast<const float*>(job.pilots) + 2 * slot * job.plan.pilots;
    tracker::PtrsSums mine = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
    for (unsigned i = threadIdx.x; i < step.ptrs; i += summing_threads) {
        const phy::detail::TrackedPtrs its = job.places[step.first_ptrs + i];
        tracker::add_ptrs<Ops>(mine, symbols[2 * its.symbol], symbols[2 * its.symbol + 1],
                               noise_variance[its.symbol], pilots[2 * its.pilot], pilots[2 * its.pilot + 1],
                               job.plan.ptrs_amplitude);
    }
    const auto& [re, im, sent, received, used] =
        shared.all.joined({mine.re, mine.im, mine.sent, mine.received, mine.used});
    return tracker::phase_of<Ops>({re, im, sent, received, used});
}

/// A block per chain and slot; a thread per lane.
template <bool diagonal>
__global__ void __launch_bounds__(summing_threads) follow_phases(const __grid_constant__ TrackerJob job) {
    __shared__ Shared shared;
    TrackedPhase phase = {1.0F, 0.0F, 0.0F};
    TrackedSymbol* const tracked = job.tracked + std::size_t{blockIdx.y} * TrackPlan::max_steps;
    const unsigned first = job.plan.chain[blockIdx.x];
    const unsigned end = job.plan.chain[blockIdx.x + 1];
#pragma unroll 1
    for (unsigned i = first; i < end; ++i) {
        const tracker::PtrsPhase ptrs = phase_of_ptrs(job, job.plan.steps[i], shared);
        if (threadIdx.x == 0) shared.ptrs[i] = ptrs;
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned i = first; i < end; ++i) {
        const StepSymbols<diagonal> symbols(job, job.plan.steps[i], shared);
        const TrackedSymbol followed =
            tracker::follow_symbol<Ops>(job.plan, phase, symbols, shared.ptrs + i, end - i);
        phase = followed.phase;
        if (threadIdx.x == 0) tracked[i] = followed;
    }
}

/// Blocks share the symbols of a step; a row of blocks per step, a layer of them per slot.
__global__ void __launch_bounds__(rotating_threads) rotate_slots(const __grid_constant__ TrackerJob job) {
    const TrackedSymbol* const tracked = job.tracked + std::size_t{blockIdx.z} * TrackPlan::max_steps;
    const bool is_rotated = tracker::is_rotated<Ops>(tracked, job.plan.step_count());
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        SlotEstimate& slot = job.estimates[blockIdx.z];
        tracker::report_noise(job.plan, tracked, is_rotated, slot);
        if (is_rotated) tracker::report_phases<Ops>(job.plan, tracked, slot);
    }
    if (!is_rotated) return;
    const TrackStep& step = job.plan.steps[blockIdx.y];
    const TrackedPhase phase = tracked[blockIdx.y].phase;
    const std::size_t first = std::size_t{blockIdx.z} * job.plan.symbols + step.first;
    if (phase.re == 1.0F && phase.im == 0.0F) return;
    const auto rotate = [&](float* number) {
        tracker::rotate_back<Ops>(phase.re, phase.im, number[0], number[1]);
    };
    for (unsigned s = blockIdx.x * rotating_threads + threadIdx.x; s < step.count;
         s += gridDim.x * rotating_threads) {
        rotate(reinterpret_cast<float*>(job.symbols + first + s));
        if (job.pairs == nullptr) continue;
        rotate(reinterpret_cast<float*>(job.pairs[(first + s) / 2].matched + (first + s) % 2));
    }
}

/// Blocks as for rotate_slots.
__global__ void __launch_bounds__(rotating_threads)
    raise_noise_of_slots(const __grid_constant__ NoiseJob job) {
    const TrackStep& step = job.plan.steps[blockIdx.y];
    const float factor = job.estimates[blockIdx.z].excess_noise[step.symbol];
    if (factor == 1.0F) return;
    const float share = Ops::div(1.0F, factor);
    const std::size_t first = std::size_t{blockIdx.z} * job.plan.symbols + step.first;
    for (unsigned s = blockIdx.x * rotating_threads + threadIdx.x; s < step.count;
         s += gridDim.x * rotating_threads) {
        job.noise_variance[first + s] *= factor;
        if (job.pairs != nullptr && s % 2 == 0) tracker::weaken(job.pairs[(first + s) / 2], share);
    }
}

dim3 rotating_blocks(const TrackPlan& plan, std::uint32_t slots) {
    constexpr unsigned of_block = 4 * rotating_threads;
    std::uint32_t most = 0;
    for (std::uint32_t i = 0; i < plan.step_count(); ++i)
        most = std::max(most, plan.steps[i].count);
    return {(most + of_block - 1) / of_block, plan.step_count(), slots};
}

}  // namespace

void track(const TrackerJob& job, cudaStream_t stream) {
    const TrackPlan& plan = job.plan;
    const dim3 chains(plan.chains, job.slots);
    const auto follow = plan.scale.diagonal ? follow_phases<true> : follow_phases<false>;
    follow<<<chains, summing_threads, 0, stream>>>(job);
    check(cudaGetLastError());
    rotate_slots<<<rotating_blocks(plan, job.slots), rotating_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

void raise_noise(const NoiseJob& job, cudaStream_t stream) {
    raise_noise_of_slots<<<rotating_blocks(job.plan, job.slots), rotating_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

void load_tracker() {
    load_code(follow_phases<true>);
    load_code(follow_phases<false>);
    load_code(rotate_slots);
    load_code(raise_noise_of_slots);
}

}  // namespace phy::gpu::detail
