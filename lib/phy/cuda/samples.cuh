#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/pieces.cuh"

/// Loads the rows of a tile of samples from memory and converts them to binary32.
namespace phy::gpu::detail {

/// Stored components as binary32. unit: the value of an integer 1.
template <SampleFormat format, int components>
__device__ __forceinline__ void widen(const std::uint32_t* words, float unit, float* y) {
#pragma unroll
    for (int c = 0; c < components; ++c) {
        if constexpr (format == SampleFormat::cf32) {
            y[c] = __uint_as_float(words[c]);
        } else if constexpr (format == SampleFormat::cf16) {
            const auto bits = static_cast<unsigned short>(words[c / 2] >> (16 * (c % 2)));
            y[c] = __half2float(__ushort_as_half(bits));
        } else if constexpr (format == SampleFormat::ci16) {
            const auto number = static_cast<short>(words[c / 2] >> (16 * (c % 2)));
            y[c] = __fmul_rn(static_cast<float>(number), unit);
        } else {
            const auto number = static_cast<signed char>(words[c / 4] >> (8 * (c % 4)));
            y[c] = __fmul_rn(static_cast<float>(number), unit);
        }
    }
}

/// The stored components of the sample at that address; aligned: to a whole sample.
template <SampleFormat format, bool aligned>
__device__ __forceinline__ void load_sample(const std::byte* from,
                                            std::uint32_t (&words)[(size_of(format) + 3) / 4]) {
    if constexpr (aligned) {
        load_words<Space::global, size_of(format)>(from, words);
    } else {
#pragma unroll
        for (unsigned i = 0; i < (size_of(format) + 3) / 4; ++i)
            words[i] = 0;
#pragma unroll
        for (unsigned b = 0; b < size_of(format); ++b)
            words[b / 4] |= static_cast<std::uint32_t>(from[b]) << (8 * (b % 4));
    }
}

/// A lane's symbols in all rows.
template <Shape shape>
using Components = float[shape.groups][2 * shape.symbols];

/// True only if all stored components are finite. May be false for finite components whose sum overflows.
template <SampleFormat format, int count>
__device__ __forceinline__ bool surely_finite(const std::uint32_t* words, float unit) {
    if constexpr (format == SampleFormat::cf32) {
        float sum = 0.0F;
#pragma unroll
        for (int i = 0; i < count; ++i)
            sum += fabsf(__uint_as_float(words[i]));
        return sum < __int_as_float(0x7F800000);
    } else if constexpr (format == SampleFormat::cf16) {
        __half2 sums = __floats2half2_rn(0.0F, 0.0F);
#pragma unroll
        for (int i = 0; i < count; ++i)
            sums = __hadd2(__habs2(*reinterpret_cast<const __half2*>(&words[i])), sums);
        return __low2float(sums) + __high2float(sums) < __int_as_float(0x7F800000);
    } else {
        return unit < 0x1p112F;
    }
}

/// Loads and widens a lane's rows of a tile. Returns surely_finite() for them.
template <Space space, SampleFormat format, Shape shape>
__device__ __forceinline__ bool load_rows(const std::byte* tile, unsigned lane, float unit,
                                          Components<shape>& y) {
    constexpr int bytes = shape.symbols * static_cast<int>(size_of(format));
    constexpr int count = (bytes + 3) / 4;
    const std::byte* const mine = tile + lane * bytes;
    std::uint32_t words[shape.groups][count];
#pragma unroll
    for (int row = 0; row < shape.groups; ++row)
        load_words<space, bytes>(mine + row * warp_size * bytes, words[row]);
#pragma unroll
    for (int row = 0; row < shape.groups; ++row)
        widen<format, 2 * shape.symbols>(words[row], unit, y[row]);
    return surely_finite<format, shape.groups * count>(words[0], unit);
}

/// Loads one number per symbol of a lane.
template <Space space, int rows, int symbols>
__device__ __forceinline__ void load_rows(const float* tile, unsigned lane, float (&numbers)[rows][symbols]) {
    const auto* const mine = reinterpret_cast<const std::byte*>(tile + lane * symbols);
#pragma unroll
    for (int row = 0; row < rows; ++row) {
        std::uint32_t words[symbols];
        load_words<space, 4 * symbols>(mine + row * warp_size * 4 * symbols, words);
#pragma unroll
        for (int s = 0; s < symbols; ++s)
            numbers[row][s] = __uint_as_float(words[s]);
    }
}

}  // namespace phy::gpu::detail
