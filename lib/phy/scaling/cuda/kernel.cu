#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/samples.cuh"
#include "phy/scaling/cuda/launch.hpp"
#include "phy/scaling/cuda/tuning.hpp"
#include "phy/scaling/math/scaled-inl.h"

namespace phy::gpu::detail {
namespace {

/// Two symbols: what a thread stores at once.
constexpr unsigned piece_symbols = 2;
constexpr unsigned piece_components = 2 * piece_symbols;

template <SampleFormat format>
constexpr unsigned piece_bytes = piece_symbols* size_of(format);

template <SampleFormat format, int symbols>
__device__ __forceinline__ void scale_words(const std::uint32_t* words, float factor, std::uint32_t* out) {
    float components[2 * symbols];
    widen<format, 2 * symbols>(words, 1.0F, components);
#pragma unroll
    for (int c = 0; c < 2 * symbols; ++c)
        out[c] = __float_as_uint(phy::detail::cuda::scaled<phy::detail::cuda::Ops>(components[c], factor));
}

/// One symbol at any alignment.
template <SampleFormat format>
__device__ __forceinline__ void scale_symbol(const std::byte* in, std::byte* out, std::uint64_t symbol,
                                             float factor) {
    constexpr unsigned bytes = size_of(format);
    const auto* const from = reinterpret_cast<const std::uint8_t*>(in) + symbol * bytes;
    std::uint32_t words[(bytes + 3) / 4] = {};
#pragma unroll
    for (unsigned b = 0; b < bytes; ++b)
        words[b / 4] |= static_cast<std::uint32_t>(from[b]) << (8 * (b % 4));
    std::uint32_t scaled[2];
    scale_words<format, 1>(words, factor, scaled);
    auto* const to = reinterpret_cast<std::uint32_t*>(out) + 2 * symbol;
    to[0] = scaled[0];
    to[1] = scaled[1];
}

/// The array may be scaled where it lies: a thread has read a piece before it writes there, and nobody else
/// reads it.
template <SampleFormat format>
__global__ void __launch_bounds__(scaler_threads)
    scale_pieces(const std::byte* in, std::byte* out, std::uint64_t symbols, float factor) {
    constexpr unsigned of_block = scaler_threads * scaler_groups;
    const std::uint64_t pieces = symbols / piece_symbols;
    const std::uint64_t stride = std::uint64_t{gridDim.x} * of_block;
    for (std::uint64_t first = std::uint64_t{blockIdx.x} * of_block + threadIdx.x; first < pieces;
         first += stride) {
        std::uint32_t words[scaler_groups][(piece_bytes<format> + 3) / 4];
#pragma unroll
        for (unsigned g = 0; g < scaler_groups; ++g) {
            const std::uint64_t piece = first + g * scaler_threads;
            if (piece < pieces)
                load_words<Space::written, piece_bytes<format>>(in + piece * piece_bytes<format>, words[g]);
        }
#pragma unroll
        for (unsigned g = 0; g < scaler_groups; ++g) {
            const std::uint64_t piece = first + g * scaler_threads;
            if (piece >= pieces) continue;
            std::uint32_t scaled[piece_components];
            scale_words<format, piece_symbols>(words[g], factor, scaled);
            store_words<piece_components>(scaled, out + piece * sizeof scaled);
        }
    }
    const bool has_rest = symbols % piece_symbols != 0;
    if (has_rest && blockIdx.x == 0 && threadIdx.x == 0) scale_symbol<format>(in, out, symbols - 1, factor);
}

template <SampleFormat format>
__global__ void __launch_bounds__(scaler_threads)
    scale_anywhere(const std::byte* in, std::byte* out, std::uint64_t symbols, float factor) {
    const std::uint64_t stride = std::uint64_t{gridDim.x} * scaler_threads;
    for (std::uint64_t symbol = std::uint64_t{blockIdx.x} * scaler_threads + threadIdx.x; symbol < symbols;
         symbol += stride)
        scale_symbol<format>(in, out, symbol, factor);
}

bool is_aligned(const void* address, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

}  // namespace

void launch(const ScalingJob& job, int multiprocessors, cudaStream_t stream) {
    const std::uint64_t max_blocks =
        std::uint64_t{scaler_blocks_per_multiprocessor} * static_cast<unsigned>(multiprocessors);
    const auto blocks_of = [&](std::uint64_t symbols) {
        return static_cast<unsigned>(std::min((job.symbols + symbols - 1) / symbols, max_blocks));
    };
    with_constant(job.format, [&](auto constant) {
        constexpr SampleFormat format = constant();
        if (is_aligned(job.in, piece_bytes<format>) && is_aligned(job.out, sizeof(uint4))) {
            constexpr unsigned of_block = scaler_threads * scaler_groups * piece_symbols;
            scale_pieces<format><<<blocks_of(of_block), scaler_threads, 0, stream>>>(job.in, job.out,
                                                                                     job.symbols, job.factor);
        } else {
            scale_anywhere<format><<<blocks_of(scaler_threads), scaler_threads, 0, stream>>>(
                job.in, job.out, job.symbols, job.factor);
        }
    });
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
