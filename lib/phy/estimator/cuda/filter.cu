// The matrices M of a slot, and its estimate.

#include <algorithm>

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/profile-inl.h"

namespace phy::gpu::detail {
namespace {

constexpr int tile_rows = 4;  ///< of a product, per thread
constexpr int tile_columns = 4;
constexpr int column_threads = 16;  ///< of an elimination
constexpr int max_filters = 32;     ///< lengths of windows

__device__ __forceinline__ int thread() {
    return static_cast<int>(threadIdx.x);
}

/// Shared memory of a block. The profile lies where the products follow once it is no longer needed: a block
/// has 64 KiB on devices of compute capability 7.5.
struct Room {
    double* matrix;    ///< (rows, columns)
    double* powers;    ///< (2, delays)
    double* factors;   ///< (rows)
    double* products;  ///< (rows of the last shape, columns): of the matrix before it is solved
    float* measured;   ///< (extent)
    float* guess;      ///< (reach, extent, reach)
    float* ratios;     ///< as guess
};

std::size_t shared_bytes(const EstimatorProgram& host) {
    const int rows = host.largest.rows_of_matrix;
    const int columns = host.largest.columns_of_matrix;
    const auto kept = static_cast<std::size_t>(rows * columns + 2 * host.largest.delays + rows);
    const auto products = static_cast<std::size_t>(host.largest.rows_of_last_shape * columns);
    const auto profile = static_cast<std::size_t>(3 * host.profile.extent + 4 * host.profile.reach);
    return sizeof(double) * kept + std::max(sizeof(double) * products, sizeof(float) * profile);
}

__device__ __forceinline__ Room room_of(const EstimatorProgram& program, double* shared) {
    Room room{};
    room.matrix = shared;
    room.powers = room.matrix + program.largest.rows_of_matrix * program.largest.columns_of_matrix;
    room.factors = room.powers + 2 * program.largest.delays;
    room.products = room.factors + program.largest.rows_of_matrix;
    room.measured = reinterpret_cast<float*>(room.products);
    room.guess = room.measured + program.profile.extent;
    room.ratios = room.guess + program.profile.extent + 2 * program.profile.reach;
    return room;
}

/// Bin i of x convolved with the kernel.
__device__ __forceinline__ float convolved(const DeviceProfile& profile, const float* x, int i) {
    float sum = 0.0F;
#pragma unroll 8
    for (int k = 0; k <= 2 * profile.reach; ++k)
        sum = Ops::fma(__ldg(profile.kernel + k), x[i + k], sum);
    return sum;
}

/// As SlotEstimator::deconvolve().
__device__ __forceinline__ void deconvolve(const EstimatorProgram& program, unsigned slot, const Room& room) {
    __shared__ float power;
    const DeviceProfile& profile = program.profile;
    const int extent = profile.extent;
    const float noise = Ops::mul(program.states[slot].noise, profile.noise_share);
    const float* const measured = program.measured + std::size_t{slot} * static_cast<unsigned>(extent);
    float* const guess = room.guess + profile.reach;
    float* const ratios = room.ratios + profile.reach;
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
                room.measured[i], convolved(profile, room.guess, i), noise);
        __syncthreads();
        for (int i = thread(); i < extent; i += filter_threads)
            guess[i] = phy::detail::cuda::next_guess<Ops>(guess[i], convolved(profile, room.ratios, i),
                                                          __ldg(profile.over_reached + i));
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
        if (!(guess[i] < of_first)) first = min(first, i);
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
            power = __fma_rn(filter.deposit_weights[deposit.weights + i],
                             static_cast<double>(profile[deposit.first + i]), power);
        return power;
    };
    for (int i = thread(); i < filter.delays; i += filter_threads) {
        const double late = power_of(filter.delays + i);
        const double early = power_of(filter.delays - 1 - i);
        powers[i] = __fma_rn(filter.floor, noise, __dadd_rn(late, early));
        powers[filter.delays + i] = __dsub_rn(late, early);
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
        const double* weights[tile_rows];
        int from[tile_rows];
#pragma unroll
        for (int r = 0; r < tile_rows; ++r) {
            from[r] = min(row + r, all - 1);
            weights[r] = powers + (parity_of(kind, from[r]) == parity ? 0 : delays);
        }
        double sums[tile_rows][tile_columns] = {};
#pragma unroll 2
        for (int d = 0; d < delays; ++d) {
            const double* const steering = kind.steering + static_cast<std::size_t>(d * all);
            const double2* const columns =
                reinterpret_cast<const double2*>(kind.columns + static_cast<std::size_t>(d * width + column));
            const double2 left = __ldg(columns);
            const double2 right = __ldg(columns + 1);
#pragma unroll
            for (int r = 0; r < tile_rows; ++r) {
                const double x = __dmul_rn(__ldg(steering + from[r]), weights[r][d]);
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

__device__ __forceinline__ int column_of(const EstimatorModes& modes, int mode) {
    return mode < modes.counts[0] ? mode : mode - modes.counts[0] + modes.column_part(0);
}

/// Gauss-Jordan elimination by columns: rows of tiles become M.
__device__ __forceinline__ void solve(const DeviceKind& kind, const Room& room) {
    const int width = kind.modes.columns();
    const int modes = kind.modes.modes();
    const int all = modes + kind.rows;
    const int tx = thread() % column_threads;
    const int ty = thread() / column_threads;
#pragma unroll 1
    for (int mode = 0; mode < modes; ++mode) {
        const int column = column_of(kind.modes, mode);
        const double* const pivot = room.matrix + mode * width;
        const double over_pivot = __ddiv_rn(1.0, pivot[column]);
        for (int r = mode + 1 + thread(); r < all; r += filter_threads)
            room.factors[r] = __dmul_rn(room.matrix[r * width + column], over_pivot);
        __syncthreads();
        for (int r = mode + 1 + ty; r < all; r += filter_threads / column_threads) {
            double* const row = room.matrix + r * width;
            const double factor = room.factors[r];
            for (int c = tx; c < width; c += column_threads)
                row[c] = c == column ? factor : __fma_rn(-factor, pivot[c], row[c]);
        }
        __syncthreads();
    }
}

/// The error of M, for coefficients of power 1, by thread 0.
__device__ __forceinline__ void measure_error(const DeviceFilter& filter, const DeviceKind& kind,
                                              const Room& room, float* to) {
    const DeviceTileShape& last = kind.shapes[kind.shapes_count - 1];
    const int width = kind.modes.columns();
    const double* const solved = room.matrix + (kind.modes.modes() + last.first_row) * width;
    for (int r = thread(); r < last.modes.modes(); r += filter_threads) {
        double known = 0.0;
        for (int i = r * width; i < (r + 1) * width; ++i)
            known = __fma_rn(solved[i], room.products[i], known);
        room.factors[r] = known;
    }
    __syncthreads();
    if (thread() != 0) return;
    double error = 0.0;
    for (int i = 0; i < filter.delays; ++i)
        error = __fma_rn(room.powers[i], __ldg(last.power + i), error);
    for (int r = 0; r < last.modes.modes(); ++r)
        error = __dsub_rn(error, __ddiv_rn(room.factors[r], static_cast<double>(last.positions)));
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
            const int column = column_of(kind.modes, i / tile_width);
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
    extern __shared__ double shared[];
    let_next_get_ready();
    wait_for_previous();
    const unsigned slot = blockIdx.y;
    const int joint = static_cast<int>(blockIdx.x) % 2;
    const DeviceFilter& filter = program.filters[blockIdx.x / 2];
    const DeviceKind& kind = filter.kinds[joint];
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
        const int modes = kind.modes.modes();
        const DeviceTileShape& last = kind.shapes[kind.shapes_count - 1];
        for (int i = thread(); i < last.modes.modes() * width; i += filter_threads)
            room.products[i] = room.matrix[(modes + last.first_row) * width + i];
        for (int mode = thread(); mode < modes; mode += filter_threads) {
            double& element = room.matrix[mode * width + column_of(kind.modes, mode)];
            element = __dadd_rn(element, noise);
        }
        __syncthreads();
        solve(kind, room);
        write_mix(kind, joint == 1, room.matrix, program.mix + index * program.largest.mix);
        measure_error(filter, kind, room, program.errors + index);
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

void prepare_filter(const EstimatorProgram& host) {
    check(cudaFuncSetAttribute(make_filters, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes(host))));
    load_code(make_filters);
}

}  // namespace phy::gpu::detail
