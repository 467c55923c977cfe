#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/pieces.cuh"
#include "phy/cuda/signs.cuh"
#include "phy/scrambling/cuda/gold.cuh"

namespace phy::gpu::detail {
namespace {

constexpr unsigned warps_of_block = scrambling_threads / warp_size;

/// Which part of the codewords a warp has.
struct Unit {
    std::uint64_t codeword;
    std::uint32_t index;  ///< in the codeword
    std::uint64_t begin;  ///< its first bit, of those of all codewords
    unsigned count;       ///< bits
};

__host__ __device__ constexpr std::uint64_t units_of_codeword(const GoldJob& job) {
    return (job.length + bits_of_unit - 1) / bits_of_unit;
}

/// Returns false where there is none left for the warp.
__device__ __forceinline__ bool find_unit(const GoldJob& job, Unit& unit) {
    const std::uint64_t warp = std::uint64_t{blockIdx.x} * warps_of_block + threadIdx.x / warp_size;
    const std::uint64_t of_codeword = units_of_codeword(job);
    unit.codeword = warp / of_codeword;
    if (unit.codeword >= job.codewords) return false;
    unit.index = static_cast<std::uint32_t>(warp - unit.codeword * of_codeword);
    const std::uint64_t in_codeword = std::uint64_t{unit.index} * bits_of_unit;
    const std::uint64_t left = job.length - in_codeword;
    unit.begin = unit.codeword * job.length + in_codeword;
    unit.count = left < bits_of_unit ? static_cast<unsigned>(left) : bits_of_unit;
    return true;
}

/// The words of a warp's unit, for all its lanes.
__device__ __forceinline__ void share_words(const GoldJob& job, const Unit& unit, unsigned lane,
                                            std::uint32_t* shared) {
    std::uint32_t words[words_of_lane];
    make_words(job, unit.codeword, unit.index, lane, words);
    store_words<words_of_lane>(words, reinterpret_cast<std::byte*>(shared + lane * words_of_lane));
    __syncwarp();
}

__global__ void __launch_bounds__(scrambling_threads)
    write_words(const __grid_constant__ GoldJob job, std::uint32_t* out) {
    __shared__ alignas(16) std::uint32_t of_block[warps_of_block][words_of_unit];
    const unsigned lane = threadIdx.x % warp_size;
    std::uint32_t* const words = of_block[threadIdx.x / warp_size];
    Unit unit;
    if (!find_unit(job, unit)) return;
    share_words(job, unit, lane, words);
    for (unsigned i = lane; i < unit.count / 32; i += warp_size)
        out[unit.begin / 32 + i] = words[i];
}

/// What is done to soft bits.
template <SoftBitFormat format>
struct Descramble {
    static constexpr unsigned bytes = size_of(format);
    static constexpr unsigned of_word = soft_bits_of_word<format>;
    static __device__ __forceinline__ std::uint32_t of(std::uint32_t word, std::uint32_t c) {
        return flipped<format>(word, c);
    }
    static __device__ __forceinline__ void one(const std::byte* in, std::byte* out, bool c) {
        flip_one<format>(in, out, c);
    }
};

/// And to bits, one a byte.
struct Scramble {
    static constexpr unsigned bytes = 1;
    static constexpr unsigned of_word = 4;
    static __device__ __forceinline__ std::uint32_t of(std::uint32_t word, std::uint32_t c) {
        return word ^ ((c & 0xF) * 0x00204081U & 0x01010101U);
    }
    static __device__ __forceinline__ void one(const std::byte* in, std::byte* out, bool c) {
        *out = *in ^ static_cast<std::byte>(c ? 1 : 0);
    }
};

/// A lane has a piece of 16 bytes of every group of 32.
template <class Work>
__device__ __forceinline__ void store_group(std::uint32_t (&words)[scrambling_groups][4], std::byte* out,
                                            unsigned first, unsigned pieces, const std::uint32_t* c) {
    constexpr unsigned of_piece = 4 * Work::of_word;
#pragma unroll
    for (unsigned g = 0; g < scrambling_groups; ++g) {
        const unsigned piece = first + g * warp_size;
        if (piece >= pieces) continue;
        const std::uint32_t mine = c[piece * of_piece / 32] >> (piece * of_piece % 32);
#pragma unroll
        for (unsigned w = 0; w < 4; ++w)
            words[g][w] = Work::of(words[g][w], mine >> (w * Work::of_word));
        store_words<4>(words[g], out + 16 * piece);
    }
}

/// A call may work where the elements lie: a lane has read a piece before it writes there, and nobody else
/// reads it.
template <class Work>
__global__ void __launch_bounds__(scrambling_threads)
    change(const __grid_constant__ GoldJob job, const std::byte* all_in, std::byte* all_out) {
    __shared__ alignas(16) std::uint32_t of_block[warps_of_block][words_of_unit];
    const unsigned lane = threadIdx.x % warp_size;
    std::uint32_t* const c = of_block[threadIdx.x / warp_size];
    Unit unit;
    if (!find_unit(job, unit)) return;
    const std::byte* const in = all_in + unit.begin * Work::bytes;
    std::byte* const out = all_out + unit.begin * Work::bytes;
    const bool aligned =
        (reinterpret_cast<std::uintptr_t>(in) | reinterpret_cast<std::uintptr_t>(out)) % 16 == 0;
    const unsigned pieces = aligned ? unit.count * Work::bytes / 16 : 0;
    constexpr unsigned groups = (bits_of_unit * Work::bytes / 16) / (warp_size * scrambling_groups);
    std::uint32_t words[scrambling_groups][4];
    // The first group is on its way while c is made.
    const auto load_group = [&](unsigned first) {
#pragma unroll
        for (unsigned g = 0; g < scrambling_groups; ++g) {
            const unsigned piece = first + g * warp_size;
            if (piece < pieces) load_words<Space::written, 16>(in + 16 * piece, words[g]);
        }
    };
    load_group(lane);
    share_words(job, unit, lane, c);
#pragma unroll 1
    for (unsigned group = 0; group < groups; ++group) {
        const unsigned first = group * scrambling_groups * warp_size + lane;
        if (group > 0) load_group(first);
        store_group<Work>(words, out, first, pieces, c);
    }
    for (unsigned i = pieces * (16 / Work::bytes) + lane; i < unit.count; i += warp_size)
        Work::one(in + i * Work::bytes, out + i * Work::bytes, (c[i / 32] >> (i % 32) & 1U) != 0);
}

unsigned blocks_of(const GoldJob& job) {
    return static_cast<unsigned>((units_of_codeword(job) * job.codewords + warps_of_block - 1) /
                                 warps_of_block);
}

}  // namespace

void launch_words(const GoldJob& job, std::uint32_t* words, cudaStream_t stream) {
    write_words<<<blocks_of(job), scrambling_threads, 0, stream>>>(job, words);
    check(cudaGetLastError());
}

void launch_scramble(const GoldJob& job, const std::byte* in, std::byte* out, cudaStream_t stream) {
    change<Scramble><<<blocks_of(job), scrambling_threads, 0, stream>>>(job, in, out);
    check(cudaGetLastError());
}

void launch_descramble(const GoldJob& job, SoftBitFormat format, const std::byte* in, std::byte* out,
                       cudaStream_t stream) {
    with_constant(format, [&](auto constant) {
        change<Descramble<constant()>><<<blocks_of(job), scrambling_threads, 0, stream>>>(job, in, out);
    });
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
