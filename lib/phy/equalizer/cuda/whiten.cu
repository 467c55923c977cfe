#include "phy/cuda/dependent_launch.cuh"
#include "phy/cuda/device.hpp"
#include "phy/cuda/warp.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/equalizer/cuda/launch.hpp"
#include "phy/equalizer/math/slot-inl.h"
#include "phy/equalizer/math/solve-inl.h"
#include "phy/equalizer/math/whitening-inl.h"

namespace phy::gpu::detail {
namespace {

namespace whitening = phy::detail::cuda;
using whitening::Ops;
using Complex = whitening::ComplexOf<Ops>;

/// One warp per slot and subband; a lane computes a row of the factor, then a column of its inverse.
__global__ void __launch_bounds__(warp_size) make_whitening(const __grid_constant__ WhiteningJob job) {
    __shared__ Complex l[max_antennas * max_antennas];
    let_next_get_ready();
    wait_for_previous();
    const auto size = static_cast<int>(job.antennas);
    const std::uint64_t first =
        (std::uint64_t{blockIdx.y} * job.subbands + blockIdx.x) * job.antennas * job.antennas;
    const auto* const covariance = reinterpret_cast<const Complex*>(job.covariance) + first;
    auto* const inverse = reinterpret_cast<Complex*>(job.whitening) + first;
    const float errors = whitening::noise_of_errors<Ops>(
        job.slots[blockIdx.y * floats_of_estimate + error_of_estimate], static_cast<int>(job.layers));
    const auto lane = static_cast<int>(threadIdx.x);
    float trace = 0.0F;
    for (int row = 0; row < size; ++row)
        trace = Ops::add(trace, covariance[row * size + row].re);
    const whitening::NoiseAndErrors<Ops> with_errors(trace, size, errors);
    for (int column = 0; column < size; ++column) {
        const bool has_entry = lane >= column && lane < size;
        if (has_entry) {
            Complex entry = with_errors(covariance[lane * size + column], lane == column);
            entry = whitening::rest_of_entry<Ops>(l, size, lane, column, entry);
            if (lane == column) entry = {Ops::div(1.0F, __fsqrt_rn(entry.re)), 0.0F};
            l[lane * size + column] = entry;
        }
        __syncwarp();
        const float pivot = l[column * size + column].re;
        if (has_entry && lane > column) {
            Complex& entry = l[lane * size + column];
            entry = {Ops::mul(entry.re, pivot), Ops::mul(entry.im, pivot)};
        }
        __syncwarp();
    }
    if (lane < size) whitening::invert_column<Ops>(l, size, lane, inverse);
}

/// A thread whitens one coefficient of all antennas.
__global__ void __launch_bounds__(whitening_threads)
    whiten_channel(const __grid_constant__ WhiteningJob job) {
    wait_for_previous();
    const unsigned k = blockIdx.x * whitening_threads + threadIdx.x;
    if (k >= job.subcarriers) return;
    const unsigned slot = blockIdx.z;
    const unsigned estimate = blockIdx.y / job.layers;
    const unsigned layer = blockIdx.y % job.layers;
    const std::uint64_t row = std::uint64_t{slot} * job.estimates + estimate;
    const auto index = [&](unsigned antenna) {
        return ((row * job.antennas + antenna) * job.layers + layer) * 2 * job.subcarriers + k;
    };
    const std::uint64_t subband = std::uint64_t{slot} * job.subbands + k / job.of_subband;
    const float* const matrix = job.whitening + 2 * subband * job.antennas * job.antennas;
    for (unsigned a = 0; a < job.antennas; ++a) {
        float re = 0.0F;
        float im = 0.0F;
        const float* const weights = matrix + std::size_t{2} * a * job.antennas;
        for (unsigned b = 0; b < a; ++b)
            whitening::add_weighted<Ops>(weights[2 * b], weights[2 * b + 1], job.channel[index(b)],
                                         job.channel[index(b) + job.subcarriers], re, im);
        whitening::add_scaled<Ops>(weights[2 * a], job.channel[index(a)],
                                   job.channel[index(a) + job.subcarriers], re, im);
        job.whitened[index(a)] = re;
        job.whitened[index(a) + job.subcarriers] = im;
    }
}

}  // namespace

void launch(const WhiteningJob& job, cudaStream_t stream) {
    constexpr unsigned few_slots = 16;  // which leave a GPU partly idle
    const bool is_early = job.slot_count <= few_slots;
    launch_dependent(make_whitening, is_early, dim3(job.subbands, job.slot_count), warp_size, 0, stream, job);
    const dim3 blocks((job.subcarriers + whitening_threads - 1) / whitening_threads,
                      job.estimates * job.layers, job.slot_count);
    launch_dependent(whiten_channel, is_early, blocks, whitening_threads, 0, stream, job);
}

}  // namespace phy::gpu::detail
