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

constexpr unsigned lane_count = phy::detail::tracker_lanes;
constexpr unsigned following_warps = following_threads / warp_size;
constexpr unsigned parts = following_threads / lane_count;  ///< of a block, with a thread per lane each
static_assert(following_threads % lane_count == 0 && lane_count == 4 * warp_size);

using Sums = tracker::PhaseSums<Ops>;
using Terms = tracker::SymbolTerms<Ops>;
constexpr unsigned sum_count = sizeof(Sums) / sizeof(float);

/// As __syncthreads(), for warps that wait at different places of the code.
__device__ __forceinline__ void sync_warps() {
    asm volatile("barrier.sync 1, %0;" ::"n"(following_threads) : "memory");
}

/// What the threads of a block do together next.
struct Command {
    enum class Kind { take, sum, compare, limit, finish };
    Kind kind;
    std::uint32_t step;  ///< to take
    TrackedPhase phase;
    float limit;
};

struct Shared {
    Command command;
    float2 symbols[phy::detail::max_tracked_symbols];
    float weight[phy::detail::max_tracked_symbols];
    float terms[sizeof(Terms) / sizeof(float)][phy::detail::max_tracked_symbols];
    float lanes[TrackPlan::max_tried_steps][lane_count];
    float sums[TrackPlan::max_tried_steps];
    tracker::PtrsPhase ptrs[TrackPlan::max_steps];

    template <class Numbers>
    __device__ __forceinline__ void set_lanes(unsigned lane, const Numbers& numbers) {
        static_assert(sizeof(Numbers) == sum_count * sizeof(float));
#pragma unroll
        for (unsigned row = 0; row < sum_count; ++row)
            lanes[row][lane] = reinterpret_cast<const float*>(&numbers)[row];
    }

    /// Sums rows of lanes. All threads call it, and may read the sums after it.
    __device__ __forceinline__ void join(unsigned first, unsigned end) {
        sync_warps();
        for (unsigned row = first + threadIdx.x / warp_size; row < end; row += following_warps) {
            const float* const of_row = lanes[row] + threadIdx.x % warp_size;
            const float even = Ops::add(of_row[0], of_row[2 * warp_size]);
            const float odd = Ops::add(of_row[warp_size], of_row[3 * warp_size]);
            const float sum = joined_warp(Ops::add(even, odd));
            if (threadIdx.x % warp_size == 0) sums[row] = sum;
        }
        sync_warps();
    }
};
static_assert(TrackPlan::max_tried_steps >= sum_count);

/// The threads of a block work on the symbols of a step together: the first warp gives commands, as
/// follow_symbol() needs them, and the others wait for them at the same barriers. Any thread computes what a
/// symbol says; a thread of its lane adds it, in order.
template <bool diagonal>
class StepSymbols {
public:
    __device__ __forceinline__ StepSymbols(const TrackerJob& job, Shared& shared)
        : job_(job), shared_(shared) {}

    /// By the first warp.
    __device__ __forceinline__ void command(const Command& what) {
        if (threadIdx.x == 0) shared_.command = what;
        sync_warps();
        work(what);
    }
    /// By all other warps.
    __device__ __forceinline__ void obey() {
        for (;;) {
            sync_warps();
            const Command what = shared_.command;
            if (what.kind == Command::Kind::finish) return;
            work(what);
        }
    }

    __device__ __forceinline__ Sums sums(const TrackedPhase& phase) {
        command({Command::Kind::sum, 0, phase, 0.0F});
        const float* const sums = shared_.sums;
        return {sums[0], sums[1], sums[2], sums[3], sums[4]};
    }
    __device__ __forceinline__ const float* misfits(const TrackPlan& /*plan*/, const TrackedPhase& before) {
        command({Command::Kind::compare, 0, before, 0.0F});
        return shared_.sums;
    }
    __device__ __forceinline__ float limited_misfit(const TrackedPhase& phase, float limit) {
        command({Command::Kind::limit, 0, phase, limit});
        return shared_.sums[0];
    }

private:
    __device__ __forceinline__ void work(const Command& what);
    __device__ __forceinline__ void take(const TrackStep& step);
    __device__ __forceinline__ void sum(const TrackedPhase& phase);
    __device__ __forceinline__ void compare(const TrackedPhase& before);
    __device__ __forceinline__ void limit(const TrackedPhase& phase, float limit);

