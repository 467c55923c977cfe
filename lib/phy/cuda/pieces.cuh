#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/cuda/warp.hpp"

/// Access to device memory in pieces of up to 16 bytes.
namespace phy::gpu::detail {

enum class Space {
    global,  ///< read-only while the kernel runs: loads may use the non-coherent cache
    shared,
    written,  ///< global; the kernel, or the one before it in a chain of dependent launches, may write it
};

template <Space space, typename T>
__device__ __forceinline__ T load(const void* from) {
    if constexpr (space == Space::global) return __ldg(static_cast<const T*>(from));
    return *static_cast<const T*>(from);
}

/// Loads bytes. from is aligned to their number, or to 16 if there are more.
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

/// Stores words. to is aligned to their size, or to its largest power-of-two factor.
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

/// The lanes of a warp copy bytes and fill with zeros up to total. aligned: both addresses are multiples of
/// 16, so pieces of 16 bytes are used.
__device__ __forceinline__ void copy_bytes(const std::byte* from, std::byte* to, unsigned bytes,
                                           unsigned total, unsigned lane, bool aligned) {
    const unsigned in_pieces = aligned ? bytes / 16 * 16 : 0;
#pragma unroll 1
    for (unsigned i = 16 * lane; i < in_pieces; i += 16 * warp_size)
        *reinterpret_cast<uint4*>(to + i) = *reinterpret_cast<const uint4*>(from + i);
    for (unsigned i = in_pieces + lane; i < total; i += warp_size)
        to[i] = i < bytes ? from[i] : std::byte{0};
}

/// The lanes of a warp copy a multiple of 16 bytes. Both addresses are aligned to 16.
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

}  // namespace phy::gpu::detail
