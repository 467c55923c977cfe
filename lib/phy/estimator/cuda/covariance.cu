// The covariance of the residuals of antennas.

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

static_assert(max_warps_of_products * warp_size >= max_antennas * max_antennas);

int pairs_of(int antennas) {
    return antennas * (antennas + 1) / 2;
}

/// A lane's part of the products of two antennas' residuals in a tile.
struct Products {
    float sums[4] = {};  ///< re re, im im, im re, re im

    __device__ __forceinline__ void add(DeviceComplex x, DeviceComplex y) {
        sums[0] = Ops::fma(x.re, y.re, sums[0]);
        sums[1] = Ops::fma(x.im, y.im, sums[1]);
        sums[2] = Ops::fma(x.im, y.re, sums[2]);
        sums[3] = Ops::fma(x.re, y.im, sums[3]);
    }

    /// Of pilots: (streams, estimates, combs) of rows, `count` each.
    __device__ __forceinline__ void add_pilots(const float* x, const float* y, int rows, int stride,
                                               int count) {
#pragma unroll 2
        for (int row = 0; row < rows; ++row, x += 2 * stride, y += 2 * stride)
            each_at_once<3>(count, [&](int k) {
                return Two{complex_at(x, stride, k), complex_at(y, stride, k)};
            });
    }

    /// Of the modes of two columns; the imaginary parts are `distance` further on.
    __device__ __forceinline__ void subtract_modes(const float* x, const float* y, const float* keep,
                                                   int distance, int width) {
        each_at_once<2>(width, [&](int i) {
            const float factor = -__ldg(keep + i);
            return Two{{Ops::mul(x[i], factor), Ops::mul(x[distance + i], factor)}, {y[i], y[distance + i]}};
        });
    }

    /// In lane 0.
    __device__ __forceinline__ DeviceComplex joined() const {
        return {joined_warp(Ops::add(sums[0], sums[1])), joined_warp(Ops::sub(sums[2], sums[3]))};
    }

private:
    struct Two {
        DeviceComplex x;
        DeviceComplex y;
    };

    /// Adds the lane's elements of `count`; the loads of at_once of them are in flight together.
    template <int at_once, class Load>
    __device__ __forceinline__ void each_at_once(int count, Load load) {
        for (int first = thread() % warp_size; first < count; first += at_once * warp_size) {
            Two loaded[at_once];
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                loaded[i] = load(min(first + i * warp_size, count - 1));
#pragma unroll
            for (int i = 0; i < at_once; ++i)
                if (first + i * warp_size < count) add(loaded[i].x, loaded[i].y);
        }
    }
};

/// As SlotEstimator::covariances() computes them; valid in lane 0.
__device__ __forceinline__ DeviceComplex products_of(const EstimatorProgram& program, unsigned slot,
                                                     const EstimatorTileJob& job, const DeviceFilter& filter,
                                                     int a, int b) {
    const int estimates = program.estimates;
    const int stride = program.comb_stride;
    const int rows = 2 * program.streams_count * estimates;
    const float* const pilots = program.streams_at + slot * program.streams_size +
                                program.ranges[job.range].offset + job.tile.window * program.comb_pilots;
    Products products;
    products.add_pilots(pilots + a * rows * 2 * stride, pilots + b * rows * 2 * stride, rows, stride,
                        filter.window_blocks * program.comb_pilots);
    const int in_group = program.antennas * estimates;
    for (int kind = 1; kind >= 0; --kind) {
        const DeviceKind& of_kind = filter.kinds[kind];
        const int width = of_kind.modes.width();
        const float* const modes = modes_of(program, slot, job, filter, kind);
        for (int group = 0; group < program.columns[kind]; group += 2 * in_group)
            for (int e = 0; e < estimates; ++e)
                products.subtract_modes(modes + (group + a * estimates + e) * width,
                                        modes + (group + b * estimates + e) * width, of_kind.keep,
                                        in_group * width, width);
    }
    return products.joined();
}

/// The elements of a slot's matrix on the diagonal and below, by pair.
struct Elements {
    DeviceComplex at[max_antennas * max_antennas];
    float kept;  ///< share of those below
};

__device__ void set_kept_share(const EstimatorProgram& program, Elements& elements) {
    namespace math = phy::detail::cuda;
    const int antennas = program.antennas;
    float sum = 0.0F;
    for (int a = 1; a < antennas; ++a)
        for (int b = 0; b < a; ++b)
            sum = Ops::add(sum, math::squared_correlation<Ops>(elements.at[a * antennas + b],
                                                               elements.at[a * antennas + a].re,
                                                               elements.at[b * antennas + b].re));
    const int pairs = antennas * (antennas - 1) / 2;
    elements.kept = math::kept_share<Ops>(Ops::div(sum, static_cast<float>(pairs)),
                                          math::independent_freedom<Ops>(program.facts, program));
}