    /// Calls each(s) for a thread's symbols.
    template <class Each>
    __device__ __forceinline__ void for_each_symbol(const Each& each) const {
        for (unsigned s = threadIdx.x; s < end_; s += following_threads)
            each(s);
    }
    /// Calls each(s) for the symbols of a thread's lane, in order.
    template <class Each>
    __device__ __forceinline__ void for_each_of_lane(const Each& each) const {
#pragma unroll 4
        for (unsigned s = threadIdx.x % lane_count; s < end_; s += lane_count)
            each(s);
    }
    [[nodiscard]] __device__ __forceinline__ float misfit_of(unsigned s, const TrackedPhase& phase) const {
        return tracker::misfit_of<Ops, diagonal>(shared_.symbols[s].x, shared_.symbols[s].y,
                                                 {phase.re, phase.im}, scale_);
    }

    const TrackerJob& job_;
    Shared& shared_;
    unsigned end_ = 0;
    tracker::LaneScale<Ops> scale_ = {};
};

template <bool diagonal>
__device__ __forceinline__ void StepSymbols<diagonal>::work(const Command& what) {
    if (what.kind == Command::Kind::take)
        take(job_.plan.steps[what.step]);
    else if (what.kind == Command::Kind::sum)
        sum(what.phase);
    else if (what.kind == Command::Kind::compare)
        compare(what.phase);
    else
        limit(what.phase, what.limit);
}

template <bool diagonal>
__device__ __forceinline__ void StepSymbols<diagonal>::take(const TrackStep& step) {
    end_ = step.used();
    scale_ = tracker::lane_scale<Ops>(
        job_.plan.scale, job_.plan.scale.rotating && (step.first + threadIdx.x) % 2 != 0 ? -1.0F : 0.0F);
    const std::size_t first = std::size_t{blockIdx.y} * job_.plan.symbols + step.first;
    const auto* const symbols = reinterpret_cast<const float*>(job_.symbols) + 2 * first;
    const float* const noise_variance = job_.noise_variance + first;
    for_each_symbol([&](unsigned s) {
        const std::size_t from = step.index_of(s);
        shared_.symbols[s] = {symbols[2 * from], symbols[2 * from + 1]};
        shared_.weight[s] = tracker::weight_of<Ops>(noise_variance[from], scale_);
    });
    sync_warps();
}

template <bool diagonal>
__device__ __forceinline__ void StepSymbols<diagonal>::sum(const TrackedPhase& phase) {
    for_each_symbol([&](unsigned s) {
        const Terms terms = tracker::terms_of<Ops, diagonal>(shared_.symbols[s].x, shared_.symbols[s].y,
                                                             shared_.weight[s], {phase.re, phase.im}, scale_);
        shared_.terms[0][s] = terms.score;
        shared_.terms[1][s] = terms.agreement;
        shared_.terms[2][s] = terms.variance;
        shared_.terms[3][s] = terms.misfit;
    });
    sync_warps();
    if (threadIdx.x < lane_count) {
        Sums mine = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
        for_each_of_lane([&](unsigned s) {
            tracker::add_terms<Ops>(
                {shared_.terms[0][s], shared_.terms[1][s], shared_.terms[2][s], shared_.terms[3][s]},
                shared_.weight[s], mine);
        });
        shared_.set_lanes(threadIdx.x, mine);
    }
    shared_.join(0, sum_count);
}

/// Sums the misfits of all tried steps but 0, from that phase on.
template <bool diagonal>
__device__ __forceinline__ void StepSymbols<diagonal>::compare(const TrackedPhase& before) {
#pragma unroll 1
    for (unsigned k = 1 + threadIdx.x / lane_count; k < job_.plan.tried_count; k += parts) {
        const TrackedPhase tried = tracker::tried_phase<Ops>(before, job_.plan.tried[k]);
        float sum = 0.0F;
        for_each_of_lane([&](unsigned s) { sum = Ops::fma(misfit_of(s, tried), shared_.weight[s], sum); });
        shared_.lanes[k][threadIdx.x % lane_count] = sum;
    }
    shared_.join(1, job_.plan.tried_count);
}

