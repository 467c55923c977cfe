// The covariance of the residuals of antennas.

#include "phy/estimator/cuda/device.cuh"
#include "phy/estimator/cuda/tuning.hpp"
#include "phy/estimator/math/statistics-inl.h"

namespace phy::gpu::detail {
namespace {

/// The product of two columns of a tile, as SlotEstimator::covariances() adds it; valid in lane 0.
__device__ __forceinline__ DeviceComplex product(const FoldedColumn& x, const FoldedColumn& y,
                                                 const DeviceKind& kind, const float* modes_of_x,
                                                 const float* modes_of_y, int part_distance) {
    const int lane = static_cast<int>(threadIdx.x);
    float of_pilots[4] = {};
    for (int k = lane; k < x.pilots; k += warp_size) {
        const DeviceComplex left = x.at(k);
        const DeviceComplex right = y.at(k);
        of_pilots[0] = Ops::fma(left.re, right.re, of_pilots[0]);
        of_pilots[1] = Ops::fma(left.im, right.im, of_pilots[1]);
        of_pilots[2] = Ops::fma(left.im, right.re, of_pilots[2]);
        of_pilots[3] = Ops::fma(left.re, right.im, of_pilots[3]);
    }
    float of_modes[4] = {};
    for (int i = lane; i < kind.modes.width(); i += warp_size) {
        const float left_re = Ops::mul(modes_of_x[i], kind.keep[i]);
        const float left_im = Ops::mul(modes_of_x[part_distance + i], kind.keep[i]);
        const float right_re = modes_of_y[i];
        const float right_im = modes_of_y[part_distance + i];
        of_modes[0] = Ops::fma(left_re, right_re, of_modes[0]);
        of_modes[1] = Ops::fma(left_im, right_im, of_modes[1]);
        of_modes[2] = Ops::fma(left_im, right_re, of_modes[2]);
        of_modes[3] = Ops::fma(left_re, right_im, of_modes[3]);
    }
    float left[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
        left[i] = Ops::fms(0.5F, joined_warp(of_pilots[i]), joined_warp(of_modes[i]));
    return {Ops::add(left[0], left[1]), Ops::sub(left[2], left[3])};
}

/// One warp per tile, slot and pair of antennas.
__global__ void __launch_bounds__(warp_size) sum_products(const EstimatorProgram* __restrict__ of_all) {
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.z;
    const int antennas = program.antennas;
    const int a = static_cast<int>(blockIdx.x) / antennas;
    const int b = static_cast<int>(blockIdx.x) % antennas;
    if (b > a) return;
    const EstimatorTileJob& job = program.jobs[blockIdx.y];
    const DeviceFilter& filter = program.filters[job.filter];
    const int estimates = program.estimates;
    const int in_group = antennas * estimates;
    DeviceComplex sum = {0.0F, 0.0F};
    for (int kind = 1; kind >= 0; --kind) {
        const DeviceKind& of_kind = filter.kinds[kind];
        const int width = of_kind.modes.width();
        const float* const projected = modes_of(program, slot, job, filter, kind);
        for (int group = 0; group < program.columns[kind] / (2 * in_group); ++group) {
            for (int e = 0; e < estimates; ++e) {
                const int x = group * in_group + a * estimates + e;
                const int y = group * in_group + b * estimates + e;
                const DeviceComplex one =
                    product(folded_column(program, slot, job, filter, kind, x),
                            folded_column(program, slot, job, filter, kind, y), of_kind,
                            projected + (x + group * in_group) * width,
                            projected + (y + group * in_group) * width, in_group * width);
                sum = {Ops::add(sum.re, one.re), Ops::add(sum.im, one.im)};
            }
        }
    }
    if (threadIdx.x != 0) return;
    float* const out = program.products +
                       2 * ((std::size_t{slot} * static_cast<unsigned>(program.largest.jobs) + blockIdx.y) *
                                static_cast<unsigned>(antennas * antennas) +
                            blockIdx.x);
    out[0] = sum.re;
    out[1] = sum.im;
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

/// One block per slot, one thread per pair.
__global__ void __launch_bounds__(estimator_threads)
    write_covariance(const EstimatorProgram* __restrict__ of_all, cf32* covariance) {
    const EstimatorProgram& program = *of_all;
    const unsigned slot = blockIdx.x;
    const int antennas = program.antennas;
    const int pairs = antennas * antennas;
    const int pair = static_cast<int>(threadIdx.x);
    const int a = pair / antennas;
    const int b = pair % antennas;
    const bool takes_part = pair < pairs && b <= a;
    __shared__ Elements elements;
    const float factor = phy::detail::cuda::covariance_factor<Ops>(program.constants, program.facts, program);
    const float* const products =
        program.products + 2 * std::size_t{slot} * static_cast<unsigned>(program.largest.jobs * pairs);
    DeviceComplex sum = {0.0F, 0.0F};
    for (int job = 0; takes_part && job < program.largest.jobs; ++job) {
        const float* const one =
            products + 2 * (static_cast<std::size_t>(job) * static_cast<unsigned>(pairs) + threadIdx.x);
        sum = {Ops::add(sum.re, one[0]), Ops::add(sum.im, one[1])};
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

}  // namespace

void start_covariance(const EstimatorProgram& host, const EstimatorProgram* program, const EstimatorJob& job,
                      cudaStream_t stream) {
    const dim3 blocks(static_cast<unsigned>(host.antennas * host.antennas),
                      static_cast<unsigned>(host.largest.jobs), job.slots);
    sum_products<<<blocks, warp_size, 0, stream>>>(program);
    write_covariance<<<job.slots, estimator_threads, 0, stream>>>(program, job.covariance);
    check(cudaGetLastError());
}

void prepare_covariance() {
    load_code(sum_products);
    load_code(write_covariance);
}

}  // namespace phy::gpu::detail
