#pragma once

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"

/// Matrices that the threads of a block solve together, in registers.
namespace phy::gpu::detail {

/// A thread solves the elements of some rows in some columns of a parity. A row's threads are neighbours, and
/// columns lie in memory as threads take them.
constexpr int row_threads = filter_row_threads;
constexpr int of_parity = row_threads / 2;
constexpr int columns_kept = filter_columns / row_threads;
constexpr int rows_at_once = filter_threads / row_threads;
constexpr int rows_kept = 2;
static_assert(columns_kept * of_parity == phy::detail::estimator_max_part);
static_assert(rows_at_once * rows_kept >= phy::detail::estimator_max_rows);

__device__ __forceinline__ int row_of_thread(int kept) {
    return thread() / row_threads + kept * rows_at_once;
}

/// The parity of a thread's columns, and the index of one of them among those of the parity.
__device__ __forceinline__ int parity_of_thread() {
    return thread() % row_threads / of_parity;
}
__device__ __forceinline__ int in_part(int kept) {
    return of_parity * kept + thread() % of_parity;
}

using KeptRow = double[columns_kept];
using Kept = KeptRow[rows_kept];

__device__ __forceinline__ void clear(Kept& x) {
#pragma unroll
    for (KeptRow& row : x) {
#pragma unroll
        for (double& element : row)
            element = 0.0;
    }
}

/// The thread's elements of a row in shared memory.
__device__ __forceinline__ double2* elements_of_thread(double* row) {
    return reinterpret_cast<double2*>(row + thread() % row_threads * columns_kept);
}

__device__ __forceinline__ void store_row(const KeptRow& x, double* row) {
#pragma unroll
    for (int j = 0; j < columns_kept; j += 2)
        elements_of_thread(row)[j / 2] = make_double2(x[j], x[j + 1]);
}

/// What threads share in a step of the elimination: its row of pivots, and the next one's.
struct PivotRows {
    double rows[2][filter_columns];
    double over_pivots[2];
};

/// For all threads: the row of a mode, which is the first that a thread keeps, and the reciprocal of its
/// pivot.
__device__ __forceinline__ void publish(const Kept& x, double pivot, int lane, int mode, PivotRows& shared) {
    static_assert(rows_at_once >= filter_columns);
    if (row_of_thread(0) != mode) return;
    store_row(x[0], shared.rows[mode % 2]);
    if (thread() % row_threads == lane) shared.over_pivots[mode % 2] = __drcp_rn(pivot);
}

/// Subtracts a row of pivots from one of a thread's rows, if that follows.
template <int kept>
__device__ __forceinline__ void subtract(const double2 (&pivots)[columns_kept / 2], double over_pivot,
                                         int lane, bool follows, KeptRow& x) {
    const double factor = __shfl_sync(all_lanes, x[kept], lane, row_threads) * over_pivot;
    if (!follows) return;
#pragma unroll
    for (int j = 0; j < columns_kept; j += 2) {
        x[j] = __fma_rn(-factor, pivots[j / 2].x, x[j]);
        x[j + 1] = __fma_rn(-factor, pivots[j / 2].y, x[j + 1]);
    }
    if (thread() % row_threads == lane) x[kept] = factor;
}

/// Eliminates with the pivots of a parity from the kept-th columns on. The next step's row is published
/// before other rows are finished.
template <int kept>
__device__ __forceinline__ void eliminate(int parity, int count, int first_mode, PivotRows& shared, Kept& x) {
    if constexpr (kept < columns_kept) {
        constexpr int next = kept + 1 < columns_kept ? kept + 1 : kept;
#pragma unroll 1
        for (int i = 0; i < of_parity; ++i) {
            const int in_parity = of_parity * kept + i;
            if (in_parity >= count) return;
            const int lane = of_parity * parity + i;
            const int mode = first_mode + in_parity;
            __syncthreads();
            const double over_pivot = shared.over_pivots[mode % 2];
            double2 pivots[columns_kept / 2];
#pragma unroll
            for (int j = 0; j < columns_kept / 2; ++j)
                pivots[j] = elements_of_thread(shared.rows[mode % 2])[j];
            subtract<kept>(pivots, over_pivot, lane, row_of_thread(0) > mode, x[0]);
            if (in_parity + 1 < count)
                publish(x, i + 1 < of_parity ? x[0][kept] : x[0][next],
                        of_parity * parity + (i + 1) % of_parity, mode + 1, shared);
#pragma unroll
            for (int row = 1; row < rows_kept; ++row)
                subtract<kept>(pivots, over_pivot, lane, true, x[row]);
        }
        eliminate<kept + 1>(parity, count, first_mode, shared, x);
    }
}

/// Gauss-Jordan elimination by columns: rows of tiles become M. Threads keep the matrix in registers, so a
/// step needs its row of pivots and one barrier.
__device__ __forceinline__ void solve(const EstimatorModes& modes, Kept& x) {
    __shared__ __align__(16) PivotRows shared;
    const int even = modes.counts[0];
    const int odd = modes.counts[1];
    publish(x, x[0][0], 0, 0, shared);
    eliminate<0>(0, even, 0, shared, x);
    if (odd > 0) publish(x, x[0][0], of_parity, even, shared);
    eliminate<0>(1, odd, even, shared, x);
}

}  // namespace phy::gpu::detail
