#include <cuda_fp16.h>

#include <algorithm>
#include <type_traits>

#include "phy/core/constellation.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/pieces.cuh"
#include "phy/cuda/signs.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/detector/cuda/launch.hpp"
#include "phy/detector/math/detect-inl.h"
#include "phy/simd/float_bits.hpp"

namespace phy::gpu::detail {
namespace {

namespace detector = phy::detail::cuda;
using Ops = detector::Ops;

static_assert(sizeof(LayerPair) == 2 * sizeof(float4));

__device__ __forceinline__ detector::PairOf<Ops> load(const LayerPair* pair) {
    const auto* const numbers = reinterpret_cast<const float4*>(pair);
    const float4 matched = __ldg(numbers);
    const float4 gram = __ldg(numbers + 1);
    return {.matched = {{matched.x, matched.y}, {matched.z, matched.w}},
            .power = {gram.x, gram.y},
            .cross = {gram.z, gram.w}};
}

/// The soft bits of a warp in shared memory.
template <int m>
struct Staging {
    static constexpr unsigned bits = 2 * m;  ///< of a lane
    alignas(16) std::byte bytes[warp_size * bits * sizeof(float)];
};

__device__ __forceinline__ void stage(const DetectorJob& job, float llr, unsigned index, std::byte* staging) {
    if (job.format == SoftBitFormat::int8) {
        const float rounded = Ops::fma(llr, job.range.scale, phy::detail::round_to_integer);
        staging[index] = static_cast<std::byte>(__float_as_uint(rounded));
    } else if (job.format == SoftBitFormat::float16) {
        reinterpret_cast<__half*>(staging)[index] = __float2half_rn(llr);
    } else {
        reinterpret_cast<float*>(staging)[index] = llr;
    }
}

/// LLRs in nats of the bits of a layer that were sent. first: the first one's index.
template <int m>
__device__ __forceinline__ void load_priors(const DetectorJob& job, std::uint64_t first, float* priors) {
    const std::uint64_t last_word = (job.symbols * Staging<m>::bits - 1) / 32;
    const std::uint32_t signs =
        job.signs == nullptr ? 0 : signs_from<Space::global>(job.signs, first, last_word);
#pragma unroll
    for (unsigned b = 0; b < Staging<m>::bits; ++b) {
        const float llr =
            Ops::mul(phy::detail::nats_per_prior_step, static_cast<float>(job.priors[first + b]));
        priors[b] = (signs >> b & 1U) != 0 ? -llr : llr;
    }
}

template <int m, bool has_priors>
__device__ __forceinline__ void detect_layer(const DetectorJob& job, std::uint64_t symbol, unsigned lane,
                                             std::byte* staging) {
    constexpr unsigned bits = Staging<m>::bits;
    detector::PairOf<Ops> pair = load(job.pairs + symbol / 2);
    const float is_usable = detector::bring_into_range<Ops>(pair);
    if (symbol % 2 != 0) pair = detector::exchanged<Ops>(pair);
    float priors[has_priors ? 2 * bits : 1];
    if constexpr (has_priors) {
        load_priors<m>(job, symbol * bits, priors);
        load_priors<m>(job, (symbol ^ 1U) * bits, priors + bits);
    }
    float llrs[bits];
    detector::detect<Ops, m, has_priors>(pair, priors, is_usable, job.range.limit, llrs);
    const std::uint64_t last_word = (job.symbols * bits - 1) / 32;
    const std::uint32_t signs =
        job.signs == nullptr ? 0 : signs_from<Space::global>(job.signs, symbol * bits, last_word);
#pragma unroll
    for (unsigned b = 0; b < bits; ++b) {
        // Formats round L and -L alike.
        const std::uint32_t word = flipped<SoftBitFormat::float32>(__float_as_uint(llrs[b]), signs >> b);
        stage(job, __uint_as_float(word), lane * bits + b, staging);
    }
}

/// A thread detects one layer of an element.
template <int m, bool has_priors>
__global__ void __launch_bounds__(detector_threads) detect_layers(const __grid_constant__ DetectorJob job) {
    __shared__ Staging<m> staging[detector_threads / warp_size];
    const unsigned lane = threadIdx.x % warp_size;
    const std::uint64_t symbol = std::uint64_t{blockIdx.x} * detector_threads + threadIdx.x;
    const std::uint64_t first = symbol - lane;
    if (first >= job.symbols) return;
    std::byte* const mine = staging[threadIdx.x / warp_size].bytes;
    if (symbol < job.symbols) detect_layer<m, has_priors>(job, symbol, lane, mine);
    __syncwarp();
    const auto symbols = static_cast<unsigned>(std::min<std::uint64_t>(warp_size, job.symbols - first));
    const unsigned of_symbol = Staging<m>::bits * job.soft_bit_bytes;
    copy_bytes(mine, job.llr + first * of_symbol, symbols * of_symbol, symbols * of_symbol, lane,
               job.is_aligned);
}

/// Calls visit(kernel).
template <bool has_priors, typename Visitor>
void with_kernel(std::size_t axis_bits, Visitor visit) {
    with_constant_by_bits<std::size_t, phy::max_axis_bits + 1, 1>(
        axis_bits, [&](auto m) { visit(detect_layers<static_cast<int>(m()), has_priors>); });
}

}  // namespace

void launch(std::size_t axis_bits, const DetectorJob& job, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>((job.symbols + detector_threads - 1) / detector_threads);
    const auto start = [&](auto kernel) { kernel<<<blocks, detector_threads, 0, stream>>>(job); };
    if (job.priors != nullptr)
        with_kernel<true>(axis_bits, start);
    else
        with_kernel<false>(axis_bits, start);
    check(cudaGetLastError());
}

void load_detector(std::size_t axis_bits) {
    const auto load = [](auto kernel) { load_code(kernel); };
    with_kernel<false>(axis_bits, load);
    with_kernel<true>(axis_bits, load);
}

}  // namespace phy::gpu::detail