/// Writes the covariance of a slot from the products of its tiles; one thread per pair of antennas.
__device__ __forceinline__ void write_covariance(const EstimatorProgram& program, unsigned slot,
                                                 cf32* covariance) {
    const int antennas = program.antennas;
    const int pairs = antennas * antennas;
    const int pair = thread();
    const int a = pair / antennas;
    const int b = pair % antennas;
    const bool takes_part = pair < pairs && b <= a;
    __shared__ Elements elements;
    const float factor = phy::detail::cuda::covariance_factor<Ops>(program.constants, program.facts, program);
    const float* const products =
        program.products + 2 * std::size_t{slot} * static_cast<unsigned>(program.largest.jobs * pairs) +
        2 * pair;
    DeviceComplex sum = {0.0F, 0.0F};
    for (int job = 0; takes_part && job < program.largest.jobs; ++job) {
        const float* const one = products + std::size_t{2} * static_cast<unsigned>(job * pairs);
        sum = {Ops::add(sum.re, __ldcg(one)), Ops::add(sum.im, __ldcg(one + 1))};
    }
    if (takes_part)
        elements.at[pair] = phy::detail::cuda::covariance_of<Ops>(
            program.states[slot], {Ops::mul(sum.re, factor), Ops::mul(sum.im, factor)}, a == b);
    __syncthreads();
    if (pair == 0) set_kept_share(program, elements);
    __syncthreads();
    if (!takes_part) return;
    const DeviceComplex own = elements.at[pair];
    const DeviceComplex element =
        a == b ? own : DeviceComplex{Ops::mul(elements.kept, own.re), Ops::mul(elements.kept, own.im)};
    auto* const out = reinterpret_cast<float*>(covariance + std::size_t{slot} * static_cast<unsigned>(pairs));
    const int other = b * antennas + a;
    out[2 * other] = element.re;
    out[2 * other + 1] = a == b ? 0.0F : -element.im;
    if (a == b) return;
    out[2 * pair] = element.re;
    out[2 * pair + 1] = element.im;
}

/// One block per tile and slot; a warp has some pairs of antennas. A slot's last block writes its covariance.
/// Runs beside make_filters(), which starts it when all before is done and of which it needs nothing. Blocks
/// of one slot more wait for that, so that both are done when this one is.
__global__ void __launch_bounds__(max_warps_of_products* warp_size)
    measure_covariance(const __grid_constant__ EstimatorProgram program, cf32* covariance) {
    let_next_get_ready();
    const unsigned slot = blockIdx.x;
    if (slot == gridDim.x - 1) return wait_for_previous();
    __threadfence();  // what the first-level cache has may be older than what this kernel reads
    const int antennas = program.antennas;
    const EstimatorTileJob& job = program.jobs[blockIdx.y];
    const DeviceFilter& filter = program.filters[job.filter];
    float* const out = program.products +
                       2 * (std::size_t{slot} * static_cast<unsigned>(program.largest.jobs) + blockIdx.y) *
                           static_cast<unsigned>(antennas * antennas);
    const int warp = thread() / warp_size;
    const int warps = static_cast<int>(blockDim.x) / warp_size;
    int pair = 0;
    for (int a = 0; a < antennas; ++a) {
        for (int b = 0; b <= a; ++b, ++pair) {
            if (pair % warps != warp) continue;
            const DeviceComplex sum = products_of(program, slot, job, filter, a, b);
            if (thread() % warp_size != 0) continue;
            out[2 * (a * antennas + b)] = sum.re;
            out[2 * (a * antennas + b) + 1] = sum.im;
        }
    }
    if (is_last_block(program.covariance_arrivals + slot, gridDim.y))
        write_covariance(program, slot, covariance);
}

}  // namespace

void start_covariance(const EstimatorProgram& host, const EstimatorJob& job, cudaStream_t stream) {
    const int warps = min(pairs_of(host.antennas), max_warps_of_products);
    launch_dependent(measure_covariance, true, dim3(job.slots + 1, static_cast<unsigned>(host.largest.jobs)),
                     static_cast<unsigned>(warps * warp_size), 0, stream, host, job.covariance);
}

void prepare_covariance() {
    load_code(measure_covariance);
}

}  // namespace phy::gpu::detail
