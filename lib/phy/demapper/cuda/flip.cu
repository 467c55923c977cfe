#include <algorithm>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/pieces.cuh"
#include "phy/cuda/signs.cuh"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/cuda/tuning.hpp"

namespace phy::gpu::detail {
namespace {

/// A thread processes aligned pieces of 16 bytes, and single soft bits elsewhere.
template <SoftBitFormat format>
__global__ void __launch_bounds__(threads_of_flips) flip(const __grid_constant__ Flips flips) {
    constexpr unsigned of_piece = 16 / size_of(format);
    const Flips::Call& call = flips.call[blockIdx.y];
    const std::uint64_t thread = std::uint64_t{blockIdx.x} * threads_of_flips + threadIdx.x;
    const std::uint64_t threads = std::uint64_t{gridDim.x} * threads_of_flips;
    const bool aligned = reinterpret_cast<std::uintptr_t>(call.llr) % 16 == 0;
    const std::uint64_t pieces = aligned ? call.count / of_piece : 0;
    for (std::uint64_t piece = thread; piece < pieces; piece += threads) {
        const std::uint64_t bit = piece * of_piece;
        const std::uint32_t signs = __ldg(call.signs + bit / 32) >> (bit % 32);
        std::uint32_t words[4];
        load_words<Space::written, 16>(call.llr + 16 * piece, words);
#pragma unroll
        for (unsigned w = 0; w < 4; ++w)
            words[w] = flipped<format>(words[w], signs >> (w * soft_bits_of_word<format>));
        store_words<4>(words, call.llr + 16 * piece);
    }
    for (std::uint64_t i = pieces * of_piece + thread; i < call.count; i += threads) {
        std::byte* const llr = call.llr + i * size_of(format);
        flip_one<format>(llr, (__ldg(call.signs + i / 32) >> (i % 32) & 1U) != 0);
    }
}

}  // namespace

void launch_flips(const Flips& flips, cudaStream_t stream) {
    std::uint64_t max_count = 0;
    for (std::uint32_t i = 0; i < flips.calls; ++i)
        max_count = std::max(max_count, flips.call[i].count);
    const std::uint64_t of_block = threads_of_flips * 16 / size_of(flips.format);
    const std::uint64_t blocks =
        std::min<std::uint64_t>((max_count + of_block - 1) / of_block, max_blocks_of_flips);
    with_constant(flips.format, [&](auto format) {
        flip<format()>
            <<<dim3(static_cast<unsigned>(blocks), flips.calls), threads_of_flips, 0, stream>>>(flips);
    });
    check(cudaGetLastError());
}

void load_flips(SoftBitFormat format) {
    with_constant(format, [](auto constant) { load_code(flip<constant()>); });
}

}  // namespace phy::gpu::detail
