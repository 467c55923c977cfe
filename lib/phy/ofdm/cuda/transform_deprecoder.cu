#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/ofdm/math/check_precoding.hpp"
#include "phy/ofdm/math/deprecoding-inl.h"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/ofdm/transform_precoder.hpp"
#include "phy/reduce/warp.cuh"

namespace phy::gpu {
namespace detail {
namespace {

namespace deprecoding = phy::detail::cuda;
using Ops = deprecoding::Ops;

constexpr unsigned deprecoding_threads = 256;  ///< per block and OFDM symbol; affects speed only

static_assert(deprecoding::precoding_lanes == warp_size);

/// All pointers are to device memory.
struct DeprecodeJob {
    bool mmse;
    std::uint32_t subcarriers;  ///< per OFDM symbol
    float* symbols;             ///< (rows, subcarriers), complex
    float* noise_variance;      ///< same shape
};

extern __shared__ float shared_numbers[];

/// Adds each lane's numbers in order, then the lanes in order. The result is in lane 0.
__device__ __forceinline__ float sum_of(const float* numbers, unsigned count, unsigned lane) {
    float sum = 0.0F;
    for (unsigned i = lane; i < count; i += warp_size)
        sum = Ops::add(sum, numbers[i]);
    return joined_warp(sum);
}

/// Runs before the DFT. Leaves the values that a row's symbols share in its first two noise variances.
__global__ void __launch_bounds__(deprecoding_threads)
    weigh_subcarriers(const __grid_constant__ DeprecodeJob job) {
    float* const weights = shared_numbers;
    float* const noises = shared_numbers + job.subcarriers;
    const std::size_t first = std::size_t{blockIdx.x} * job.subcarriers;
    float* const noise_variance = job.noise_variance + first;
    float* const symbols = job.symbols + 2 * first;
    for (unsigned k = threadIdx.x; k < job.subcarriers; k += deprecoding_threads) {
        const float noise = noise_variance[k];
        const float weight = deprecoding::subcarrier_weight<Ops>(job.mmse, noise);
        weights[k] = weight;
        noises[k] = deprecoding::subcarrier_noise<Ops>(noise);
        symbols[2 * k] = Ops::mul(symbols[2 * k], weight);
        symbols[2 * k + 1] = Ops::mul(symbols[2 * k + 1], weight);
    }
    __syncthreads();
    if (threadIdx.x >= warp_size) return;
    const float of_weights = sum_of(weights, job.subcarriers, threadIdx.x);
    const float of_noises = sum_of(noises, job.subcarriers, threadIdx.x);
    if (threadIdx.x != 0) return;
    const auto common = deprecoding::precoded_symbol<Ops>(job.mmse, of_weights, of_noises,
                                                          static_cast<float>(job.subcarriers));
    noise_variance[0] = common.mean_weight;
    noise_variance[1] = common.noise;
}

/// Runs after the DFT.
__global__ void __launch_bounds__(deprecoding_threads)
    finish_symbols(const __grid_constant__ DeprecodeJob job) {
    const std::size_t first = std::size_t{blockIdx.x} * job.subcarriers;
    float* const noise_variance = job.noise_variance + first;
    float* const symbols = job.symbols + 2 * first;
    const deprecoding::PrecodedSymbol common = {noise_variance[0], noise_variance[1]};
    __syncthreads();
    for (unsigned k = threadIdx.x; k < job.subcarriers; k += deprecoding_threads) {
        float re = symbols[2 * k];
        float im = symbols[2 * k + 1];
        float noise = 0.0F;
        deprecoding::finish_symbol<Ops>(common, re, im, noise);
        symbols[2 * k] = re;
        symbols[2 * k + 1] = im;
        noise_variance[k] = noise;
    }
}

}  // namespace
}  // namespace detail

struct PHY_HIDDEN TransformDeprecoder::Impl {
    Config config;
    TransformPrecoder transform;
};

TransformDeprecoder::TransformDeprecoder(const Device& device, const Config& config)
    : impl_(std::make_unique<Impl>(
          Impl{config, TransformPrecoder(device, {.subcarriers = config.subcarriers,
                                                  .direction = TransformPrecoderConfig::Direction::undo})})) {
    const CurrentDevice current(device);
    detail::load_code(detail::weigh_subcarriers);
    detail::load_code(detail::finish_symbols);
}
void TransformDeprecoder::operator()(DeviceSpan<cf32> symbols, DeviceSpan<float> noise_variance,
                                     cudaStream_t stream) const {
    const auto subcarriers = static_cast<std::uint32_t>(impl_->config.subcarriers);
    phy::detail::check_precoding_sizes(subcarriers, "symbols", symbols.size(), "noise_variance",
                                       noise_variance.size());
    if (symbols.size() == 0) return;
    const detail::DeprecodeJob job = {impl_->config.mmse, subcarriers,
                                      reinterpret_cast<float*>(symbols.data()), noise_variance.data()};
    const auto rows = static_cast<unsigned>(symbols.size() / subcarriers);
    const std::size_t shared_bytes = std::size_t{2} * subcarriers * sizeof(float);
    const CurrentDevice current(device());
    detail::weigh_subcarriers<<<rows, detail::deprecoding_threads, shared_bytes, stream>>>(job);
    check(cudaGetLastError());
    impl_->transform(symbols, symbols, stream);
    detail::finish_symbols<<<rows, detail::deprecoding_threads, 0, stream>>>(job);
    check(cudaGetLastError());
}

const Device& TransformDeprecoder::device() const {
    return impl_->transform.device();
}

const TransformDeprecoder::Config& TransformDeprecoder::config() const {
    return impl_->config;
}

}  // namespace phy::gpu
