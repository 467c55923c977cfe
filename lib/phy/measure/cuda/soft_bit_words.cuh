#pragma once

#include <cstdint>

#include "phy/core/format.hpp"

#include <cuda_fp16.h>

/// What a lane sums over soft bits, word by word. Only the sum uses values; all counts use bits, whose order
/// is that of magnitudes. A zero compared with bit 0 adds nothing, so it serves as padding.
namespace phy::gpu::detail {

/// Counters of a lane. One may hold several packed counts, which total() adds.
struct SoftBitCounters {
    unsigned magnitude = 0;  ///< int8 only
    unsigned nonzero = 0;
    unsigned at_limit = 0;    ///< at the limit or beyond, including not finite
    unsigned not_finite = 0;  ///< not for int8
    unsigned wrong = 0;
};

/// 1 in every byte that is not 0.
__device__ __forceinline__ std::uint32_t nonzero_bytes(std::uint32_t word) {
    return (((word & 0x7F7F7F7FU) + 0x7F7F7F7FU) | word) >> 7 & 0x01010101U;
}

template <SoftBitFormat format>
struct SoftBitWords;

/// Four soft bits per word.
template <>
struct SoftBitWords<SoftBitFormat::int8> {
    /// clips: the limit in every byte.
    template <bool compares>
    static __device__ __forceinline__ void add(std::uint32_t soft_bits, std::uint32_t truth,
                                               std::uint32_t clips, SoftBitCounters& to) {
        const std::uint32_t negative = soft_bits >> 7 & 0x01010101U;
        // No byte carries: the complement of a negative byte is at most 127.
        const std::uint32_t magnitudes = (soft_bits ^ negative * 0xFFU) + negative;
        to.magnitude = sum_bytes(magnitudes, to.magnitude);
        to.nonzero = sum_bytes((magnitudes + 0x7F7F7F7FU) >> 7 & 0x01010101U, to.nonzero);
        to.at_limit = sum_bytes(nonzero_bytes(magnitudes ^ clips) ^ 0x01010101U, to.at_limit);
        if constexpr (compares) to.wrong = sum_bytes(nonzero_bytes(truth) ^ negative, to.wrong);
    }

    static __device__ __forceinline__ unsigned total(unsigned counter) { return counter; }

private:
    static __device__ __forceinline__ unsigned sum_bytes(std::uint32_t bytes, unsigned sum) {
        return __dp4a(bytes, 0x01010101U, sum);
    }
};

/// Two soft bits per word. Counts have 16 bits, so a lane can add fewer than 2^16 words.
template <>
struct SoftBitWords<SoftBitFormat::float16> {
    /// Adds four neighbours, with one byte of truth each, to one sum each.
    template <bool compares>
    static __device__ __forceinline__ void add(const std::uint32_t (&soft_bits)[2], std::uint32_t truth,
                                               float (&sums)[4], SoftBitCounters& to) {
        const std::uint32_t ones = compares ? nonzero_bytes(truth) : 0;
        add<compares>(soft_bits[0], __byte_perm(ones, 0, 0x4140), sums, to);
        add<compares>(soft_bits[1], __byte_perm(ones, 0, 0x4342), sums + 2, to);
    }

    static __device__ __forceinline__ unsigned total(unsigned counter) {
        return (counter & 0xFFFFU) + (counter >> 16);
    }

private:
    static constexpr std::uint32_t each = 0x00010001;
    static constexpr std::uint32_t sign = 0x8000;
    static constexpr std::uint32_t infinity = 0x7C00;
    static constexpr std::uint32_t limit = phy::detail::bits_of_largest(SoftBitFormat::float16);

    /// 1 for each magnitude of at least `bits`, which must not be 0.
    static __device__ __forceinline__ std::uint32_t at_least(std::uint32_t magnitudes, std::uint32_t bits) {
        return (magnitudes + each * (sign - bits)) >> 15 & each;
    }

    template <bool compares>
    static __device__ __forceinline__ void add(std::uint32_t soft_bits, std::uint32_t truth, float* sums,
                                               SoftBitCounters& to) {
        const std::uint32_t magnitudes = soft_bits & ~(each * sign);
        const std::uint32_t nonzero = at_least(magnitudes, 1);
        const std::uint32_t not_finite = at_least(magnitudes, infinity);
        to.nonzero += nonzero;
        to.not_finite += not_finite;
        to.at_limit += at_least(magnitudes, limit);
        const std::uint32_t finite = not_finite ^ each;
        if constexpr (compares) to.wrong += ((soft_bits >> 15 & nonzero) ^ truth) & finite;
        const std::uint32_t kept = magnitudes & finite * 0xFFFFU;
        sums[0] = __fadd_rn(sums[0], number_of(kept & 0xFFFFU));
        sums[1] = __fadd_rn(sums[1], number_of(kept >> 16));
    }

    static __device__ __forceinline__ float number_of(std::uint32_t bits) {
        return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
    }
};

/// One soft bit per word.
template <>
struct SoftBitWords<SoftBitFormat::float32> {
    /// Adds four neighbours, with one byte of truth each, to one sum each.
    template <bool compares>
    static __device__ __forceinline__ void add(const std::uint32_t (&soft_bits)[4], std::uint32_t truth,
                                               float (&sums)[4], SoftBitCounters& to) {
        constexpr std::uint32_t limit = phy::detail::bits_of_largest(SoftBitFormat::float32);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t magnitude = soft_bits[i] & 0x7FFFFFFFU;
            const bool finite = magnitude < 0x7F800000U;
            to.nonzero += magnitude != 0 ? 1 : 0;
            to.not_finite += finite ? 0 : 1;
            to.at_limit += magnitude >= limit ? 1 : 0;
            if constexpr (compares) {
                const bool one = (truth >> (8 * i) & 0xFFU) != 0;
                const bool decided = soft_bits[i] > 0x80000000U;
                to.wrong += finite && one != decided ? 1 : 0;
            }
            sums[i] = __fadd_rn(sums[i], finite ? __uint_as_float(magnitude) : 0.0F);
        }
    }

    static __device__ __forceinline__ unsigned total(unsigned counter) {
        return counter;
    }
};

}  // namespace phy::gpu::detail
