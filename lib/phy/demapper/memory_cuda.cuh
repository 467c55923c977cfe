#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/demapper/tuning_cuda.hpp"

/// How symbols and soft bits come from memory and go there.
namespace phy::gpu::detail {

enum class Space { global, shared };

template <Space space, typename T>
__device__ __forceinline__ T load(const void* from) {
    if constexpr (space == Space::global) return __ldg(static_cast<const T*>(from));
    return *static_cast<const T*>(from);
}

/// Loads bytes from where they are aligned to their number, or to 16 if they are more.
template <Space space, int bytes>
__device__ __forceinline__ void load_words(const std::byte* from, std::uint32_t* words) {
    if constexpr (bytes % 16 == 0) {
#pragma unroll
        for (int i = 0; i < bytes / 16; ++i) {
            const auto piece = load<space, uint4>(from + 16 * i);
            words[4 * i] = piece.x;
            words[4 * i + 1] = piece.y;
            words[4 * i + 2] = piece.z;
            words[4 * i + 3] = piece.w;
        }
    } else if constexpr (bytes % 8 == 0) {
#pragma unroll
        for (int i = 0; i < bytes / 8; ++i) {
            const auto piece = load<space, uint2>(from + 8 * i);
            words[2 * i] = piece.x;
            words[2 * i + 1] = piece.y;
        }
    } else if constexpr (bytes == 4) {
        words[0] = load<space, unsigned>(from);
    } else {
        static_assert(bytes == 2);
        words[0] = load<space, unsigned short>(from);
    }
}

/// Stores words where they are aligned to their size, or to the largest power of two in it.
template <int count>
__device__ __forceinline__ void store_words(const std::uint32_t* words, std::byte* to) {
    if constexpr (count % 4 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 4)
            *reinterpret_cast<uint4*>(to + 4 * i) = {words[i], words[i + 1], words[i + 2], words[i + 3]};
    } else if constexpr (count % 2 == 0) {
#pragma unroll
        for (int i = 0; i < count; i += 2)
            *reinterpret_cast<uint2*>(to + 4 * i) = {words[i], words[i + 1]};
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            *reinterpret_cast<std::uint32_t*>(to + 4 * i) = words[i];
    }
}

/// Stored components as numbers; unit is the value of an integer 1.
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

/// A lane's symbols of all rows.
template <Shape shape>
using Components = float[shape.groups][2 * shape.symbols];

/// True if all stored components are finite; false, too, for some that are finite and too large to be added.
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

/// Loads and widens a lane's rows of a tile; returns surely_finite of them.
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

template <Space space, Shape shape>
__device__ __forceinline__ bool load_rows(SampleFormat format, const std::byte* tile, unsigned lane,
                                          float unit, Components<shape>& y) {
    static_assert(static_cast<int>(SampleFormat::cf32) == 0 && static_cast<int>(SampleFormat::cf16) == 1 &&
                  static_cast<int>(SampleFormat::ci16) == 2 && static_cast<int>(SampleFormat::ci8) == 3);
    // By the bits of the number: a switch becomes a table of addresses, fetched before the jump.
    const auto number = static_cast<unsigned>(format);
    const bool odd = (number & 1U) != 0;
    if ((number & 2U) == 0) {
        if (!odd) return load_rows<space, SampleFormat::cf32, shape>(tile, lane, unit, y);
        return load_rows<space, SampleFormat::cf16, shape>(tile, lane, unit, y);
    }
    if (!odd) return load_rows<space, SampleFormat::ci16, shape>(tile, lane, unit, y);
    return load_rows<space, SampleFormat::ci8, shape>(tile, lane, unit, y);
}

/// Numbers that a lane's symbols have one of each.
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

/// The lanes of a warp copy bytes and put zeros behind them up to total: by pieces of 16 if both places are
/// aligned to that.
__device__ __forceinline__ void copy_bytes(const std::byte* from, std::byte* to, unsigned bytes,
                                           unsigned total, unsigned lane, bool aligned) {
    const unsigned in_pieces = aligned ? bytes / 16 * 16 : 0;
#pragma unroll 1
    for (unsigned i = 16 * lane; i < in_pieces; i += 16 * warp_size)
        *reinterpret_cast<uint4*>(to + i) = *reinterpret_cast<const uint4*>(from + i);
    for (unsigned i = in_pieces + lane; i < total; i += warp_size)
        to[i] = i < bytes ? from[i] : std::byte{0};
}

/// The lanes of a warp copy a multiple of 16 bytes between places that are aligned to 16.
template <int bytes>
__device__ __forceinline__ void copy_pieces(const std::byte* from, std::byte* to, unsigned lane) {
    static_assert(bytes % 16 == 0);
#pragma unroll
    for (int piece = 0; piece < bytes / 16; piece += warp_size) {
        const unsigned mine = 16 * (piece + lane);
        if (bytes / 16 % warp_size == 0 || mine < bytes)
            *reinterpret_cast<uint4*>(to + mine) = *reinterpret_cast<const uint4*>(from + mine);
    }
}

/// Soft bits as they are stored, from what the numeric core leaves: fp16 and fp32 as numbers, int8 in the low
/// byte.
template <SoftBitFormat format, int count>
__device__ __forceinline__ void pack(const float* values, std::uint32_t* words) {
    if constexpr (format == SoftBitFormat::int8) {
        const auto bits = [values](int i) { return __float_as_uint(values[i]); };
#pragma unroll
        for (int i = 0; i < count; i += 4) {
            const std::uint32_t low = __byte_perm(bits(i), bits(i + 1), 0x0040);
            const std::uint32_t high = __byte_perm(bits(i + 2), bits(i + 3), 0x0040);
            words[i / 4] = __byte_perm(low, high, 0x5410);
        }
    } else if constexpr (format == SoftBitFormat::float16) {
#pragma unroll
        for (int i = 0; i < count; i += 2) {
            const __half2 pair = __floats2half2_rn(values[i], values[i + 1]);
            words[i / 2] = *reinterpret_cast<const std::uint32_t*>(&pair);
        }
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            words[i] = __float_as_uint(values[i]);
    }
}

}  // namespace phy::gpu::detail
