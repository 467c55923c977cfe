// The matrices M of a slot, and its estimate.

#include <iterator>

#include <cuda_pipeline.h>

#include "phy/cuda/shared_memory.hpp"
#include "phy/estimator/cuda/deconvolution.cuh"
#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

constexpr int max_filters = 32;  ///< lengths of windows

/// A thread solves the elements of some rows in some columns of a parity. A row's threads are neighbours, and
/// columns lie in memory as threads take them.
constexpr int row_threads = filter_row_threads;
constexpr int of_parity = row_threads / 2;
constexpr int columns_kept = filter_columns / row_threads;
constexpr int rows_at_once = filter_threads / row_threads;
constexpr int rows_kept = 2;
static_assert(columns_kept * of_parity == phy::detail::estimator_max_part);
static_assert(rows_at_once * rows_kept >= phy::detail::estimator_max_rows);
static_assert(filter_threads >= 2 * phy::detail::estimator_max_delays);

/// Shared memory of a block, which has 64 KiB on devices of compute capability 7.5. The products reuse that
/// of the columns after multiply().
struct Room {
    double* columns;   ///< (delays, filter_columns)
    double* steering;  ///< (delays, rows)
    double* powers;    ///< (2, delays)
    double* deposits;  ///< as powers: of each delay, earliest first
    double* known;     ///< (filter_columns): power of a tile that M explains
    double* products;  ///< (rows of the last shape, filter_columns): of the matrix before it is solved
    float* profile;    ///< of Deconvolution
};

constexpr int room_of_columns(const EstimatorSizes& largest) {
    return filter_columns *
           (largest.delays > largest.rows_of_last_shape ? largest.delays : largest.rows_of_last_shape);
}

std::size_t shared_bytes(const EstimatorProgram& host) {
    const int delays = host.largest.delays;
    const int steering = phy::detail::round_up(delays * host.largest.rows_of_matrix, 2);
    const int doubles = room_of_columns(host.largest) + steering + 4 * delays + filter_columns;
    return sizeof(double) * static_cast<std::size_t>(doubles) +
           sizeof(float) * static_cast<std::size_t>(room_of_deconvolution(host.profile));
}

__device__ __forceinline__ Room room_of(const EstimatorProgram& program, double* shared) {
    const int delays = program.largest.delays;
    Room room{};
    room.columns = shared;
    room.products = shared;
    room.steering = shared + room_of_columns(program.largest);
    room.powers = room.steering + phy::detail::round_up(delays * program.largest.rows_of_matrix, 2);
    room.deposits = room.powers + 2 * delays;
    room.known = room.deposits + 2 * delays;
    room.profile = reinterpret_cast<float*>(room.known + filter_columns);
    return room;
}

/// As SlotEstimator::set_powers(). deposit: of the thread's delay.
__device__ __forceinline__ void set_powers(const DeviceFilter& filter, const EstimatorDeposit& deposit,
                                           const float* profile, double noise, const Room& room) {
    const int delays = filter.delays;
    if (thread() < 2 * delays) {
        double power = 0.0;
#pragma unroll 4
        for (int i = 0; i < deposit.count; ++i)
            power += __ldg(filter.deposit_weights + deposit.weights + i) *
                     static_cast<double>(profile[deposit.first + i]);
        room.deposits[thread()] = power;
    }
    __syncthreads();
    if (thread() < delays) {
        const double late = room.deposits[delays + thread()];
        const double early = room.deposits[delays - 1 - thread()];
        room.powers[thread()] = filter.floor * noise + (late + early);
        room.powers[delays + thread()] = late - early;
    }
    __syncthreads();
}

/// Starts to copy constants, to whole vectors of two.
__device__ __forceinline__ void copy_async(double* to, const double* from, int count) {
    for (int i = 2 * thread(); i < count; i += 2 * filter_threads)
        __pipeline_memcpy_async(to + i, from + i, sizeof(double2));
}

/// A row of the matrix: of the window's modes or, after them, of a shape's. Even modes precede odd ones.
struct MatrixRow {
    int shape;     ///< -1: the window's
    int in_shape;  ///< index among its modes
    int parity;
    bool is_there;
};

__device__ __forceinline__ int row_of_thread(int kept) {
    return thread() / row_threads + kept * rows_at_once;
}

