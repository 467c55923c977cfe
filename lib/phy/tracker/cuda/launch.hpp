#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/tracker/math/plan.hpp"

/// The interface between the host side of the CUDA tracker and its kernels.
namespace phy::gpu::detail {

/// Per block; affect speed only.
constexpr unsigned following_threads = 1024;
constexpr unsigned rotating_threads = 256;

/// Max blocks of a grid in the dimension of slots.
constexpr std::size_t max_tracked_slots = 65535;

/// All pointers are to device memory.
struct TrackerJob {
    phy::detail::TrackPlan plan;
    cf32* symbols;
    const float* noise_variance;
    LayerPair* pairs;                        ///< or null
    const phy::detail::TrackedPtrs* places;  ///< of PT-RS; null: none are given
    const cf32* ptrs;
    const float* ptrs_noise_variance;
    const cf32* pilots;
    SlotEstimate* estimates;
    phy::detail::TrackedSymbol* tracked;  ///< (slots, TrackPlan::max_steps)
    std::uint32_t slots;
};

/// Where a call raises noise variances.
struct NoiseJob {
    phy::detail::TrackPlan plan;
    float* noise_variance;
    LayerPair* pairs;  ///< or null
    const SlotEstimate* estimates;
    std::uint32_t slots;
};

/// Follows the phases of all slots, then turns those that need it, on the current device.
void track(const TrackerJob& job, cudaStream_t stream);

/// Raises noise variances by SlotEstimate::excess_noise, on the current device.
void raise_noise(const NoiseJob& job, cudaStream_t stream);

/// Makes the driver load the code of the kernels.
void load_tracker();

}  // namespace phy::gpu::detail
