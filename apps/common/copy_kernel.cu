#include "common/copy_kernel.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

using Kernel = void (*)(const uint4* in, std::size_t in_size, uint4* out, std::size_t out_size);

struct Ratio {
    int in;
    int out;
    friend constexpr bool operator==(Ratio, Ratio) = default;
};

constexpr std::array ratios = {Ratio{8, 1},  Ratio{4, 1},  Ratio{5, 2}, Ratio{2, 1},  Ratio{3, 2},
                               Ratio{4, 3},  Ratio{5, 4},  Ratio{1, 1}, Ratio{4, 5},  Ratio{3, 4},
                               Ratio{2, 3},  Ratio{1, 2},  Ratio{2, 5}, Ratio{5, 16}, Ratio{1, 4},
                               Ratio{3, 16}, Ratio{5, 32}, Ratio{1, 8}, Ratio{3, 32}, Ratio{1, 16},
                               Ratio{1, 32}, Ratio{1, 64}, Ratio{0, 1}};
constexpr std::array unroll_factors = {1, 2, 4};
constexpr std::array block_sizes = {128, 256, 512};
constexpr int max_pieces = 16;  // per thread, in registers

__device__ uint4 operator^(uint4 a, uint4 b) {
    return {a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w};
}

/// Written if nothing is read: no zeros, like real data.
__device__ uint4 noise() {
    const unsigned seed = (blockIdx.x * blockDim.x + threadIdx.x + 1) * 0x9E3779B9U;
    return {seed, seed ^ seed >> 15, seed * 0x85EBCA6BU, ~seed};
}

// Every piece read must affect a piece written, or the compiler drops the load.
template <int loads, int stores, bool whole>
__device__ void copy_tile(const uint4* in, std::size_t in_left, uint4* out, std::size_t out_left) {
    constexpr int held = loads > 0 ? loads : 1;
    uint4 pieces[held] = {};
    if constexpr (loads == 0) pieces[0] = noise();
#pragma unroll
    for (int i = 0; i < loads; ++i) {
        const std::size_t at = i * blockDim.x + threadIdx.x;
        if (whole || at < in_left) pieces[i] = in[at];
    }
#pragma unroll
    for (int j = 0; j < stores; ++j) {
        uint4 piece = pieces[j % held];
#pragma unroll
        for (int i = j + stores; i < loads; i += stores)
            piece = piece ^ pieces[i];
        const std::size_t at = j * blockDim.x + threadIdx.x;
        if (whole || at < out_left) out[at] = piece;
    }
}

template <int loads, int stores>
__global__ void copy(const uint4* in, std::size_t in_size, uint4* out, std::size_t out_size) {
    const std::size_t in_first = std::size_t{blockIdx.x} * blockDim.x * loads;
    const std::size_t out_first = std::size_t{blockIdx.x} * blockDim.x * stores;
    const std::size_t in_left = in_first < in_size ? in_size - in_first : 0;
    const std::size_t out_left = out_first < out_size ? out_size - out_first : 0;
    if (in_left >= loads * blockDim.x && out_left >= stores * blockDim.x)
        copy_tile<loads, stores, true>(in + in_first, in_left, out + out_first, out_left);
    else
        copy_tile<loads, stores, false>(in + in_first, in_left, out + out_first, out_left);
}

struct Shape {
    Ratio pieces;  // per thread
    Kernel kernel;
};

template <std::size_t ratio, std::size_t factor>
void add_shape(std::vector<Shape>& shapes) {
    constexpr int in = ratios[ratio].in * unroll_factors[factor];
    constexpr int out = ratios[ratio].out * unroll_factors[factor];
    if constexpr (factor == 0 || std::max(in, out) <= max_pieces)
        shapes.push_back({{in, out}, copy<in, out>});
}

template <std::size_t... index>
std::vector<Shape> shapes_of(Ratio ratio, std::index_sequence<index...> /*of ratios*/) {
    std::vector<Shape> shapes;
    const auto add_all = [&shapes]<std::size_t i, std::size_t... factor>(std::index_sequence<i>,
                                                                         std::index_sequence<factor...>) {
        (add_shape<i, factor>(shapes), ...);
    };
    constexpr auto factors = std::make_index_sequence<unroll_factors.size()>();
    ((ratios[index] == ratio ? add_all(std::index_sequence<index>(), factors) : void()), ...);
    return shapes;
}

std::size_t blocks_for(std::size_t pieces, int threads, int pieces_a_thread) {
    if (pieces == 0) return 0;
    const std::size_t tile = static_cast<std::size_t>(threads) * pieces_a_thread;
    return (pieces + tile - 1) / tile;
}

}  // namespace

std::vector<CopyKernel> copy_kernels(const Move& move) {
    const std::size_t divisor = std::max<std::size_t>(1, std::gcd(move.bytes_in, move.bytes_out));
    const std::size_t in = move.bytes_in / divisor;
    const std::size_t out = move.bytes_out / divisor;
    const auto shapes = in <= 64 && out <= 64 ? shapes_of({static_cast<int>(in), static_cast<int>(out)},
                                                          std::make_index_sequence<ratios.size()>())
                                              : std::vector<Shape>();
    if (shapes.empty())
        throw ArgumentError("no copy kernel reads " + std::to_string(move.bytes_in) + " bytes and writes " +
                            std::to_string(move.bytes_out));
    std::vector<CopyKernel> kernels;
    for (const Shape& shape : shapes) {
        for (const int threads : block_sizes) {
            kernels.emplace_back([shape, threads](const Move& m, cudaStream_t stream) {
                const std::size_t pieces_in = m.bytes_in / sizeof(uint4);
                const std::size_t pieces_out = m.bytes_out / sizeof(uint4);
                const std::size_t blocks =
                    std::max({std::size_t{1}, blocks_for(pieces_in, threads, shape.pieces.in),
                              blocks_for(pieces_out, threads, shape.pieces.out)});
                shape.kernel<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
                    static_cast<const uint4*>(m.from), pieces_in, static_cast<uint4*>(m.to), pieces_out);
                gpu::check(cudaGetLastError());
            });
        }
    }
    return kernels;
}

}  // namespace phy::apps