__device__ __forceinline__ MatrixRow matrix_row(const DeviceKind& kind, int row) {
    MatrixRow result = {
        .shape = -1, .in_shape = row, .parity = 0, .is_there = row < kind.modes.modes() + kind.rows};
    const EstimatorModes* modes = &kind.modes;
    while (result.in_shape >= modes->modes() && result.shape + 1 < kind.shapes_count) {
        result.in_shape -= modes->modes();
        modes = &kind.shapes[++result.shape].modes;
    }
    result.parity = result.in_shape < modes->counts[0] ? 0 : 1;
    return result;
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

/// The thread's elements of a row in shared memory.
__device__ __forceinline__ double2* elements_of_thread(double* row) {
    return reinterpret_cast<double2*>(row + thread() % row_threads * columns_kept);
}

__device__ __forceinline__ void store_row(const KeptRow& x, double* row) {
#pragma unroll
    for (int j = 0; j < columns_kept; j += 2)
        elements_of_thread(row)[j / 2] = make_double2(x[j], x[j + 1]);
}

/// A thread's elements of the matrix before it is solved. Rows beyond the last one are those of the last.
__device__ __forceinline__ void multiply(const Room& room, const MatrixRow (&rows)[rows_kept], int all,
                                         int delays, Kept& x) {
    const double* powers[rows_kept];
    const double* steering[rows_kept];
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        powers[i] = room.powers + (rows[i].parity == parity_of_thread() ? 0 : delays);
        steering[i] = room.steering + min(row_of_thread(i), all - 1);
    }
#pragma unroll 2
    for (int d = 0; d < delays; ++d) {
        const double2* const columns = elements_of_thread(room.columns + d * filter_columns);
        double weighted[rows_kept];
#pragma unroll
        for (int i = 0; i < rows_kept; ++i)
            weighted[i] = steering[i][d * all] * powers[i][d];
#pragma unroll
        for (int j = 0; j < columns_kept; j += 2) {
            const double2 two = columns[j / 2];
#pragma unroll
            for (int i = 0; i < rows_kept; ++i) {
                x[i][j] = __fma_rn(two.x, weighted[i], x[i][j]);
                x[i][j + 1] = __fma_rn(two.y, weighted[i], x[i][j + 1]);
            }
        }
    }
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

/// The error of M, for coefficients of power 1, by thread 0, once the products are of solved elements.
__device__ __forceinline__ void sum_known(const DeviceFilter& filter, const DeviceTileShape& last,
                                          const Room& room, double& power) {
    constexpr int other_warp = 2 * warp_size;
    static_assert(filter_columns <= other_warp);
    if (thread() < filter_columns) {
        double known = 0.0;
#pragma unroll 4
        for (int r = 0; r < last.modes.modes(); ++r)
            known += room.products[r * filter_columns + thread()];
        room.known[thread()] = known;
    } else if (thread() == other_warp) {
        double sum = 0.0;
#pragma unroll 4
        for (int i = 0; i < filter.delays; ++i)
            sum += room.powers[i] * __ldg(last.power + i);
        power = sum;
    }
}

__device__ __forceinline__ float error_of(const DeviceTileShape& last, const double* known_of, double power) {
    double known = 0.0;
#pragma unroll
    for (int parity = 0; parity < 2; ++parity) {
#pragma unroll
        for (int i = 0; i < filter_columns / 2; ++i)
            known += known_of[(of_parity * parity + i % of_parity) * columns_kept + i / of_parity];
    }
    const double error = power - __ddiv_rn(known, static_cast<double>(last.positions));
    return __double2float_rn(error > 0.0 ? error : 0.0);
}

/// Padding between modes stays 0.
__device__ __forceinline__ void write_mix(const DeviceKind& kind, bool joint, const MatrixRow& row,
                                          const KeptRow& x, float* mix) {
    const DeviceTileShape& shape = kind.shapes[row.shape];
    const double scale = joint ? 0.5 : 1.0;
    const int width = shape.modes.width();
    const int parity = parity_of_thread();
    const int first = parity == 0 ? 0 : kind.modes.counts[0];
    const int n = row.parity == 0 ? row.in_shape : row.in_shape - shape.modes.counts[0] + shape.modes.part(0);
    float* const to = mix + shape.mix_at + first * width + n;
#pragma unroll
    for (int j = 0; j < columns_kept; ++j) {
        if (in_part(j) < kind.modes.counts[parity])
            to[in_part(j) * width] = __double2float_rn(__dmul_rn(scale, x[j]));
    }
}

__device__ __forceinline__ void add_noise(const DeviceKind& kind, const MatrixRow& row, double noise,
                                          KeptRow& x) {
    if (row.shape >= 0 || row.parity != parity_of_thread()) return;
    const int in_parity = row.in_shape - (row.parity == 0 ? 0 : kind.modes.counts[0]);
#pragma unroll
    for (int j = 0; j < columns_kept; ++j)
        if (in_parity == in_part(j)) x[j] += noise;
}

/// M of a kind, and its error.
__device__ __forceinline__ void make_filter(const DeviceFilter& filter, const DeviceKind& kind, bool joint,
                                            double noise, const Room& room, float* mix, float* error) {
    __shared__ double power;
    const int all = kind.modes.modes() + kind.rows;
    const int last_shape = kind.shapes_count - 1;
    const DeviceTileShape& last = kind.shapes[last_shape];
    MatrixRow rows[rows_kept];
    double* products[rows_kept];
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        rows[i] = matrix_row(kind, row_of_thread(i));
        const bool is_of_last = rows[i].is_there && rows[i].shape == last_shape;
        products[i] = is_of_last ? room.products + rows[i].in_shape * filter_columns : nullptr;
    }
    Kept x = {};
    multiply(room, rows, all, filter.delays, x);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        if (products[i] != nullptr) store_row(x[i], products[i]);
        add_noise(kind, rows[i], noise, x[i]);
    }
    solve(kind.modes, x);
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        if (products[i] == nullptr) continue;
#pragma unroll
        for (int j = 0; j < columns_kept; ++j)
            products[i][thread() % row_threads * columns_kept + j] *= x[i][j];
    }
    __syncthreads();
    sum_known(filter, last, room, power);
