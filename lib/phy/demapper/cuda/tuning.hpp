#pragma once

#include <algorithm>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/warp.hpp"
#include "phy/demapper/math/formula.hpp"

/// Tuning of the CUDA kernels: these numbers change the speed alone.
namespace phy::gpu::detail {

constexpr int bytes_of_symbol(phy::detail::Constellation constellation, SoftBitFormat format) {
    const int axes = constellation == phy::detail::Constellation::bpsk ? 1 : 2;
    return axes * phy::detail::bits_of(constellation) * static_cast<int>(size_of(format));
}

/// Symbols per lane and row: as many as make one 16-byte store if that is a whole number, and at most four
/// (32 bytes of cf32). Otherwise as many as make whole words, which shared memory sorts.
constexpr int symbols_of_lane(int bytes) {
    if (bytes <= 4) return 4;
    return bytes <= 10 ? 2 : 1;
}

/// How many symbols a kernel expects. More symbols of a lane, in all its rows, share the fixed work of a
/// warp. Fewer let more warps share a call, which ends sooner if it does not keep memory and arithmetic busy.
/// Blocks of a batch first look for their job, so they are fewer and larger.
enum class CallSize { few, batch, many };

struct CallTuning {
    int symbols_of_lane;
    int threads;    ///< of a block
    bool is_early;  ///< see launch_dependent()
};

constexpr CallTuning tuning_of(CallSize size) {
    switch (size) {
        case CallSize::few:
            return {2, 64, true};
        case CallSize::batch:
            return {4, 256, true};
        default:
            return {8, 64, false};
    }
}

/// Calls with up to this many symbols count as small.
constexpr std::uint64_t few_symbols = 1 << 20;

/// Small int8 calls with this many symbols or more run as a batch of one job: its fewer blocks let the
/// next kernel get ready at less cost, on an H200. Larger blocks slow other formats by more than that saves.
constexpr std::uint64_t batch_symbols = 1 << 19;

constexpr bool runs_as_batch(SoftBitFormat format, std::uint64_t symbols) {
    return format == SoftBitFormat::int8 && symbols >= batch_symbols && symbols <= few_symbols;
}

/// Single calls of more blocks do not let the next kernel get ready: that takes an H200 1.3 ns a block.
constexpr unsigned max_announcing_blocks = 1536;

/// Shared memory limits fp32.
constexpr Shape closed_form_shape(phy::detail::Constellation constellation, SoftBitFormat format,
                                  CallSize size) {
    const CallTuning tuning = tuning_of(size);
    const int symbols = symbols_of_lane(bytes_of_symbol(constellation, format));
    const int of_lane = size_of(format) == 4 ? std::min(tuning.symbols_of_lane, 4) : tuning.symbols_of_lane;
    // Without this limit ptxas spills a register of some float16 kernels.
    const int resident = size != CallSize::many && size_of(format) == 2 ? 1 : 0;
    return {tuning.threads, symbols, std::max(of_lane / symbols, 1), resident};
}

/// Without this limit ptxas spills a register of some kernels for compute capabilities 10.0 and 12.0.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int resident_tables = 1;
#else
constexpr int resident_tables = 0;
#endif

/// Table in shared memory: blocks are large because each has a copy of it.
constexpr Shape shared_table_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    const int symbols = symbols_of_lane(bytes_of_symbol(constellation, format));
    const int of_lane = 8 / static_cast<int>(size_of(format));
    const int resident = size_of(format) == 4 ? 1 : resident_tables;
    return {512, symbols, of_lane > symbols ? of_lane / symbols : 1, resident};
}

/// For a table or registers so large that a multiprocessor has space for one block only.
constexpr Shape large_block_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    const Shape shape = shared_table_shape(constellation, format);
    return {1024, shape.symbols, shape.groups, 1};
}

/// Max bytes of a multiprocessor that this code is compiled for.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr int max_shared_memory = 64 << 10;
#else
constexpr int max_shared_memory = 228 << 10;
#endif

/// Blocks per block that can be resident: more balance the load, fewer copy the table less often.
constexpr std::uint64_t table_waves(SoftBitFormat format, std::uint32_t table_bytes) {
    constexpr std::uint32_t copied = 256 << 10;  ///< max bytes, by blocks that follow each other in one place
    return size_of(format) == 1 ? 48 : std::clamp(copied / table_bytes, 1U, 48U);
}

/// Table in global memory.
constexpr Shape global_table_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    const int symbols = symbols_of_lane(bytes_of_symbol(constellation, format));
    return {256, symbols, symbols == 1 ? 2 : 1, 1};
}

/// Long computations on many registers: one symbol per lane, or two if one does not make whole words.
constexpr Shape log_sum_shape(phy::detail::Constellation constellation, SoftBitFormat format) {
    return {128, bytes_of_symbol(constellation, format) % 4 == 0 ? 1 : 2, 1, 1};
}

/// The kernel that only applies signs; for larger calls its blocks loop.
constexpr unsigned threads_of_flips = 256;
constexpr unsigned max_blocks_of_flips = 65536;

/// A counting block adds to the counters once, and all blocks add to the same ones: few blocks rarely wait
/// for each other.
constexpr int threads_of_block(Shape shape, bool counts) {
    return counts && shape.threads < 256 ? 256 : shape.threads;
}

constexpr int symbols_of_block(Shape shape, bool counts) {
    return threads_of_block(shape, counts) / warp_size * symbols_of_warp(shape);
}

}  // namespace phy::gpu::detail
