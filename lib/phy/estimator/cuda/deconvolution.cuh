#pragma once

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/profile-inl.h"

/// A slot's profile without the leaks of its taper, by the threads of a block.
namespace phy::gpu::detail {

/// Threads read the profile also beyond its end.
constexpr int padded(int bins) {
    return phy::detail::round_up(bins, 4) + 8;
}

constexpr int room_of_deconvolution(const EstimatorProfileShape& profile) {
    return padded(2 * profile.reach + 1) + padded(profile.extent) +
           2 * padded(profile.extent + 2 * profile.reach);
}

/// Its shared memory: room_of_deconvolution() floats.
struct Deconvolution {
    float* kernel;    ///< (2 reach + 1)
    float* measured;  ///< (extent)
    float* guess;     ///< (reach, extent, reach)
    float* ratios;    ///< as guess

    __device__ __forceinline__ Deconvolution(const EstimatorProfileShape& profile, float* shared)
        : kernel(shared),
          measured(kernel + padded(2 * profile.reach + 1)),
          guess(measured + padded(profile.extent)),
          ratios(guess + padded(profile.extent + 2 * profile.reach)) {}
};

constexpr int bins_of_thread = 2;

/// Adds 4 x fours taps from the k-th on to bins i and i + 1 of a convolution; i is even. All are loaded
/// before the first is used, to wait only once.
template <int fours>
__device__ __forceinline__ void add_taps(const float* kernel, const float* x, int i, int k,
                                         float (&sums)[bins_of_thread]) {
    float4 factors[fours];
    float2 pairs[2 * fours + 1];
#pragma unroll
    for (int n = 0; n < fours; ++n)
        factors[n] = reinterpret_cast<const float4*>(kernel + k)[n];
#pragma unroll
    for (int n = 0; n <= 2 * fours; ++n)
        pairs[n] = reinterpret_cast<const float2*>(x + i + k)[n];
#pragma unroll
    for (int n = 0; n < fours; ++n) {
        const float2 first = pairs[2 * n];
        const float2 second = pairs[2 * n + 1];
        sums[0] = Ops::fma(factors[n].x, first.x, sums[0]);
        sums[1] = Ops::fma(factors[n].x, first.y, sums[1]);
        sums[0] = Ops::fma(factors[n].y, first.y, sums[0]);
        sums[1] = Ops::fma(factors[n].y, second.x, sums[1]);
        sums[0] = Ops::fma(factors[n].z, second.x, sums[0]);
        sums[1] = Ops::fma(factors[n].z, second.y, sums[1]);
        sums[0] = Ops::fma(factors[n].w, second.y, sums[0]);
        sums[1] = Ops::fma(factors[n].w, pairs[2 * n + 2].x, sums[1]);
    }
}

__device__ __forceinline__ void convolve(const float* kernel, int taps, const float* x, int i,
                                         float (&sums)[bins_of_thread]) {
    int k = 0;
#pragma unroll 1
    for (; k + 16 <= taps; k += 16)
        add_taps<4>(kernel, x, i, k, sums);
#pragma unroll 1
    for (; k + 4 <= taps; k += 4)
        add_taps<1>(kernel, x, i, k, sums);
#pragma unroll 1
    for (; k < taps; ++k) {
        sums[0] = Ops::fma(kernel[k], x[i + k], sums[0]);
        sums[1] = Ops::fma(kernel[k], x[i + k + 1], sums[1]);
    }
}

/// Calls next(bin, convolved) for the bins of an extent.
template <class Next>
__device__ __forceinline__ void convolve_extent(const float* kernel, int taps, const float* x, int extent,
                                                const Next& next) {
    for (int i = bins_of_thread * thread(); i < extent; i += bins_of_thread * filter_threads) {
        float sums[bins_of_thread] = {};
        convolve(kernel, taps, x, i, sums);
#pragma unroll
        for (int r = 0; r < bins_of_thread; ++r)
            if (i + r < extent) next(i + r, sums[r]);
    }
    __syncthreads();
}

/// Writes the measured profile, the kernel and the first guess.
__device__ __forceinline__ void load_profile(const DeviceProfile& profile, const float* measured, float noise,
                                             const Deconvolution& in) {
    float* const guess = in.guess + profile.reach;
    for (int i = thread(); i < 2 * profile.reach + 1; i += filter_threads)
        in.kernel[i] = __ldg(profile.kernel + i);
    for (int i = thread(); i < padded(profile.extent + 2 * profile.reach); i += filter_threads) {
        in.guess[i] = 0.0F;
        in.ratios[i] = 0.0F;
    }
    __syncthreads();
    for (int i = thread(); i < profile.extent; i += filter_threads) {
        in.measured[i] = measured[i];
        if (profile.steps > 0) guess[i] = phy::detail::cuda::first_guess<Ops>(in.measured[i], noise, profile);
    }
    __syncthreads();
}

/// From the last step's guess to the profile of power 1.
__device__ __forceinline__ void normalize(const DeviceProfile& profile, float noise, float* guess) {
    __shared__ float power;
    const int extent = profile.extent;
    for (int i = thread(); i < extent; i += filter_threads)
        guess[i] = phy::detail::cuda::last_guess<Ops>(guess[i], noise, profile.margin);
    __syncthreads();
    if (thread() < warp_size) {
        float lane = 0.0F;
        for (int i = thread(); i < extent; i += warp_size)
            lane = Ops::add(lane, guess[i]);
        lane = joined_warp(lane);
        if (thread() == 0) power = lane;
    }
    __syncthreads();
    const bool is_flat = profile.steps == 0 || !(power > 0.0F);
    const float even = Ops::div(1.0F, static_cast<float>(extent));
    for (int i = thread(); i < extent; i += filter_threads)
        guess[i] = is_flat ? even : Ops::div(guess[i], power);
    __syncthreads();
}

/// As SlotEstimator::deconvolve().
__device__ __forceinline__ void deconvolve(const EstimatorProgram& program, unsigned slot,
                                           const Deconvolution& in) {
    const DeviceProfile& profile = program.profile;
    const int extent = profile.extent;
    const int taps = 2 * profile.reach + 1;
    const float noise = Ops::mul(program.states[slot].noise, profile.noise_share);
    float* const guess = in.guess + profile.reach;
    float* const ratios = in.ratios + profile.reach;
    load_profile(profile, program.measured + std::size_t{slot} * static_cast<unsigned>(extent), noise, in);
#pragma unroll 1
    for (int step = 0; step < profile.steps; ++step) {
        convolve_extent(in.kernel, taps, in.guess, extent, [&](int i, float expected) {
            ratios[i] = phy::detail::cuda::measured_over_expected<Ops>(in.measured[i], expected, noise);
        });
        convolve_extent(in.kernel, taps, in.ratios, extent, [&](int i, float convolved) {
            guess[i] =
                phy::detail::cuda::next_guess<Ops>(guess[i], convolved, __ldg(profile.over_reached + i));
        });
    }
    normalize(profile, noise, guess);
}

/// As SlotEstimator::measure_delays(), by the first warp.
__device__ __forceinline__ void measure_delays(const EstimatorProgram& program, unsigned slot,
                                               const float* guess) {
    if (thread() >= warp_size) return;
    const DeviceProfile& profile = program.profile;
    float strongest = 0.0F;
    for (int i = thread(); i < profile.extent; i += warp_size)
        strongest = Ops::max(strongest, guess[i]);
    strongest = __uint_as_float(largest_of_warp(__float_as_uint(strongest)));
    const float least = Ops::mul(strongest, phy::detail::cuda::path_share);
    const float of_first = Ops::mul(strongest, phy::detail::cuda::first_path_share);
    float sums[3] = {};
    int first = profile.extent;
    for (int i = thread(); i < profile.extent; i += warp_size) {
        const bool is_crest = i + 1 == profile.extent || !(guess[i + 1] > guess[i]);
        if (is_crest && !(guess[i] < of_first)) first = min(first, i);
        if (guess[i] < least) continue;
        phy::detail::cuda::add_moments<Ops>(guess[i], i - (profile.extent - 1) / 2, sums[0], sums[1],
                                            sums[2]);
    }
#pragma unroll
    for (float& sum : sums)
        sum = joined_warp(sum);
    first = profile.extent - static_cast<int>(largest_of_warp(static_cast<unsigned>(profile.extent - first)));
    if (thread() == 0) phy::detail::cuda::set_delays<Ops>(profile, sums, first, program.states[slot]);
}

}  // namespace phy::gpu::detail
