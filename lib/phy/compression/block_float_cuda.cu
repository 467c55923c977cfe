#include <cstddef>
#include <cstdint>

#include "phy/compression/block_float.hpp"
#include "phy/compression/blocks.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/pieces.cuh"

namespace phy::gpu {
namespace detail {
namespace {

using namespace phy::detail;  // NOLINT(google-build-using-namespace)

// Tuning: this number affects speed only.

/// Resource blocks per block of threads, three threads for each. A multiple of 16, so that each tile begins
/// at a multiple of 16 bytes.
constexpr unsigned decompressor_tile = 64;
static_assert(decompressor_tile % 16 == 0);

constexpr unsigned threads = groups_per_block * decompressor_tile;

/// Groups are loaded as whole words, which extend beyond both ends.
constexpr unsigned room_after = 32;

struct Tile {
    alignas(16) std::uint8_t bytes[decompressor_tile * max_block_bytes + room_after];
};

/// All threads copy a tile. aligned: its address is a multiple of 16, so pieces of 16 bytes are used.
__device__ __forceinline__ void load_tile(const std::uint8_t* from, unsigned bytes, bool aligned,
                                          Tile& tile) {
    const unsigned in_pieces = aligned ? bytes / 16 * 16 : 0;
    for (unsigned at = 16 * threadIdx.x; at < in_pieces; at += 16 * threads)
        *reinterpret_cast<uint4*>(tile.bytes + at) = __ldg(reinterpret_cast<const uint4*>(from + at));
    for (unsigned at = in_pieces + threadIdx.x; at < bytes; at += threads)
        tile.bytes[at] = __ldg(from + at);
}

/// Loads four big-endian words from an address. Reads whole words: up to 3 bytes before and 20 after it.
__device__ __forceinline__ void load_big_endian(const std::uint8_t* from, std::uint32_t (&words)[4]) {
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
        values[i] = value_of(mantissa_of(words[0], 0, width), exponent);
#pragma unroll
        for (int w = 0; w < 3; ++w)
            words[w] = __funnelshift_l(words[w + 1], words[w], width);
        words[3] <<= width;
    }
}

/// A group's components in the output format.
template <SampleFormat format>
struct Group {
    static constexpr unsigned words = format == SampleFormat::ci16 ? 4 : 8;

    __device__ __forceinline__ Group(const std::int32_t (&values)[mantissas_per_group], float unit) {
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
            if constexpr (format == SampleFormat::ci16) {
                const auto low = static_cast<std::uint16_t>(limited_to_16_bits(values[2 * i]));
                const auto high = static_cast<std::uint16_t>(limited_to_16_bits(values[2 * i + 1]));
                stored[i] = static_cast<std::uint32_t>(high) << 16 | low;
            } else {
                stored[i] = __float_as_uint(__fmul_rn(static_cast<float>(values[i]), unit));
            }
        }
    }

    std::uint32_t stored[words];
};

/// to: aligned to components only.
template <SampleFormat format>
__device__ __forceinline__ void store_components(const Group<format>& group, std::byte* to) {
#pragma unroll
    for (unsigned i = 0; i < Group<format>::words; ++i) {
        if constexpr (format == SampleFormat::ci16) {
            auto* const halves = reinterpret_cast<std::uint16_t*>(to) + 2 * i;
            halves[0] = static_cast<std::uint16_t>(group.stored[i]);
            halves[1] = static_cast<std::uint16_t>(group.stored[i] >> 16);
        } else {
            reinterpret_cast<std::uint32_t*>(to)[i] = group.stored[i];
        }
    }
}

struct Alignment {
    bool in;   ///< to 16 bytes
    bool out;  ///< to 16 bytes
};

template <SampleFormat format>
__global__ void __launch_bounds__(threads)
    decompress_tiles(CompressedBlocks in, std::byte* out, std::uint64_t blocks, float unit,
                     Alignment alignment) {
    __shared__ Tile tile;
    const std::uint64_t first = std::uint64_t{blockIdx.x} * decompressor_tile;
    const std::uint64_t left = blocks - first;
    const unsigned here = left < decompressor_tile ? static_cast<unsigned>(left) : decompressor_tile;
    const unsigned block_bytes = in.bytes_per_block();
    load_tile(in.bytes + first * block_bytes, here * block_bytes, alignment.in, tile);
    __syncthreads();
    const unsigned block = threadIdx.x / groups_per_block;
    if (block >= here) return;

    const std::uint8_t* const compressed = tile.bytes + block * block_bytes;
    const unsigned exponent = in.header_bytes != 0 ? exponent_of(*compressed) : 0;
    const unsigned group = threadIdx.x % groups_per_block;
    std::uint32_t words[4];
    load_big_endian(compressed + in.header_bytes + group * in.width, words);
    std::int32_t values[mantissas_per_group];
    decompress_group(words, in.width, exponent, values);

    const Group<format> result(values, unit);
    std::byte* const to =
        out + (first * groups_per_block + threadIdx.x) * (sizeof(std::uint32_t) * Group<format>::words);
    if (alignment.out)
        store_words<Group<format>::words>(result.stored, to);
    else
        store_components(result, to);
}

bool is_aligned(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % sizeof(uint4) == 0;
}

}  // namespace
}  // namespace detail

BlockFloatDecompressor::BlockFloatDecompressor(const Device& device, const Config& config)
    : device_(device), config_(config) {
    phy::detail::check_config(config);
}

void BlockFloatDecompressor::operator()(DeviceSpan<const std::byte> compressed, SymbolSpan elements,
                                        cudaStream_t stream) const {
    const std::size_t blocks =
        phy::detail::checked_blocks(config_, elements.format(), elements.size(), compressed.size());
    if (blocks == 0) return;
    const CurrentDevice current(device_);
    const detail::Alignment alignment = {.in = detail::is_aligned(compressed.data()),
                                         .out = detail::is_aligned(elements.data())};
    const auto kernel = elements.format() == SampleFormat::ci16
                            ? detail::decompress_tiles<SampleFormat::ci16>
                            : detail::decompress_tiles<SampleFormat::cf32>;
    // The number of tiles fits: more tiles than a grid has blocks would exceed all memory.
    const auto tiles =
        static_cast<unsigned>((blocks + detail::decompressor_tile - 1) / detail::decompressor_tile);
    kernel<<<tiles, detail::threads, 0, stream>>>(phy::detail::compressed_blocks(config_, compressed.data()),
                                                  elements.data(), blocks, phy::detail::unit_of(config_),
                                                  alignment);
    check(cudaGetLastError());
}

}  // namespace phy::gpu
