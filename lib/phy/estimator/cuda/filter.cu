// The matrices M of a slot, and its delays.

#include <iterator>

#include <cuda_pipeline.h>

#include "phy/cuda/shared_memory.hpp"
#include "phy/estimator/cuda/deconvolution.cuh"
#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/likelihood.cuh"
#include "phy/estimator/cuda/matrix.cuh"
#include "phy/estimator/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

static_assert(filter_threads >= 2 * phy::detail::estimator_max_delays);

/// Shared memory of a block, which has 64 KiB on devices of compute capability 7.5. The products reuse that
/// of the columns after multiply().
struct Room {
    double* columns;   ///< (delays, filter_columns)
    double* steering;  ///< (delays, rows)
    double* powers;    ///< (2, delays): sums and differences of those of delays that mirror each other
    double* deposits;  ///< as powers: of each delay, earliest first
    double* known;     ///< (filter_columns): power of a tile that M explains
    double* products;  ///< (rows of the last shape, filter_columns): of the matrix before it is solved
    Likelihood likelihood;
    float* profile;  ///< of Deconvolution
};

std::size_t shared_bytes(const EstimatorProgram& host) {
    return sizeof(double) * static_cast<std::size_t>(host.filter_doubles) +
           sizeof(float) * static_cast<std::size_t>(room_of_deconvolution(host.profile));
}

__device__ __forceinline__ Room room_of(const EstimatorProgram& program, const DeviceFilter& filter,
                                        const DeviceKind& kind, double* shared) {
    const int delays = filter.delays;
    Room room{};
    room.columns = shared;
    room.products = shared;
    room.steering = shared + doubles_of_columns(delays, kind.rows_of_last_shape);
    room.powers = room.steering + doubles_of_steering(delays, kind.modes.modes() + kind.rows);
    room.deposits = room.powers + 2 * delays;
    room.known = room.deposits + 2 * delays;
    room.likelihood = Likelihood(delays, kind.modes.modes(), room.known + filter_columns);
    room.profile = reinterpret_cast<float*>(shared + program.filter_doubles);
    return room;
}

/// As SlotEstimator::add_powers().
__device__ __forceinline__ void add_powers(int delays, double floor, const Room& room) {
    if (thread() < delays) {
        const double late = room.deposits[delays + thread()];
        const double early = room.deposits[delays - 1 - thread()];
        room.powers[thread()] = floor + (late + early);
        room.powers[delays + thread()] = late - early;
    }
    __syncthreads();
}

/// As SlotEstimator::set_powers(). deposit: of the thread's delay.
__device__ __forceinline__ void set_powers(const DeviceFilter& filter, const EstimatorDeposit& deposit,
                                           const float* profile, double noise, const Room& room) {
    if (thread() < 2 * filter.delays) {
        double power = 0.0;
#pragma unroll 4
        for (int i = 0; i < deposit.count; ++i)
            power += __ldg(filter.deposit_weights + deposit.weights + i) *
                     static_cast<double>(profile[deposit.first + i]);
        room.deposits[thread()] = filter.likelihood_steps > 0 ? power + 0.5 * filter.floor * noise : power;
    }
    __syncthreads();
    add_powers(filter.delays, filter.likelihood_steps > 0 ? 0.0 : filter.floor * noise, room);
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

/// Sums the power that M explains, once the products are of solved elements, and that of a tile, of which
/// deposits are parts.
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
            sum += room.deposits[i];
        power = sum;
    }
}

/// The error of M, for coefficients of power 1.
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

/// M of a kind, and its error, after so many steps of raise_powers(). scale: of the correlation of modes.
__device__ __forceinline__ void make_filter(const DeviceFilter& filter, const DeviceKind& kind, bool joint,
                                            double noise, int steps, double scale, const Room& room,
                                            float* mix, float* error) {
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
    Kept x;
#pragma unroll 1
    for (int step = steps; step >= 0; --step) {
        clear(x);
        multiply(room, rows, all, filter.delays, x);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < rows_kept; ++i) {
            if (step == 0 && products[i] != nullptr) store_row(x[i], products[i]);
            if (step > 0) load_path(filter, kind, room.columns, row_of_thread(i) - kind.modes.modes(), x[i]);
            add_noise(kind, rows[i], noise, x[i]);
        }
        solve(kind.modes, x);
        if (step == 0) break;
        raise_powers(filter, kind, room.columns, x, scale, room.likelihood, room.deposits);
        add_powers(filter.delays, 0.0, room);
    }
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        if (products[i] == nullptr) continue;
#pragma unroll
        for (int j = 0; j < columns_kept; ++j)
            products[i][thread() % row_threads * columns_kept + j] *= x[i][j];
    }
    if (thread() < filter.delays)
        room.deposits[thread()] = room.powers[thread()] * __ldg(last.power + thread());
    __syncthreads();
    sum_known(filter, last, room, power);
#pragma unroll
    for (int i = 0; i < rows_kept; ++i)
        if (rows[i].is_there && rows[i].shape >= 0) write_mix(kind, joint, rows[i], x[i], mix);
    __syncthreads();
    if (thread() == 0) *error = error_of(last, room.known, power);
}

/// One block per filter, kind and slot.
__global__ void __launch_bounds__(filter_threads, 1)
    make_filters(const __grid_constant__ EstimatorProgram program) {
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
    const Room room = room_of(program, filter, kind, shared);
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
        const auto of_pilot = static_cast<double>(program.states[slot].noise);
        const double columns = 0.5 * filter.tiles * program.columns[joint];
        const int steps = of_pilot > 0.0 ? filter.likelihood_steps : 0;
        if (steps > 0) correlate_modes(program, slot, filter, joint, room.likelihood);
        make_filter(filter, kind, joint == 1, noise, steps, __ddiv_rn(noise, of_pilot * columns), room,
                    program.mix + index * program.largest.mix, program.errors + index);
    } else if (thread() == 0) {
        program.errors[index] = 0.0F;
    }
}

}  // namespace

void start_filter(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    launch_dependent(make_filters, starts_early(job.slots),
                     dim3(static_cast<unsigned>(2 * host.largest.filters), job.slots), filter_threads,
                     shared_bytes(host), stream, host);
}

void prepare_filter() {
    load_code_with_shared_memory(make_filters);
}

}  // namespace phy::gpu::detail
