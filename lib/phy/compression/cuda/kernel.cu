#include <cstddef>
#include <cstdint>

#include "phy/compression/cuda/block_float.cuh"
#include "phy/compression/cuda/launch.hpp"
#include "phy/core/integers.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/pieces.cuh"

namespace phy::gpu::detail {
namespace {

constexpr unsigned threads = groups_per_block * decompressor_tile;

/// Groups are loaded as whole words, which extend beyond both ends.
constexpr unsigned room_after = 32;

struct Tile {
    alignas(16) std::byte bytes[decompressor_tile * phy::detail::max_block_bytes + room_after];
};

/// All threads copy a tile. aligned: its address is a multiple of 16, so pieces of 16 bytes are used.
__device__ __forceinline__ void load_tile(const std::byte* from, unsigned bytes, bool aligned, Tile& tile) {
    const unsigned in_pieces = aligned ? bytes / 16 * 16 : 0;
    for (unsigned at = 16 * threadIdx.x; at < in_pieces; at += 16 * threads)
        *reinterpret_cast<uint4*>(tile.bytes + at) = __ldg(reinterpret_cast<const uint4*>(from + at));
    const auto* const single = reinterpret_cast<const std::uint8_t*>(from);
    for (unsigned at = in_pieces + threadIdx.x; at < bytes; at += threads)
        tile.bytes[at] = static_cast<std::byte>(__ldg(single + at));
}

/// A group's components in the output format.
template <SampleFormat format>
struct Group {
    static constexpr unsigned words = format == SampleFormat::ci16 ? 4 : 8;

    __device__ __forceinline__ Group(const std::int32_t (&values)[mantissas_per_group], float unit) {
#pragma unroll
        for (unsigned i = 0; i < words; ++i) {
            if constexpr (format == SampleFormat::ci16) {
                const auto low = static_cast<std::uint16_t>(phy::detail::limited_to_16_bits(values[2 * i]));
                const auto high =
                    static_cast<std::uint16_t>(phy::detail::limited_to_16_bits(values[2 * i + 1]));
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

    const std::byte* const compressed = tile.bytes + block * block_bytes;
    const unsigned exponent =
        in.header_bytes != 0 ? phy::detail::exponent_of(static_cast<std::uint8_t>(*compressed)) : 0;
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
    return phy::detail::is_aligned(address, sizeof(uint4));
}

}  // namespace

void launch(const DecompressionJob& job, cudaStream_t stream) {
    static_assert(decompressor_tile % 16 == 0);
    const CompressedBlocks in = {.bytes = job.in,
                                 .width = static_cast<unsigned>(job.width),
                                 .header_bytes = job.has_exponent ? 1U : 0U};
    const Alignment alignment = {.in = is_aligned(job.in), .out = is_aligned(job.out)};
    const auto kernel = job.format == SampleFormat::ci16 ? decompress_tiles<SampleFormat::ci16>
                                                         : decompress_tiles<SampleFormat::cf32>;
    // The number of tiles fits: more tiles than a grid has blocks would exceed all memory.
    const auto tiles = static_cast<unsigned>((job.blocks + decompressor_tile - 1) / decompressor_tile);
    kernel<<<tiles, threads, 0, stream>>>(in, job.out, job.blocks, job.unit, alignment);
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
