#pragma once

#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/warp.hpp"
#include "phy/demapper/math/formula.hpp"

/// The numbers that decide how fast the CUDA kernels are, and nothing else.
namespace phy::gpu::detail {

constexpr int bytes_of_symbol(phy::detail::Constellation constellation, SoftBitFormat format) {
    const int axes = constellation == phy::detail::Constellation::bpsk ? 1 : 2;
    return axes * phy::detail::bits_of(constellation) * static_cast<int>(size_of(format));
}

/// As many symbols a lane as make one 16-byte store, where they come out even, and four at most: 32 bytes of
/// cf32. Others have as many as make whole words, and are put in order in shared memory.
constexpr int symbols_of_lane(int bytes) {
    if (bytes <= 4) return 4;
    return bytes <= 10 ? 2 : 1;
}

/// Symbols that a lane has in all its rows. The more, the more of them share what a warp does once; the
/// fewer, the more warps share a call, and the sooner it is over where memory and arithmetic are not kept
/// busy anyway.
constexpr int lane_of_many = 8;
constexpr int lane_of_batch = 4;
constexpr int lane_of_few = 2;

/// Of a block. A batch's blocks look for their job first, so fewer and larger ones.
constexpr int threads_of_call = 64;
constexpr int threads_of_batch = 128;

/// Up to this many a call has few symbols.
constexpr std::uint64_t few_symbols = 1 << 20;

/// fp32 is held back by shared memory.
constexpr Shape closed_form_shape(phy::detail::Constellation constellation, SoftBitFormat format,
                                  int of_lane) {
    const int symbols = symbols_of_lane(bytes_of_symbol(constellation, format));
    const int most = size_of(format) == 4 && of_lane > 4 ? 4 : of_lane;
    // Left to itself, ptxas spills a register of the float16 batch on compute capability 10.0.
    const int resident = of_lane == lane_of_batch && size_of(format) == 2 ? 1 : 0;
    const int threads = of_lane == lane_of_batch ? threads_of_batch : threads_of_call;
    return {threads, symbols, most > symbols ? most / symbols : 1, resident};
}

/// Left to itself, ptxas spills a register of some for compute capabilities 10.0 and 12.0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int resident_tables = 1;
#else
constexpr int resident_tables = 0;
#endif

/// With the table in shared memory: large blocks, because each has a copy of it.
constexpr Shape shared_table_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    const int symbols = symbols_of_lane(bytes_of_symbol(constellation, format));
    const int of_lane = 8 / static_cast<int>(size_of(format));
    const int resident = size_of(format) == 4 ? 1 : resident_tables;
    return {512, symbols, of_lane > symbols ? of_lane / symbols : 1, resident};
}

/// Where a multiprocessor has room for one block only, be it for the size of the table or the registers.
constexpr Shape large_block_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    const Shape shape = shared_table_shape(constellation, format);
    return {1024, shape.symbols, shape.groups, 1};
}

/// Bytes that a multiprocessor has, at most, of what is compiled for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int max_shared_memory = 64 << 10;
#else
constexpr int max_shared_memory = 228 << 10;
#endif

/// Blocks for each that can be resident: more balance the load, fewer bring the table less often.
constexpr unsigned table_turns = 48;

/// With the table in global memory.
constexpr Shape global_table_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    const int symbols = symbols_of_lane(bytes_of_symbol(constellation, format));
    return {256, symbols, symbols == 1 ? 2 : 1, 1};
}

/// Long computations on many registers: one symbol at a time, two where one does not make whole words.
constexpr Shape log_sum_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    return {128, bytes_of_symbol(constellation, format) % 4 == 0 ? 1 : 2, 1, 1};
}

/// Of the kernel that only applies signs; with more to do, its blocks loop.
constexpr unsigned threads_of_flips = 256;
constexpr unsigned max_blocks_of_flips = 65536;

/// A block that counts adds to the counters once, and all blocks to the same: so few blocks that they do not
/// wait for each other.
constexpr int threads_of_block(Shape shape, bool counts) {
    return counts && shape.threads < 256 ? 256 : shape.threads;
}

constexpr int symbols_of_block(Shape shape, bool counts) {
    return threads_of_block(shape, counts) / warp_size * symbols_of_warp(shape);
}

}  // namespace phy::gpu::detail