template <bool diagonal>
__device__ __forceinline__ void StepSymbols<diagonal>::limit(const TrackedPhase& phase, float limit) {
    for_each_symbol([&](unsigned s) {
        shared_.terms[0][s] = tracker::limited<Ops>(misfit_of(s, phase), shared_.weight[s], limit);
    });
    sync_warps();
    if (threadIdx.x < lane_count) {
        float sum = 0.0F;
        for_each_of_lane([&](unsigned s) { sum = Ops::add(sum, shared_.terms[0][s]); });
        shared_.lanes[0][threadIdx.x] = sum;
    }
    shared_.join(0, 1);
}

/// By all threads.
__device__ __forceinline__ tracker::PtrsPhase phase_of_ptrs(const TrackerJob& job, const TrackStep& step,
                                                            Shared& shared) {
    if (job.places == nullptr || step.ptrs == 0) return {};
    const std::size_t slot = blockIdx.y;
    const auto* const symbols = reinterpret_cast<const float*>(job.ptrs) + 2 * slot * job.plan.ptrs_symbols;
    const float* const noise_variance = job.ptrs_noise_variance + slot * job.plan.ptrs_symbols;
    const auto* const pilots = reinterpret_cast<const float*>(job.pilots) + 2 * slot * job.plan.pilots;
    tracker::PtrsSums mine = {0.0F, 0.0F, 0.0F, 0.0F, 0.0F};
    for (unsigned i = threadIdx.x; i < step.ptrs && threadIdx.x < lane_count; i += lane_count) {
        const phy::detail::TrackedPtrs its = job.places[step.first_ptrs + i];
        tracker::add_ptrs<Ops>(mine, symbols[2 * its.symbol], symbols[2 * its.symbol + 1],
                               noise_variance[its.symbol], pilots[2 * its.pilot], pilots[2 * its.pilot + 1],
                               job.plan.ptrs_amplitude);
    }
    if (threadIdx.x < lane_count) shared.set_lanes(threadIdx.x, mine);
    shared.join(0, sum_count);
    const float* const sums = shared.sums;
    const tracker::PtrsPhase phase = tracker::phase_of<Ops>({sums[0], sums[1], sums[2], sums[3], sums[4]});
    sync_warps();
    return phase;
}

/// A block per chain and slot.
template <bool diagonal>
__global__ void __launch_bounds__(following_threads, 1)
    follow_phases(const __grid_constant__ TrackerJob job) {
    __shared__ Shared shared;
    const unsigned first = job.plan.chain[blockIdx.x];
    const unsigned end = job.plan.chain[blockIdx.x + 1];
#pragma unroll 1
    for (unsigned i = first; i < end; ++i) {
        const tracker::PtrsPhase ptrs = phase_of_ptrs(job, job.plan.steps[i], shared);
        if (threadIdx.x == 0) shared.ptrs[i] = ptrs;
    }
    StepSymbols<diagonal> symbols(job, shared);
    if (threadIdx.x >= warp_size) {
        symbols.obey();
        return;
    }
    TrackedSymbol* const tracked = job.tracked + std::size_t{blockIdx.y} * TrackPlan::max_steps;
    TrackedPhase phase = {1.0F, 0.0F, 0.0F};
    __syncwarp();
#pragma unroll 1
    for (unsigned i = first; i < end; ++i) {
        symbols.command({Command::Kind::take, i, {}, 0.0F});
        const TrackedSymbol followed =
            tracker::follow_symbol<Ops>(job.plan, phase, symbols, shared.ptrs + i, end - i);
        phase = followed.phase;
        if (threadIdx.x == 0) tracked[i] = followed;
    }
    if (threadIdx.x == 0) shared.command.kind = Command::Kind::finish;
    sync_warps();
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
    follow<<<chains, following_threads, 0, stream>>>(job);
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
