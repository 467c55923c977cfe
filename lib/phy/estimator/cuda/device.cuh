#pragma once

#include <cstddef>

#include "phy/cuda/dependent_launch.cuh"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/estimator/cuda/job.hpp"
#include "phy/estimator/math/formulas-inl.h"
#include "phy/estimator/math/layout.hpp"
#include "phy/reduce/warp.cuh"

/// Functions that several kernels of the estimator share.
namespace phy::gpu::detail {

using Ops = phy::detail::cuda::Ops;
using DeviceComplex = phy::detail::cuda::ComplexOf<Ops>;

static_assert(phy::detail::estimator_lanes == warp_size);

__device__ __forceinline__ int thread() {
    return static_cast<int>(threadIdx.x);
}

/// True in the last of a slot's blocks, which count their arrivals. What the other blocks wrote before can
/// then be read, past the first-level cache. All threads of a block must call it.
__device__ __forceinline__ bool is_last_block(unsigned* arrivals, unsigned blocks) {
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicInc(arrivals, blocks - 1) == blocks - 1;
    __syncthreads();
    if (is_last) __threadfence();
    return is_last;
}

/// Loads a sample at any address.
template <unsigned bytes>
__device__ __forceinline__ void load_bytes(const std::byte* from, std::uint32_t (&words)[(bytes + 3) / 4]) {
    for (unsigned w = 0; w < (bytes + 3) / 4; ++w)
        words[w] = 0;
#pragma unroll
    for (unsigned b = 0; b < bytes; ++b)
        words[b / 4] |= static_cast<std::uint32_t>(from[b]) << (8 * (b % 4));
}

__device__ __forceinline__ DeviceComplex complex_at(const float* row, int stride, int at) {
    return {row[at], row[stride + at]};
}

/// The modes of a kind in a slot's workspace.
__device__ __forceinline__ float* modes_of(const EstimatorProgram& program, unsigned slot,
                                           const EstimatorTileJob& job, const DeviceFilter& filter,
                                           int kind) {
    const int before = kind == 1 ? 0 : program.columns[1] * filter.kinds[1].modes.width();
    return program.modes_at + slot * program.largest.modes + job.modes_at + before;
}

}  // namespace phy::gpu::detail
