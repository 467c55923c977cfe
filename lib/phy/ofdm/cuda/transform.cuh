#pragma once

#include "phy/ofdm/math/butterfly-inl.h"
#include "phy/ofdm/math/fft_plan.hpp"

/// A transform by threads of a block, in shared memory.
namespace phy::gpu::detail {

using TransformOps = phy::detail::cuda::Ops;
using TransformNumber = phy::detail::cuda::Complex<TransformOps>;
using phy::detail::Fft;
using phy::detail::FftPass;

/// The threads of a transform, and the shared memory of its points between passes: real parts, then imaginary
/// ones.
struct Team {
    unsigned rank;  ///< of this thread
    unsigned threads;
    float* points;
    unsigned plane;  ///< from a point's real part to its imaginary part
};

/// Room for N points; place_of() stays in it.
constexpr unsigned plane_of(unsigned size) {
    return (size + 31) / 32 * 32;
}

/// The index of a point in shared memory. Points are permuted in groups of 32 so that the threads of a warp
/// have no bank conflicts in any pass of 512, 1024, 2048, 4096 and 8192 points, and few with other sizes.
__device__ __forceinline__ unsigned place_of(unsigned point) {
    return point ^ ((point >> 3) & 28U) ^ (((point >> 6) ^ (point >> 8)) & 31U);
}

__device__ __forceinline__ TransformNumber load_point(const Team& team, unsigned point) {
    const unsigned place = place_of(point);
    return {team.points[place], team.points[team.plane + place]};
}

__device__ __forceinline__ void store_point(const Team& team, unsigned point, const TransformNumber& value) {
    const unsigned place = place_of(point);
    team.points[place] = value.re;
    team.points[team.plane + place] = value.im;
}

/// Factors of a pass that is not the last: (radix - 1, groups).
__device__ __forceinline__ const float2* factors_of(const Fft& fft, const FftPass& pass) {
    return reinterpret_cast<const float2*>(fft.table + pass.factors);
}

/// The butterfly of group p of a pass. Its outputs lie where its inputs do, or would.
template <unsigned radix>
__device__ __forceinline__ void store_outputs(const Fft& fft, const FftPass& pass, unsigned p, unsigned first,
                                              const Team& team, TransformNumber (&x)[radix]) {
    const float2* const factors = factors_of(fft, pass) + p;
    phy::detail::cuda::dft<TransformOps>(x);
    store_point(team, first, x[0]);
#pragma unroll
    for (unsigned k = 1; k < radix; ++k) {
        const float2 factor = __ldg(factors + (k - 1) * pass.groups);
        x[k] = phy::detail::cuda::product<TransformOps>(x[k], TransformNumber{factor.x, factor.y});
        store_point(team, first + k * pass.groups, x[k]);
    }
}

/// Points come from load(index).
template <unsigned radix, class Load>
__device__ __forceinline__ void first_pass(const Fft& fft, const Team& team, const Load& load) {
    const FftPass& pass = fft.pass[0];
#pragma unroll 1
    for (unsigned p = team.rank; p < pass.groups; p += team.threads) {
        TransformNumber x[radix];
#pragma unroll
        for (unsigned k = 0; k < radix; ++k)
            x[k] = load(p + k * pass.groups);
        store_outputs<radix>(fft, pass, p, p, team, x);
    }
}

/// Outputs of the previous pass with the same k lie side by side: they are the inputs of `stride` smaller
/// transforms.
template <unsigned radix>
__device__ __forceinline__ void inner_pass(const Fft& fft, const FftPass& pass, const Team& team) {
#pragma unroll 1
    for (unsigned i = team.rank; i < pass.stride * pass.groups; i += team.threads) {
        const unsigned smaller = __umulhi(i, pass.groups_reciprocal);
        const unsigned p = i - smaller * pass.groups;
        const unsigned first = smaller * pass.groups * radix + p;
        TransformNumber x[radix];
#pragma unroll
        for (unsigned k = 0; k < radix; ++k)
            x[k] = load_point(team, first + k * pass.groups);
        store_outputs<radix>(fft, pass, p, first, team, x);
    }
}

/// The index of the smallest transform that has the bins q, q + stride ...: the output of the first pass is
/// the lowest digit of q and the highest of this index.
__device__ __forceinline__ unsigned smallest_of(const Fft& fft, unsigned q) {
    unsigned smallest = 0;
#pragma unroll 1
    for (unsigned pass = 0; pass + 1 < fft.passes; ++pass) {
        const unsigned rest = __umulhi(q, fft.pass[pass].radix_reciprocal);
        smallest = smallest * fft.pass[pass].radix + (q - rest * fft.pass[pass].radix);
        q = rest;
    }
    return smallest;
}

/// Bins go to store(index, value).
template <unsigned radix, class Store>
__device__ __forceinline__ void last_pass(const Fft& fft, const Team& team, const Store& store) {
    const unsigned stride = fft.pass[fft.passes - 1].stride;
#pragma unroll 1
    for (unsigned q = team.rank; q < stride; q += team.threads) {
        const unsigned first = smallest_of(fft, q) * radix;
        TransformNumber x[radix];
#pragma unroll
        for (unsigned k = 0; k < radix; ++k)
            x[k] = load_point(team, first + k);
        phy::detail::cuda::dft<TransformOps>(x);
#pragma unroll
        for (unsigned k = 0; k < radix; ++k)
            store(q + k * stride, x[k]);
    }
}

/// All threads of the block must call it. Needs at least two passes, the first of radix 8 or 4. Points stay
/// in place between passes; their layout does not change the arithmetic.
template <class Load, class Store>
__device__ __forceinline__ void transform(const Fft& fft, const Team& team, const Load& load,
                                          const Store& store) {
    if (fft.pass[0].radix == 8)
        first_pass<8>(fft, team, load);
    else
        first_pass<4>(fft, team, load);
    __syncthreads();
#pragma unroll 1
    for (unsigned i = 1; i + 1 < fft.passes; ++i) {
        const FftPass& pass = fft.pass[i];
        if (pass.radix == 8)
            inner_pass<8>(fft, pass, team);
        else if (pass.radix == 4)
            inner_pass<4>(fft, pass, team);
        else if (pass.radix == 3)
            inner_pass<3>(fft, pass, team);
        else
            inner_pass<5>(fft, pass, team);
        __syncthreads();
    }
    const unsigned last = fft.pass[fft.passes - 1].radix;
    if (last == 8)
        last_pass<8>(fft, team, store);
    else if (last == 4)
        last_pass<4>(fft, team, store);
    else if (last == 3)
        last_pass<3>(fft, team, store);
    else
        last_pass<5>(fft, team, store);
}

}  // namespace phy::gpu::detail
