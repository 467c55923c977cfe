#pragma once

#include "phy/estimator/cuda/matrix.cuh"

/// As SlotEstimator::raise_likelihood(), by the threads of a block.
namespace phy::gpu::detail {

/// In shared memory: doubles_of_likelihood().
struct Likelihood {
    double* correlation;  ///< (modes, modes)
    double* solved;       ///< (2 delays, modes)
    double* products;     ///< as solved

    Likelihood() = default;
    __device__ __forceinline__ Likelihood(int delays, int modes, double* shared)
        : correlation(shared), solved(correlation + modes * modes), products(solved + 2 * delays * modes) {}
};

/// Where a row of columns has a mode.
__device__ __forceinline__ int column_of_mode(const EstimatorModes& modes, int mode) {
    const int parity = mode < modes.counts[0] ? 0 : 1;
    const int i = parity == 0 ? mode : mode - modes.counts[0];
    return (parity * of_parity + i % of_parity) * columns_kept + i / of_parity;
}

/// Writes the thread's elements of a row in the order of modes.
__device__ __forceinline__ void store_modes(const EstimatorModes& modes, const KeptRow& x, double* row) {
    const int parity = parity_of_thread();
    double* const to = row + (parity == 0 ? 0 : modes.counts[0]);
#pragma unroll
    for (int j = 0; j < columns_kept; ++j)
        if (in_part(j) < modes.counts[parity]) to[in_part(j)] = x[j];
}

/// The modes of all tiles of the block's filter.
__device__ __forceinline__ void correlate_modes(const EstimatorProgram& program, unsigned slot,
                                                const DeviceFilter& filter, int kind, const Likelihood& out) {
    const EstimatorModes& modes = filter.kinds[kind].modes;
    const int count = modes.modes();
    const int width = modes.width();
    const int columns = program.columns[kind];
    for (int i = thread(); i < count * (count + 1) / 2; i += filter_threads) {
        // On the diagonal and below: two rows that mirror each other have count + 1 elements.
        const int row = i / (count + 1);
        const int column = i % (count + 1);
        const bool is_in_row = column <= row;
        const int first = is_in_row ? row : count - 1 - row;
        const int second = is_in_row ? column : column - row - 1;
        double sum = 0.0;
        for (int k = 0; k < program.largest.jobs; ++k) {
            const EstimatorTileJob& job = program.jobs[k];
            if (job.filter != static_cast<int>(blockIdx.x / 2)) continue;
            const float* const x = modes_of(program, slot, job, filter, kind);
            const float* const a = x + modes.float_of(first);
            const float* const b = x + modes.float_of(second);
#pragma unroll 8
            for (int c = 0; c < columns; ++c)
                sum = __fma_rn(static_cast<double>(a[c * width]), static_cast<double>(b[c * width]), sum);
        }
        out.correlation[first * count + second] = sum;
        out.correlation[second * count + first] = sum;
    }
    __syncthreads();
}

/// The path of a delay on a mode of a parity; `late` is that of the delay beyond the middle.
__device__ __forceinline__ double of_path(double late, bool is_early, int parity) {
    return is_early && parity == 1 ? -late : late;
}

/// A delay and its mirror have one row of columns.
__device__ __forceinline__ int row_of_delay(int delays, int delay) {
    return delay < delays ? delays - 1 - delay : delay - delays;
}

/// The thread's elements of the row of a path, if there is such a delay.
__device__ __forceinline__ void load_path(const DeviceFilter& filter, const DeviceKind& kind, double* columns,
                                          int delay, KeptRow& x) {
    if (delay < 0 || delay >= 2 * filter.delays) return;
    const double2* const from =
        elements_of_thread(columns + row_of_delay(filter.delays, delay) * filter_columns);
    const bool is_early = delay < filter.delays;
#pragma unroll
    for (int j = 0; j < columns_kept; j += 2) {
        const double2 two = from[j / 2];
        x[j] = of_path(two.x, is_early, parity_of_thread());
        x[j + 1] = of_path(two.y, is_early, parity_of_thread());
    }
}

/// A step, from rows of paths that are solved.
__device__ __forceinline__ void raise_powers(const DeviceFilter& filter, const DeviceKind& kind,
                                             const double* columns, Kept& x, double scale,
                                             const Likelihood& room, double* powers) {
    const EstimatorModes& modes = kind.modes;
    const int count = modes.modes();
    const int delays = 2 * filter.delays;
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        const int delay = row_of_thread(i) - count;
        if (delay >= 0 && delay < delays) store_modes(modes, x[i], room.solved + delay * count);
    }
    __syncthreads();
    for (int i = thread(); i < delays * count; i += filter_threads) {
        const double* const solved = room.solved + i / count * count;
        const double* const correlation = room.correlation + i % count * count;
        double sum = 0.0;
#pragma unroll 4
        for (int mode = 0; mode < count; ++mode)
            sum = __fma_rn(correlation[mode], solved[mode], sum);
        room.products[i] = sum;
    }
    __syncthreads();
    if (thread() < delays) {
        const int delay = thread();
        const double* const solved = room.solved + delay * count;
        const double* const products = room.products + delay * count;
        const double* const paths = columns + row_of_delay(filter.delays, delay) * filter_columns;
        double measured = 0.0;
        double expected = 0.0;
#pragma unroll 4
        for (int mode = 0; mode < count; ++mode) {
            const int parity = mode < modes.counts[0] ? 0 : 1;
            const double path = of_path(paths[column_of_mode(modes, mode)], delay < filter.delays, parity);
            measured += products[mode] * solved[mode];
            expected += solved[mode] * path;
        }
        powers[delay] *= __ddiv_rn(measured * scale, expected);
    }
    __syncthreads();
}

}  // namespace phy::gpu::detail
