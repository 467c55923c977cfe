#pragma once

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/demapper/cuda/ops.cuh"
#include "phy/demapper/cuda/pack.cuh"
#include "phy/detector/cuda/launch.hpp"
#include "phy/equalizer/cuda/equalize.cuh"

/// Kernels that equalise and demap without memory in between.
namespace phy::gpu::detail {

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

/// Gains of a subcarrier's symbols.
template <int layers>
struct LayerGains {
    float noise[layers];
    float scale[layers];
    float limit[layers];
};

/// The signs of an element's soft bits, of which there are `count`.
template <int count>
struct ElementSigns {
    std::uint32_t bits[2] = {0, 0};

    /// From the words of the slot.
    __device__ __forceinline__ void load(const std::uint32_t* words, unsigned in_slot, unsigned element) {
        const std::uint64_t first = std::uint64_t{element} * count;
        const auto word = static_cast<unsigned>(first / 32);
        const auto shift = static_cast<unsigned>(first % 32);
        const std::uint32_t low = __ldg(words + word);
        if constexpr (32 % count == 0) {
            bits[0] = low >> shift;
        } else {
            // Offsets are multiples of what 32 and count have in common: two words have all bits.
            static_assert(count <= 32 || count == 40);
            const std::uint32_t high = word + 1 < in_slot ? __ldg(words + word + 1) : 0U;
            bits[0] = __funnelshift_r(low, high, shift);
            bits[1] = high >> shift;
        }
    }

    /// The sign of a soft bit, where a number has it.
    [[nodiscard]] __device__ __forceinline__ std::uint32_t operator()(int at) const {
        return bits[at / 32] << (31 - at % 32) & 0x80000000U;
    }
};

/// Symbols of one constellation to soft bits.
template <int layers, Constellation constellation>
struct DemapElement {
    static constexpr int bits = bits_of(constellation);
    static constexpr int axes = constellation == Constellation::bpsk ? 1 : 2;
    static constexpr int of_symbol = bits * axes;
    static constexpr int count = layers * of_symbol;
    static constexpr int words = (count + 3) / 4;

    const DetectorOutput& out;
    const LayerGains<layers>& gains;
    std::byte* llr;                       ///< of the slot
    const std::uint32_t* words_of_signs;  ///< of the slot, or null
    ElementSigns<count> signs;

    __device__ __forceinline__ void expect(unsigned element) {
        if (words_of_signs != nullptr) signs.load(words_of_signs, out.sign_words, element);
    }

    __device__ __forceinline__ void operator()(unsigned element, const LayerColumn<layers>& x) const {
        float values[4 * words] = {};
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            const bool turned = out.rotating && ((element * layers + i) & 1U) != 0;
            demap(x.re[i], x.im[i], i, turned, values + i * of_symbol);
        }
        std::uint32_t packed[words];
        pack<SoftBitFormat::int8, 4 * words>(values, packed);
        store_soft_bits<count>(packed, llr + std::uint64_t{element} * count, out.aligned);
    }

private:
    /// Distances are within the limit, whatever the symbol is: the scale 0 is enough to erase it.
    __device__ __forceinline__ void demap(float re, float im, int layer, bool turned, float* values) const {
        const float all = Ops::fma(re, re, Ops::fma(im, im, gains.noise[layer]));
        const float scale = Ops::keep(all, gains.scale[layer]);
#pragma unroll
        for (int axis = 0; axis < axes; ++axis) {
            constexpr Formula formula = phy::detail::simplest_formula(constellation, Formula::all_segments);
            float y = axis == 0 ? re : im;
            if constexpr (axes == 1) y = Ops::add(turned ? -re : re, im);
            float distances[bits];
            axis_distances<Ops, bits, formula>(y, gains.limit[layer], distances);
#pragma unroll
            for (int b = 0; b < bits; ++b) {
                const int at = b * axes + axis;
                const std::uint32_t sign = signs(layer * of_symbol + at);
                values[at] = quantise<Ops>(scale, __uint_as_float(__float_as_uint(distances[b]) ^ sign));
            }
        }
    }
};

/// Symbols to soft bits.
template <int layers>
struct Demap {
    const DetectorOutput& out;
    unsigned elements;  ///< of a slot
    LayerGains<layers> gains;

    __device__ __forceinline__ void set_noise(const float* noise) {
#pragma unroll
        for (int i = 0; i < layers; ++i) {
            gains.noise[i] = noise[i];
            gain_of<Ops>(noise[i], out.gain, gains.scale[i], gains.limit[i]);
            if (noise[i] > 0.0F && Ops::is_finite(noise[i])) continue;
            gains.scale[i] = 0.0F;
            gains.limit[i] = 0.0F;
        }
    }

    template <typename Visitor>
    __device__ __forceinline__ void visit(Visitor use) const {
        with_constant_by_bits<Constellation, 6>(out.constellation, [&](auto constellation) {
            using Element = DemapElement<layers, constellation()>;
            const std::uint64_t slot = blockIdx.z;
            const std::uint32_t* const signs =
                out.signs == nullptr ? nullptr : out.signs + slot * out.sign_words;
            use(Element{out, gains, out.llr + slot * elements * Element::count, signs, {}});
        });
    }
};

template <int layers, int antennas, bool shared>
__global__ void __launch_bounds__(equalizer_threads, detector_blocks(layers, shared))
    detect_slots(const __grid_constant__ EqualizerJob job, const __grid_constant__ DetectorOutput out) {
    equalize_part<layers, antennas, (layers > 1), shared>(job, Demap<layers>{out, job.elements, {}});
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
