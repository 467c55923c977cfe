// The matrices M of a slot, and its estimate.

#include <algorithm>

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/profile-inl.h"

namespace phy::gpu::detail {
namespace {

constexpr int tile_rows = 4;  ///< of a product, per thread
constexpr int tile_columns = 4;
constexpr int max_filters = 32;  ///< lengths of windows

// Elements that a thread keeps of a matrix that is solved: those of some rows and columns.
constexpr int column_threads = 16;
constexpr int row_threads = filter_threads / column_threads;
constexpr int columns_kept = 3;
constexpr int rows_kept = 4;
static_assert(columns_kept * column_threads >= phy::detail::estimator_max_columns);
static_assert(rows_kept * row_threads >= phy::detail::estimator_max_rows);

__device__ __forceinline__ int thread() {
    return static_cast<int>(threadIdx.x);
}

/// Shared memory of a block. The profile lies where the products follow once it is no longer needed: a block
/// has 64 KiB on devices of compute capability 7.5.
struct Room {
    double* matrix;    ///< (rows, columns)
    double* powers;    ///< (2, delays)
    double* known;     ///< (columns): power of a tile that M explains
    double* products;  ///< (rows of the last shape, columns): of the matrix before it is solved
    float* kernel;     ///< (2 reach + 1), rounded up
    float* measured;   ///< (extent)
    float* guess;      ///< (reach, extent, reach)
    float* ratios;     ///< as guess
};

constexpr int kernel_room(int reach) {
    return phy::detail::round_up(2 * reach + 1, 4);
}

std::size_t shared_bytes(const EstimatorProgram& host) {
    const int rows = host.largest.rows_of_matrix;
    const int columns = host.largest.columns_of_matrix;
    const int reach = host.profile.reach;
    const auto kept = static_cast<std::size_t>((rows + 1) * columns + 2 * host.largest.delays);
    const auto products = static_cast<std::size_t>(host.largest.rows_of_last_shape * columns);
    const auto profile = static_cast<std::size_t>(kernel_room(reach) + 3 * host.profile.extent + 4 * reach);
    return sizeof(double) * kept + std::max(sizeof(double) * products, sizeof(float) * profile);
}

__device__ __forceinline__ Room room_of(const EstimatorProgram& program, double* shared) {
    Room room{};
    room.matrix = shared;
    room.powers = room.matrix + program.largest.rows_of_matrix * program.largest.columns_of_matrix;
    room.known = room.powers + 2 * program.largest.delays;
    room.products = room.known + program.largest.columns_of_matrix;
    room.kernel = reinterpret_cast<float*>(room.products);
    room.measured = room.kernel + kernel_room(program.profile.reach);
    room.guess = room.measured + program.profile.extent;
    room.ratios = room.guess + program.profile.extent + 2 * program.profile.reach;
    return room;
}

/// Bin i of x convolved with the kernel.
__device__ __forceinline__ float convolved(const float* kernel, int taps, const float* x, int i) {
    float sum = 0.0F;
    int k = 0;
#pragma unroll 4
    for (; k + 4 <= taps; k += 4) {
        const float4 factors = *reinterpret_cast<const float4*>(kernel + k);
        sum = Ops::fma(factors.x, x[i + k], sum);
        sum = Ops::fma(factors.y, x[i + k + 1], sum);
        sum = Ops::fma(factors.z, x[i + k + 2], sum);
        sum = Ops::fma(factors.w, x[i + k + 3], sum);
    }
    for (; k < taps; ++k)
        sum = Ops::fma(kernel[k], x[i + k], sum);
    return sum;
}

/// As SlotEstimator::deconvolve().
__device__ __forceinline__ void deconvolve(const EstimatorProgram& program, unsigned slot, const Room& room) {
    __shared__ float power;
    const DeviceProfile& profile = program.profile;
    const int extent = profile.extent;
    const int taps = 2 * profile.reach + 1;
    const float noise = Ops::mul(program.states[slot].noise, profile.noise_share);
    const float* const measured = program.measured + std::size_t{slot} * static_cast<unsigned>(extent);
    float* const guess = room.guess + profile.reach;
    float* const ratios = room.ratios + profile.reach;
    for (int i = thread(); i < taps; i += filter_threads)
        room.kernel[i] = __ldg(profile.kernel + i);
    for (int i = thread(); i < extent + 2 * profile.reach; i += filter_threads) {
        room.guess[i] = 0.0F;
        room.ratios[i] = 0.0F;
    }
    __syncthreads();
    for (int i = thread(); i < extent; i += filter_threads) {
        room.measured[i] = measured[i];
        if (profile.steps > 0)
            guess[i] = phy::detail::cuda::first_guess<Ops>(room.measured[i], noise, profile);
    }
    __syncthreads();
#pragma unroll 1
    for (int step = 0; step < profile.steps; ++step) {
        for (int i = thread(); i < extent; i += filter_threads)
            ratios[i] = phy::detail::cuda::measured_over_expected<Ops>(
                room.measured[i], convolved(room.kernel, taps, room.guess, i), noise);
        __syncthreads();
        for (int i = thread(); i < extent; i += filter_threads)
            guess[i] = phy::detail::cuda::next_guess<Ops>(
                guess[i], convolved(room.kernel, taps, room.ratios, i), __ldg(profile.over_reached + i));
        __syncthreads();
    }
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

__device__ __forceinline__ void set_powers(const DeviceFilter& filter, const float* profile, double noise,
                                           double* powers) {
    const auto power_of = [&](int delay) {
        const EstimatorDeposit& deposit = filter.deposits[delay];
        double power = 0.0;
        for (int i = 0; i < deposit.count; ++i)
            power +=
                filter.deposit_weights[deposit.weights + i] * static_cast<double>(profile[deposit.first + i]);
        return power;
    };
    for (int i = thread(); i < filter.delays; i += filter_threads) {
        const double late = power_of(filter.delays + i);
        const double early = power_of(filter.delays - 1 - i);
        powers[i] = filter.floor * noise + (late + early);
        powers[filter.delays + i] = late - early;
    }
    __syncthreads();
}

/// The parity of a row of the matrix: rows are even modes, then odd ones, of the window and of each shape.
__device__ __forceinline__ int parity_of(const DeviceKind& kind, int row) {
    int first = 0;
    for (int shape = -1; shape < kind.shapes_count; ++shape) {
        const EstimatorModes& modes = shape < 0 ? kind.modes : kind.shapes[shape].modes;
        if (row < first + modes.modes()) return row < first + modes.counts[0] ? 0 : 1;
        first += modes.modes();
    }
    return 0;
}

/// Brings constants near before they are needed.
__device__ __forceinline__ void prefetch(const double* from, int count) {
    constexpr int in_line = 128 / sizeof(double);
    for (int i = thread() * in_line; i < count; i += filter_threads * in_line)
        asm volatile("prefetch.global.L1 [%0];" ::"l"(from + i));
}

/// The matrix before it is solved. A thread sums some rows and columns.
__device__ __forceinline__ void multiply(const DeviceKind& kind, int delays, const double* powers,
                                         double* matrix) {
    const int width = kind.modes.columns();
    const int all = kind.modes.modes() + kind.rows;
    const int across = width / tile_columns;
    for (int item = thread(); item < across * ((all + tile_rows - 1) / tile_rows); item += filter_threads) {
        const int column = item % across * tile_columns;
        const int row = item / across * tile_rows;
        const int parity = column < kind.modes.column_part(0) ? 0 : 1;
        bool is_like[tile_rows];
        int from[tile_rows];
#pragma unroll
        for (int r = 0; r < tile_rows; ++r) {
            from[r] = min(row + r, all - 1);
            is_like[r] = parity_of(kind, from[r]) == parity;
        }
        double sums[tile_rows][tile_columns] = {};
#pragma unroll 4
        for (int d = 0; d < delays; ++d) {
            const double* const steering = kind.steering + static_cast<std::size_t>(d * all);
            const double by_sum = powers[d];
            const double by_difference = powers[delays + d];
            const double2* const columns =
                reinterpret_cast<const double2*>(kind.columns + static_cast<std::size_t>(d * width + column));
            const double2 left = __ldg(columns);
            const double2 right = __ldg(columns + 1);
#pragma unroll
            for (int r = 0; r < tile_rows; ++r) {
                const double x = __ldg(steering + from[r]) * (is_like[r] ? by_sum : by_difference);
                sums[r][0] = __fma_rn(left.x, x, sums[r][0]);
                sums[r][1] = __fma_rn(left.y, x, sums[r][1]);
                sums[r][2] = __fma_rn(right.x, x, sums[r][2]);
                sums[r][3] = __fma_rn(right.y, x, sums[r][3]);
            }
        }
#pragma unroll
        for (int r = 0; r < tile_rows; ++r) {
            if (row + r >= all) continue;
#pragma unroll
            for (int c = 0; c < tile_columns; ++c)
                matrix[(row + r) * width + column + c] = sums[r][c];
        }
    }
    __syncthreads();
}

/// Row `row` of the elements that threads keep, and the reciprocal of its pivot, for all threads.
__device__ __forceinline__ void publish(const double (&x)[rows_kept][columns_kept], int row, int pivot_column,
                                        double* to, double& over_pivot) {
    const int tx = thread() % column_threads;
    const int ty = thread() / column_threads;
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
        if (ty + i * row_threads != row) continue;
#pragma unroll
        for (int j = 0; j < columns_kept; ++j) {
            const int column = tx + j * column_threads;
            to[column] = x[i][j];
            if (column == pivot_column) over_pivot = __ddiv_rn(1.0, x[i][j]);
        }
    }
}

/// What threads share in a step of the elimination: its row of pivots, and the next one's.
struct PivotRows {
    double rows[2][columns_kept * column_threads];
    double over_pivots[2];
};

/// Eliminates with the pivots in columns that threads keep as the `of_pivot`-th, from `mode` on.
template <int of_pivot>
__device__ __forceinline__ void eliminate(const EstimatorModes& modes, int all, PivotRows& shared, int& mode,
                                          double (&x)[rows_kept][columns_kept]) {
    const int tx = thread() % column_threads;
    const int ty = thread() / column_threads;
    const int pivots = modes.modes();
    constexpr int first_column = of_pivot * column_threads;
#pragma unroll 1
    while (mode < pivots && modes.column_of(mode) < first_column + column_threads) {
        const int lane = modes.column_of(mode) - first_column;
        __syncthreads();
        const double over_pivot = shared.over_pivots[mode % 2];
        double pivot[columns_kept];
#pragma unroll
        for (int j = 0; j < columns_kept; ++j)
            pivot[j] = shared.rows[mode % 2][tx + j * column_threads];
#pragma unroll
        for (int i = 0; i < rows_kept; ++i) {
            const double factor = __shfl_sync(all_lanes, x[i][of_pivot], lane, column_threads) * over_pivot;
            const int row = ty + i * row_threads;
            if (row > mode && row < all) {
#pragma unroll
                for (int j = 0; j < columns_kept; ++j)
                    x[i][j] = __fma_rn(-factor, pivot[j], x[i][j]);
                if (tx == lane) x[i][of_pivot] = factor;
            }
        }
        ++mode;
        if (mode < pivots)
            publish(x, mode, modes.column_of(mode), shared.rows[mode % 2], shared.over_pivots[mode % 2]);
    }
}

/// Gauss-Jordan elimination by columns: rows of tiles become M. Threads keep the matrix in registers, so a
/// step needs its row of pivots and one barrier.
__device__ __forceinline__ void solve(const DeviceKind& kind, double* matrix) {
    __shared__ PivotRows shared;
    const EstimatorModes& modes = kind.modes;
    const int width = modes.columns();
    const int pivots = modes.modes();
    const int all = pivots + kind.rows;
    const int tx = thread() % column_threads;
    const int ty = thread() / column_threads;
    double x[rows_kept][columns_kept];
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
#pragma unroll
        for (int j = 0; j < columns_kept; ++j) {
            const int row = ty + i * row_threads;
            const int column = tx + j * column_threads;
            x[i][j] = row < all && column < width ? matrix[row * width + column] : 0.0;
        }
    }
    int mode = 0;
    publish(x, mode, modes.column_of(mode), shared.rows[0], shared.over_pivots[0]);
    eliminate<0>(modes, all, shared, mode, x);
    eliminate<1>(modes, all, shared, mode, x);
    eliminate<2>(modes, all, shared, mode, x);
    static_assert(columns_kept == 3);
#pragma unroll
    for (int i = 0; i < rows_kept; ++i) {
#pragma unroll
        for (int j = 0; j < columns_kept; ++j) {
            const int row = ty + i * row_threads;
            const int column = tx + j * column_threads;
            if (row >= pivots && row < all && column < width) matrix[row * width + column] = x[i][j];
        }
    }
    __syncthreads();
}

/// The error of M, for coefficients of power 1, by thread 0.
__device__ __forceinline__ void measure_error(const DeviceFilter& filter, const DeviceKind& kind,
                                              const Room& room, float* to) {
    const DeviceTileShape& last = kind.shapes[kind.shapes_count - 1];
    const int width = kind.modes.columns();
    const double* const solved = room.matrix + (kind.modes.modes() + last.first_row) * width;
    for (int c = thread(); c < width; c += filter_threads) {
        double known = 0.0;
        for (int r = 0; r < last.modes.modes(); ++r)
            known += solved[r * width + c] * room.products[r * width + c];
        room.known[c] = known;
    }
    __syncthreads();
    if (thread() != 0) return;
    double power = 0.0;
    for (int i = 0; i < filter.delays; ++i)
        power += room.powers[i] * __ldg(last.power + i);
    double known = 0.0;
    for (int c = 0; c < width; ++c)
        known += room.known[c];
    const double error = power - __ddiv_rn(known, static_cast<double>(last.positions));
    *to = __double2float_rn(error > 0.0 ? error : 0.0);
}

__device__ __forceinline__ void write_mix(const DeviceKind& kind, bool joint, const double* matrix,
                                          float* mix) {
    const double scale = joint ? 0.5 : 1.0;
    const int modes = kind.modes.modes();
    const int width = kind.modes.columns();
    for (int s = 0; s < kind.shapes_count; ++s) {
        const DeviceTileShape& shape = kind.shapes[s];
        const int tile_width = shape.modes.width();
        const int part = shape.modes.part(0);
        for (int i = thread(); i < modes * tile_width; i += filter_threads) {
            const int n = i % tile_width;
            const int column = kind.modes.column_of(i / tile_width);
            const bool is_odd = n >= part;
            const int in_part = is_odd ? n - part : n;
            const int row = modes + shape.first_row + in_part + (is_odd ? shape.modes.counts[0] : 0);
            const bool is_there = in_part < shape.modes.counts[is_odd ? 1 : 0];
            mix[shape.mix_at + i] =
                is_there ? __double2float_rn(__dmul_rn(scale, matrix[row * width + column])) : 0.0F;
        }
    }
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
__global__ void __launch_bounds__(filter_threads)
    make_filters(const __grid_constant__ EstimatorProgram program, SlotEstimate* estimates) {
    extern __shared__ __align__(16) double shared[];
    let_next_get_ready();
    const unsigned slot = blockIdx.y;
    const int joint = static_cast<int>(blockIdx.x) % 2;
    const DeviceFilter& filter = program.filters[blockIdx.x / 2];
    const DeviceKind& kind = filter.kinds[joint];
    const int pivots = kind.modes.modes();
    prefetch(kind.columns, filter.delays * kind.modes.columns());
    prefetch(kind.steering, filter.delays * (pivots + kind.rows));
    wait_for_previous();
    const Room room = room_of(program, shared);
    const std::size_t index = std::size_t{slot} * gridDim.x + blockIdx.x;
    deconvolve(program, slot, room);
    const float* const guess = room.guess + program.profile.reach;
    if (blockIdx.x == 0) measure_delays(program, slot, guess);
    if (program.columns[joint] > 0) {
        const double noise =
            static_cast<double>(program.states[slot].noise_over_power[static_cast<unsigned>(joint)]);
        set_powers(filter, guess, noise, room.powers);
        multiply(kind, filter.delays, room.powers, room.matrix);
        const int width = kind.modes.columns();
        const DeviceTileShape& last = kind.shapes[kind.shapes_count - 1];
        for (int i = thread(); i < last.modes.modes() * width; i += filter_threads)
            room.products[i] = room.matrix[(pivots + last.first_row) * width + i];
        for (int mode = thread(); mode < pivots; mode += filter_threads) {
            double& element = room.matrix[mode * width + kind.modes.column_of(mode)];
            element += noise;
        }
        __syncthreads();
        solve(kind, room.matrix);
        write_mix(kind, joint == 1, room.matrix, program.mix + index * program.largest.mix);
        measure_error(filter, kind, room, program.errors + index);
    } else if (thread() == 0) {
        program.errors[index] = 0.0F;
    }
    if (is_last_block(arrivals_of(program, slot), gridDim.x)) write_estimate(program, slot, estimates[slot]);
}

}  // namespace

void start_filter(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    launch_dependent(make_filters, starts_early(job.slots),
                     dim3(static_cast<unsigned>(2 * host.largest.filters), job.slots), filter_threads,
                     shared_bytes(host), stream, host, job.estimates);
}

void prepare_filter(const EstimatorProgram& host) {
    check(cudaFuncSetAttribute(make_filters, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes(host))));
    load_code(make_filters);
}

}  // namespace phy::gpu::detail
