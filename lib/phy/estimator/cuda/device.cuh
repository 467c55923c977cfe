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

__device__ __forceinline__ DeviceComplex complex_at(const float* row, int stride, int at) {
    return {row[at], row[stride + at]};
}

/// A comb's row of a stream, and the position of a tile's window in it.
struct FoldedColumn {
    const float* row;
    const float* mirror;
    int stride;
    int first;
    int last;
    int pilots;

    /// Element k of the folded column, as SlotEstimator::fold_column() computes it.
    __device__ __forceinline__ DeviceComplex at(int k) const {
        const int half = pilots / 2;
        if (k >= pilots) return {0.0F, 0.0F};
        if (pilots % 2 != 0 && k == half)
            return phy::detail::cuda::folded_middle<Ops>(complex_at(row, stride, first + half));
        const bool is_sum = k < half;
        const int i = is_sum ? k : k - (pilots - half);
        const DeviceComplex here = complex_at(row, stride, first + i);
        const DeviceComplex there = complex_at(mirror, stride, last - i);
        return is_sum ? phy::detail::cuda::folded_sum<Ops>(here, there)
                      : phy::detail::cuda::folded_difference<Ops>(here, there);
    }
};

/// Complex column `column` of a kind: (streams, combs, antennas, estimates).
__device__ __forceinline__ FoldedColumn folded_column(const EstimatorProgram& program, unsigned slot,
                                                      const EstimatorTileJob& job, const DeviceFilter& filter,
                                                      int kind, int column) {
    const int in_group = program.antennas * program.estimates;
    const int combs = kind == 1 ? 2 : 1;
    const int group = column / in_group;
    const int comb = group % combs;
    const int index = group / combs;
    int stream = 0;
    for (; stream < program.streams_count; ++stream)
        if (program.constants.joint[stream] == kind && program.index_in_kind[stream] == index) break;
    const int antenna = column % in_group / program.estimates;
    const int estimate = column % program.estimates;
    const int stride = program.comb_stride;
    const int row = (antenna * program.streams_count + stream) * program.estimates + estimate;
    const float* const at = program.streams_at + slot * program.streams_size +
                            static_cast<std::size_t>(row) * 4 * static_cast<unsigned>(stride);
    const float* const other = at + 2 * stride;
    const int first = program.ranges[job.range].offset + job.tile.window * program.comb_pilots;
    return {.row = kind == 1 && comb == 1 ? other : at,
            .mirror = kind == 1 && comb == 0 ? at : other,
            .stride = stride,
            .first = first,
            .last = first + filter.window_blocks * program.comb_pilots - 1,
            .pilots = filter.kinds[kind].pilots};
}

/// The modes of a kind in a slot's workspace.
__device__ __forceinline__ float* modes_of(const EstimatorProgram& program, unsigned slot,
                                           const EstimatorTileJob& job, const DeviceFilter& filter,
                                           int kind) {
    const int before = kind == 1 ? 0 : program.columns[1] * filter.kinds[1].modes.width();
    return program.modes_at + slot * program.largest.modes + job.modes_at + before;
}

}  // namespace phy::gpu::detail
