#pragma once

#include "phy/channel/equalizer/cuda/equalize.cuh"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/demapper/cuda/ops.cuh"
#include "phy/demapper/cuda/pack.cuh"
#include "phy/detector/cuda/launch.hpp"

/// Kernels that equalise and demap without memory in between.
namespace phy::gpu::detail {

/// Bits of a word from a place in a row of words on; bits beyond the row are any.
__device__ __forceinline__ std::uint32_t bits_from(const std::uint32_t* words, unsigned count,
                                                   std::uint64_t bit) {
    const auto word = static_cast<unsigned>(bit / 32);
    const std::uint32_t low = word < count ? __ldg(words + word) : 0U;
    const std::uint32_t high = word + 1 < count ? __ldg(words + word + 1) : 0U;
    return __funnelshift_r(low, high, static_cast<unsigned>(bit % 32));
}

/// Stores bytes, which stand in words, at a multiple of their number.
template <int bytes>
__device__ __forceinline__ void store_soft_bits(const std::uint32_t* words, std::byte* to, bool aligned) {
    if (bytes % 4 == 0 && aligned) {
        store_words<(bytes + 3) / 4>(words, to);
    } else {
#pragma unroll
        for (int i = 0; i < bytes; ++i)
            to[i] = static_cast<std::byte>(words[i / 4] >> (8 * (i % 4)));
    }
}

/// Symbols to soft bits.
template <int layers>
struct Demap {
    const DetectorOutput& out;
    std::uint64_t first_element;  ///< of the slot
    const std::uint32_t* signs;   ///< of the slot, or null
    float noise[layers];
    float scale[layers];
    float limit[layers];

    __device__ __forceinline__ void set_noise(const float* of_symbols) {
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            noise[i] = of_symbols[i];
            gain_of<Ops>(noise[i], out.gain, scale[i], limit[i]);
            if (noise[i] > 0.0F && Ops::is_finite(noise[i])) continue;
            scale[i] = 0.0F;
            limit[i] = 0.0F;
        }
    }

    __device__ __forceinline__ void operator()(unsigned element, LayerColumn<layers>& x) const {
        float scales[layers];
        float limits[layers];
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            float n = noise[i];
            equalizer::erase_unless_finite<EqualizerOps>(x.re[i], x.im[i], n);
            const bool erased = !Ops::is_finite(n);
            scales[i] = erased ? 0.0F : scale[i];
            limits[i] = erased ? 0.0F : limit[i];
        }
        with_constant_by_bits<Constellation, 6>(out.constellation, [&](auto constellation) {
            store<constellation()>(element, x, scales, limits);
        });
    }

private:
    template <Constellation constellation>
    __device__ __forceinline__ void store(unsigned element, const LayerColumn<layers>& x, const float* scales,
                                          const float* limits) const {
        constexpr int bits = bits_of(constellation);
        constexpr int axes = constellation == Constellation::bpsk ? 1 : 2;
        constexpr int of_symbol = bits * axes;
        constexpr int count = layers * of_symbol;
        constexpr int words = (count + 3) / 4;
        const std::uint64_t first = std::uint64_t{element} * count;
        std::uint32_t flips[2] = {0, 0};
        if (signs != nullptr) {
            flips[0] = bits_from(signs, out.sign_words, first);
            if constexpr (count > 32) flips[1] = bits_from(signs, out.sign_words, first + 32);
        }
        float values[4 * words] = {};
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            const bool turned = out.rotating && ((element * layers + i) & 1U) != 0;
#pragma unroll
            for (int axis = 0; axis < axes; ++axis) {
                constexpr Formula formula =
                    phy::detail::simplest_formula(constellation, Formula::all_segments);
                float y = axis == 0 ? x.re[i] : x.im[i];
                if constexpr (axes == 1) y = Ops::add(turned ? -x.re[i] : x.re[i], x.im[i]);
                float distances[bits];
                axis_distances<Ops, bits, formula>(y, limits[i], distances);
#pragma unroll
                for (int b = 0; b < bits; ++b) {
                    const int at = i * of_symbol + b * axes + axis;
                    const std::uint32_t sign = flips[at / 32] << (31 - at % 32) & 0x80000000U;
                    const float turned_over = __uint_as_float(__float_as_uint(distances[b]) ^ sign);
                    values[at] = quantise<Ops>(scales[i], turned_over);
                }
            }
        }
        std::uint32_t packed[words];
        pack<SoftBitFormat::int8, 4 * words>(values, packed);
        store_soft_bits<count>(packed, out.llr + (first_element * count + first), out.aligned);
    }
};

template <int layers, int antennas, bool shared>
__global__ void __launch_bounds__(equalizer_threads, 1)
    detect_slots(const __grid_constant__ EqualizerJob job, const __grid_constant__ DetectorOutput out) {
    const std::uint32_t* const signs =
        out.signs == nullptr ? nullptr : out.signs + std::uint64_t{blockIdx.z} * out.sign_words;
    equalize_part<layers, antennas, (layers > 1), shared>(
        job, Demap<layers>{out, std::uint64_t{blockIdx.z} * job.elements, signs, {}, {}, {}});
}

template <int layers, int antennas>
void launch_detector(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream) {
    const dim3 blocks = blocks_of(job);
    if (job.shares_filters) {
        detect_slots<layers, antennas, true><<<blocks, equalizer_threads, 0, stream>>>(job, out);
    } else {
        detect_slots<layers, antennas, false><<<blocks, equalizer_threads, 0, stream>>>(job, out);
    }
    check(cudaGetLastError());
}

template <int layers>
void launch_detector(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream) {
    if (job.antennas == 2 && layers <= 2)
        return launch_detector<layers, (layers <= 2 ? 2 : 0)>(job, out, stream);
    if (job.antennas == 4) return launch_detector<layers, 4>(job, out, stream);
    launch_detector<layers, 0>(job, out, stream);
}

}  // namespace phy::gpu::detail