#pragma unroll
    for (int i = 0; i < rows_kept; ++i)
        if (rows[i].is_there && rows[i].shape >= 0) write_mix(kind, joint, rows[i], x[i], mix);
    __syncthreads();
    if (thread() == 0) *error = error_of(last, room.known, power);
}

/// Other blocks have written delays and errors, so it reads past the first-level cache.
__device__ __forceinline__ void write_estimate(const EstimatorProgram& program, unsigned slot,
                                               SlotEstimate& out) {
    __shared__ float words[sizeof(SlotState) / sizeof(float)];
    __shared__ float errors[2 * max_filters];
    const int filters = program.largest.filters;
    const auto* const of_slot = reinterpret_cast<const float*>(program.states + slot);
    for (int i = thread(); i < static_cast<int>(sizeof(SlotState) / sizeof(float)); i += filter_threads)
        words[i] = __ldcg(of_slot + i);
    for (int i = thread(); i < 2 * filters; i += filter_threads)
        errors[i] = __ldcg(program.errors + std::size_t{slot} * static_cast<unsigned>(2 * filters) + i);
    __syncthreads();
    const SlotState& state = *reinterpret_cast<const SlotState*>(words);
    auto* const phases = reinterpret_cast<float*>(out.phase.data());
    if (threadIdx.x < symbols_per_slot) {
        phases[2 * threadIdx.x] = state.phase_re[threadIdx.x];
        phases[2 * threadIdx.x + 1] = state.phase_im[threadIdx.x];
    }
    if (threadIdx.x == 0)
        phy::detail::cuda::set_estimate<Ops>(program.constants, state, filters, program.shares, errors, out);
}

/// One block per filter, kind and slot; a slot's last block writes its estimate.
__global__ void __launch_bounds__(filter_threads, 1)
    make_filters(const __grid_constant__ EstimatorProgram program, SlotEstimate* estimates) {
    extern __shared__ __align__(16) double shared[];
    __shared__ alignas(DeviceFilter) unsigned words[sizeof(DeviceFilter) / sizeof(unsigned)];
    static_assert(sizeof(words) == sizeof(DeviceFilter));
    const unsigned slot = blockIdx.y;
    const int joint = static_cast<int>(blockIdx.x) % 2;
    for (int i = thread(); i < static_cast<int>(std::size(words)); i += filter_threads)
        words[i] = __ldg(reinterpret_cast<const unsigned*>(program.filters + blockIdx.x / 2) + i);
    __syncthreads();
    const DeviceFilter& filter = *reinterpret_cast<const DeviceFilter*>(words);
    const DeviceKind& kind = filter.kinds[joint];
    const Room room = room_of(program, shared);
    copy_async(room.columns, kind.columns, filter.delays * filter_columns);
    copy_async(room.steering, kind.steering, filter.delays * (kind.modes.modes() + kind.rows));
    __pipeline_commit();
    EstimatorDeposit deposit;
    if (thread() < 2 * filter.delays) deposit = filter.deposits[thread()];
    wait_for_previous();
    let_next_get_ready();
    const std::size_t index = std::size_t{slot} * gridDim.x + blockIdx.x;
    const Deconvolution deconvolution(program.profile, room.profile);
    deconvolve(program, slot, deconvolution);
    const float* const guess = deconvolution.guess + program.profile.reach;
    if (blockIdx.x == 0) measure_delays(program, slot, guess);
    __pipeline_wait_prior(0);
    if (program.columns[joint] > 0) {
        const double noise =
            static_cast<double>(program.states[slot].noise_over_power[static_cast<unsigned>(joint)]);
        set_powers(filter, deposit, guess, noise, room);
        make_filter(filter, kind, joint == 1, noise, room, program.mix + index * program.largest.mix,
                    program.errors + index);
    } else if (thread() == 0) {
        program.errors[index] = 0.0F;
    }
    if (is_last_block(program.arrivals + slot, gridDim.x)) write_estimate(program, slot, estimates[slot]);
}

}  // namespace

void start_filter(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    launch_dependent(make_filters, starts_early(job.slots),
                     dim3(static_cast<unsigned>(2 * host.largest.filters), job.slots), filter_threads,
                     shared_bytes(host), stream, host, job.estimates);
}

void prepare_filter() {
    load_code_with_shared_memory(make_filters);
}

}  // namespace phy::gpu::detail
