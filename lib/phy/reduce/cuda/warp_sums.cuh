#pragma once

#include "phy/cuda/warp.hpp"

/// Sums over the lanes of a warp, which all lanes get.
namespace phy::gpu::detail {

__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, value);
#else
    for (int offset = warp_size / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(all_lanes, value, offset);
    return value;
#endif
}

/// Lane v takes lane v + offset; half of the lanes go on with the first half of the sums, half with the rest.
template <unsigned count>
__device__ __forceinline__ void halve(float* sums, unsigned offset, unsigned lane) {
    const bool upper = (lane & offset) != 0;
#pragma unroll
    for (unsigned k = 0; k < count / 2; ++k) {
        const float sent = upper ? sums[k] : sums[k + count / 2];
        const float kept = upper ? sums[k + count / 2] : sums[k];
        sums[k] = __fadd_rn(kept, __shfl_xor_sync(all_lanes, sent, offset));
    }
}

}  // namespace phy::gpu::detail
