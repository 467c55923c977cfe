#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/compression/math/integers.hpp"

/// Decompression in a kernel, for any kernel that loads compressed elements.
namespace phy::gpu::detail {

/// Contiguous compressed resource blocks at any address.
struct CompressedBlocks {
    const std::byte* bytes;
    unsigned width;         ///< bits per mantissa
    unsigned header_bytes;  ///< before the mantissas of a block: 1 or 0

    [[nodiscard]] __device__ __forceinline__ unsigned bytes_per_block() const {
        return 3 * width + header_bytes;
    }
};

/// Eight mantissas begin and end at byte boundaries and take `width` bytes.
constexpr unsigned mantissas_per_group = 8;
constexpr unsigned groups_per_block = phy::detail::components_per_block / mantissas_per_group;

/// Loads four big-endian words from an address. Reads whole words: up to 3 bytes before and 20 after it.
__device__ __forceinline__ void load_big_endian(const std::byte* from, std::uint32_t (&words)[4]) {
    const auto address = reinterpret_cast<std::uintptr_t>(from);
    const auto* const aligned = reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3});
    const unsigned shift = 8 * static_cast<unsigned>(address & 3);
    std::uint32_t stored[5];
#pragma unroll
    for (int i = 0; i < 5; ++i)
        stored[i] = __byte_perm(aligned[i], 0, 0x0123);
#pragma unroll
    for (int i = 0; i < 4; ++i)
        words[i] = __funnelshift_l(stored[i + 1], stored[i], shift);
}

/// The integers of a group from the words with its mantissas.
__device__ __forceinline__ void decompress_group(std::uint32_t (&words)[4], unsigned width, unsigned exponent,
                                                 std::int32_t (&values)[mantissas_per_group]) {
#pragma unroll
    for (unsigned i = 0; i < mantissas_per_group; ++i) {
        values[i] = phy::detail::value_of(phy::detail::mantissa_of(words[0], 0, width), exponent);
#pragma unroll
        for (int w = 0; w < 3; ++w)
            words[w] = __funnelshift_l(words[w + 1], words[w], width);
        words[3] <<= width;
    }
}

/// I and Q of one element, by its index from the first block on. Loads bytes: for kernels that need few
/// elements of a block, or one per thread.
__device__ __forceinline__ void decompress_element(const CompressedBlocks& in, std::uint64_t element,
                                                   std::int32_t& i, std::int32_t& q) {
    constexpr unsigned elements = phy::detail::components_per_block / 2;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(in.bytes);
    const auto* const block = bytes + element / elements * in.bytes_per_block();
    const unsigned exponent = in.header_bytes != 0 ? phy::detail::exponent_of(__ldg(block)) : 0;
    const unsigned bit = static_cast<unsigned>(element % elements) * 2 * in.width;
    const unsigned first = in.header_bytes + bit / 8;
    const unsigned last = in.header_bytes + (bit + 2 * in.width - 1) / 8;
    std::uint64_t bits = 0;
#pragma unroll
    for (unsigned n = 0; n < 5; ++n)
        bits = bits << 8 | (first + n <= last ? __ldg(block + first + n) : 0U);
    // 40 bits; the element's bits come first.
    bits <<= 24 + bit % 8;
    i = phy::detail::value_of(phy::detail::mantissa_of(static_cast<std::uint32_t>(bits >> 32), 0, in.width),
                              exponent);
    bits <<= in.width;
    q = phy::detail::value_of(phy::detail::mantissa_of(static_cast<std::uint32_t>(bits >> 32), 0, in.width),
                              exponent);
}

}  // namespace phy::gpu::detail
