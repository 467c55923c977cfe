#include <algorithm>

#include "phy/core/integers.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/pieces.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/measure/cuda/soft_bit_launch.hpp"
#include "phy/measure/cuda/soft_bit_words.cuh"
#include "phy/reduce/rows.cuh"
#include "phy/reduce/tree.hpp"
#include "phy/reduce/warp.cuh"

namespace phy::gpu::detail {
namespace {

constexpr unsigned block_soft_bits = row_tree.block;
constexpr unsigned max_log2_blocks = 4;

/// Lane l of a warp has the 4 virtual lanes from 4 l on.
constexpr unsigned lane_soft_bits = 4;
static_assert(row_tree.lanes == lane_soft_bits * warp_size);

/// Blocks of max_threads threads for which a multiprocessor has registers.
constexpr int max_threads = 128;
constexpr int resident_blocks = 8;

/// The work of a kernel. A unit is 2^log2_blocks blocks of a row.
struct Units {
    const std::byte* soft_bits;
    const std::uint8_t* truth;
    std::uint64_t size;
    std::uint64_t row;
    std::uint64_t units;
    std::uint64_t units_a_row;
    unsigned log2_blocks;
    unsigned clips;  ///< in every byte
    SoftBitSums* out;
};

__device__ __forceinline__ bool is_multiple(const void* address, unsigned of) {
    return reinterpret_cast<std::uintptr_t>(address) % of == 0;
}

__device__ __forceinline__ std::uint32_t load_byte(const void* from) {
    return load<Space::global, unsigned char>(from);
}

// Integers: the order of their sum does not matter.

template <bool compares>
class IntegerSummer {
    using Words = SoftBitWords<SoftBitFormat::int8>;

public:
    /// Sums a unit; every lane gets the sum of magnitudes.
    static __device__ __forceinline__ double sum(const Units& units, std::uint64_t first, unsigned count,
                                                 unsigned lane, SoftBitCounters& counters) {
        const IntegerSummer summer = {units.soft_bits + first, compares ? units.truth + first : nullptr,
                                      units.clips, lane};
        const unsigned head = min(count, summer.bytes_to_chunks(count));
        const unsigned chunks = (count - head) / chunk;
        summer.add_bytes(0, head, counters);
        summer.add_chunks(head, chunks, counters);
        summer.add_bytes(head + chunk * chunks, count, counters);
        __syncwarp();
        return static_cast<double>(sum_of_warp(counters.magnitude));
    }

private:
    static constexpr unsigned chunk = 16;
    static constexpr unsigned loaded_chunks = 4;

    __device__ __forceinline__ IntegerSummer(const std::byte* soft_bits, const std::uint8_t* truth,
                                             unsigned clips, unsigned lane)
        : soft_bits_(soft_bits), truth_(truth), clips_(clips), lane_(lane) {}

    /// All bytes if soft bits and truth never begin a chunk together.
    __device__ __forceinline__ unsigned bytes_to_chunks(unsigned count) const {
        const auto address = reinterpret_cast<std::uintptr_t>(soft_bits_);
        if (compares && (address ^ reinterpret_cast<std::uintptr_t>(truth_)) % chunk != 0) return count;
        return static_cast<unsigned>(-address % chunk);
    }

    __device__ __forceinline__ void add_bytes(unsigned begin, unsigned end, SoftBitCounters& to) const {
#pragma unroll 4
        for (unsigned i = begin + lane_; i < end; i += warp_size)
            Words::add<compares>(load_byte(soft_bits_ + i), compares ? load_byte(truth_ + i) : 0, clips_, to);
    }

    __device__ __forceinline__ void add_chunks(unsigned first, unsigned chunks, SoftBitCounters& to) const {
        unsigned i = lane_;
        for (; i + warp_size * (loaded_chunks - 1) < chunks; i += warp_size * loaded_chunks)
            add_chunks<loaded_chunks>(first + chunk * i, to);
#pragma unroll 1
        for (; i < chunks; i += warp_size)
            add_chunks<1>(first + chunk * i, to);
    }

    template <unsigned count>
    __device__ __forceinline__ void add_chunks(unsigned first, SoftBitCounters& to) const {
        std::uint32_t words[count][chunk / 4];
        std::uint32_t truth[count][chunk / 4] = {};
#pragma unroll
        for (unsigned n = 0; n < count; ++n) {
            const unsigned at = first + chunk * warp_size * n;
            load_words<Space::global, chunk>(soft_bits_ + at, words[n]);
            if constexpr (compares)
                load_words<Space::global, chunk>(reinterpret_cast<const std::byte*>(truth_ + at), truth[n]);
        }
#pragma unroll
        for (unsigned n = 0; n < count; ++n) {
#pragma unroll
            for (unsigned w = 0; w < chunk / 4; ++w)
                Words::add<compares>(words[n][w], truth[n][w], clips_, to);
        }
    }

    const std::byte* soft_bits_;
    const std::uint8_t* truth_;
    unsigned clips_;
    unsigned lane_;
};

// Floating-point numbers: their sums follow the tree.

/// How a lane reads neighbours: together, or one by one, by element or (unaligned) by byte.
enum class Access { together, elements, bytes };

template <SoftBitFormat format, bool compares, Access access>
class NumberSummer {
    using Words = SoftBitWords<format>;

public:
    /// The root of neighbouring blocks.
    static __device__ __forceinline__ double sum(const Units& units, std::uint64_t first, unsigned count,
                                                 unsigned lane, SoftBitCounters& counters) {
        const std::uint64_t mine = first + lane_soft_bits * lane;
        const NumberSummer summer = {units.soft_bits + mine * bytes, compares ? units.truth + mine : nullptr,
                                     lane};
        double root = 0.0;
        for (unsigned begin = 0; begin < count; begin += block_soft_bits) {
            const double of_block = summer.sum_block(begin, min(block_soft_bits, count - begin), counters);
            if (lane == begin / block_soft_bits) root = of_block;
        }
        // Step 4. Missing blocks add 0, which changes no sum of magnitudes.
#pragma unroll
        for (unsigned offset = 1; offset < 1U << max_log2_blocks; offset *= 2)
            root = __dadd_rn(root, __shfl_xor_sync(all_lanes, root, offset));
        return root;
    }

private:
    static constexpr int bytes = static_cast<int>(size_of(format));
    static constexpr int words = static_cast<int>(lane_soft_bits) * bytes / 4;
    static constexpr unsigned loaded_turns = 16 / words / (access == Access::together ? 1 : 2);
    static constexpr unsigned turn = row_tree.lanes;

    /// Starts at the lane's first soft bit.
    __device__ __forceinline__ NumberSummer(const std::byte* soft_bits, const std::uint8_t* truth,
                                            unsigned lane)
        : soft_bits_(soft_bits), truth_(truth), lane_(lane) {}

    __device__ __forceinline__ double sum_block(unsigned begin, unsigned count, SoftBitCounters& to) const {
        float sums[lane_soft_bits] = {};
        const unsigned end = begin + count / turn * turn;
        unsigned i = begin;
        for (; i + loaded_turns * turn <= end; i += loaded_turns * turn)
            add_turns<loaded_turns>(i, sums, to);
#pragma unroll 1
        for (; i < end; i += turn)
            add_turns<1>(i, sums, to);
        add_rest(end, count % turn, sums, to);
        __syncwarp();
        return root_of(sums);
    }

    template <unsigned turns>
    __device__ __forceinline__ void add_turns(unsigned first, float (&sums)[lane_soft_bits],
                                              SoftBitCounters& to) const {
        std::uint32_t soft_bits[turns][words];
        std::uint32_t truth[turns] = {};
#pragma unroll
        for (unsigned t = 0; t < turns; ++t)
            load_turn(first + turn * t, soft_bits[t], truth[t]);
#pragma unroll
        for (unsigned t = 0; t < turns; ++t)
            Words::template add<compares>(soft_bits[t], truth[t], sums, to);
    }

    /// Adds less than a turn.
    __device__ __forceinline__ void add_rest(unsigned first, unsigned count, float (&sums)[lane_soft_bits],
                                             SoftBitCounters& to) const {
        const unsigned before = lane_soft_bits * lane_;
        if (before >= count) return;
        std::uint32_t soft_bits[words] = {};
        std::uint32_t truth = 0;
#pragma unroll
        for (unsigned i = 0; i < lane_soft_bits; ++i) {
            if (before + i < count) load_element(first, i, soft_bits, truth);
        }
        Words::template add<compares>(soft_bits, truth, sums, to);
    }

    __device__ __forceinline__ void load_turn(unsigned first, std::uint32_t (&soft_bits)[words],
                                              std::uint32_t& truth) const {
        if constexpr (access == Access::together) {
            load_words<Space::global, 4 * words>(soft_bits_ + first * bytes, soft_bits);
            if constexpr (compares) truth = load<Space::global, unsigned>(truth_ + first);
        } else {
#pragma unroll
            for (int w = 0; w < words; ++w)
                soft_bits[w] = 0;
#pragma unroll
            for (unsigned i = 0; i < lane_soft_bits; ++i)
                load_element(first, i, soft_bits, truth);
        }
    }

    __device__ __forceinline__ void load_element(unsigned first, unsigned i,
                                                 std::uint32_t (&soft_bits)[words],
                                                 std::uint32_t& truth) const {
        soft_bits[i * bytes / 4] |= element(soft_bits_ + (first + i) * bytes) << (8 * (i * bytes % 4));
        if constexpr (compares) truth |= load_byte(truth_ + first + i) << (8 * i);
    }

    static __device__ __forceinline__ std::uint32_t element(const std::byte* from) {
        if constexpr (access == Access::bytes) {
            std::uint32_t word = 0;
#pragma unroll
            for (int b = 0; b < bytes; ++b)
                word |= load_byte(from + b) << (8 * b);
            return word;
        } else {
            std::uint32_t word[1];
            load_words<Space::global, bytes>(from, word);
            return word[0];
        }
    }

    /// Step 3 of the tree, where both lanes of a pair add the same two numbers.
    __device__ __forceinline__ double root_of(float (&sums)[lane_soft_bits]) const {
        halve<4>(sums, 16, lane_);
        halve<2>(sums, 8, lane_);
        float sum = sums[0];
        // Virtual lanes 16, 8 and 4 apart, then 2 and 1, where halve() put them.
#pragma unroll
        for (const unsigned offset : {4U, 2U, 1U, 16U, 8U})
            sum = __fadd_rn(sum, __shfl_xor_sync(all_lanes, sum, offset));
        return static_cast<double>(sum);
    }

    const std::byte* soft_bits_;
    const std::uint8_t* truth_;
    unsigned lane_;
};

/// Sums a unit; aligned: soft bits begin at a multiple of their size.
template <SoftBitFormat format, bool compares, bool aligned>
__device__ __forceinline__ double sum_unit(const Units& units, std::uint64_t first, unsigned count,
                                           unsigned lane, SoftBitCounters& counters) {
    if constexpr (format == SoftBitFormat::int8) {
        return IntegerSummer<compares>::sum(units, first, count, lane, counters);
    } else if constexpr (!aligned) {
        return NumberSummer<format, compares, Access::bytes>::sum(units, first, count, lane, counters);
    } else {
        constexpr unsigned bytes = size_of(format);
        const bool together = is_multiple(units.soft_bits + first * bytes, lane_soft_bits * bytes) &&
                              (!compares || is_multiple(units.truth + first, lane_soft_bits));
        if (together)
            return NumberSummer<format, compares, Access::together>::sum(units, first, count, lane, counters);
        return NumberSummer<format, compares, Access::elements>::sum(units, first, count, lane, counters);
    }
}

template <SoftBitFormat format, bool compares, bool aligned>
__global__ void __launch_bounds__(max_threads, resident_blocks)
    sum_units(const __grid_constant__ Units units) {
    using Words = SoftBitWords<format>;
    const unsigned lane = threadIdx.x % warp_size;
    const std::uint64_t unit = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_size;
    if (unit >= units.units) return;
    const std::uint64_t row = unit / units.units_a_row;
    const std::uint64_t row_begin = row * units.row;
    const std::uint64_t row_end = units.size - row_begin < units.row ? units.size : row_begin + units.row;
    const std::uint64_t first =
        row_begin + ((unit - row * units.units_a_row) * block_soft_bits << units.log2_blocks);
    const auto count =
        static_cast<unsigned>(min(row_end - first, std::uint64_t{block_soft_bits} << units.log2_blocks));
    SoftBitCounters counters;
    const double magnitude = sum_unit<format, compares, aligned>(units, first, count, lane, counters);
    const unsigned nonzero = sum_of_warp(Words::total(counters.nonzero));
    const unsigned not_finite = sum_of_warp(Words::total(counters.not_finite));
    const unsigned at_limit = sum_of_warp(Words::total(counters.at_limit));
    const unsigned wrong = sum_of_warp(Words::total(counters.wrong));
    if (lane != 0) return;
    const unsigned finite = count - not_finite;
    units.out[unit] = {.magnitude = magnitude,
                       .soft_bits = finite,
                       .not_finite = not_finite,
                       .saturated = at_limit - not_finite,
                       .zeros = count - nonzero,
                       .compared = compares ? finite : 0,
                       .bit_errors = wrong};
}

using Kernel = void (*)(Units);

Kernel kernel_for(SoftBitFormat format, bool compares, bool aligned) {
    return with_constant(format, [&](auto constant) -> Kernel {
        if (aligned || size_of(constant()) == 1)
            return compares ? sum_units<constant(), true, true> : sum_units<constant(), false, true>;
        if constexpr (size_of(constant()) > 1)
            return compares ? sum_units<constant(), true, false> : sum_units<constant(), false, false>;
        return nullptr;
    });
}

bool is_aligned(const SoftBitJob& job) {
    return phy::detail::is_aligned(job.soft_bits, size_of(job.format));
}

phy::detail::RowUnits units_of(std::uint64_t soft_bits, std::uint64_t row, const SoftBitTuning& tuning) {
    return phy::detail::units_of_elements(soft_bits, row,
                                          std::uint64_t{block_soft_bits} << tuning.log2_blocks);
}

using JoinSums = JoinNodes<SoftBitSums, JoinSoftBitSums>;

}  // namespace

SoftBitTuning soft_bit_tuning(std::uint64_t soft_bits) {
    constexpr std::uint64_t enough_units = 1 << 14;
    return {.log2_blocks =
                phy::detail::level_of_units(1, soft_bits, block_soft_bits, max_log2_blocks, enough_units)};
}

std::uint64_t soft_bit_workspace(std::uint64_t soft_bits, std::uint64_t row, const SoftBitTuning& tuning) {
    if (soft_bits == 0 || row == 0) return 0;
    return phy::detail::nodes_of_workspace(units_of(soft_bits, row, tuning));
}

void launch(const SoftBitJob& job, const SoftBitTuning& tuning, cudaStream_t stream) {
    const std::uint64_t row = std::min(job.row, job.size);
    const phy::detail::RowUnits all = units_of(job.size, row, tuning);
    const bool joins = all.of_row() > 1;
    const Units units = {.soft_bits = job.soft_bits,
                         .truth = job.truth,
                         .size = job.size,
                         .row = row,
                         .units = all.count(),
                         .units_a_row = all.of_row(),
                         .log2_blocks = tuning.log2_blocks,
                         .clips = static_cast<unsigned>(job.clip) * 0x01010101U,
                         .out = joins ? job.workspace : job.sums};
    const std::uint64_t warps = tuning.threads / warp_size;
    const auto blocks = static_cast<unsigned>((units.units + warps - 1) / warps);
    const Kernel kernel = kernel_for(job.format, job.truth != nullptr, is_aligned(job));
    kernel<<<blocks, tuning.threads, 0, stream>>>(units);
    check(cudaGetLastError());
    if (joins) join_rows(all, job.workspace, job.sums, JoinSums(), {}, stream);
}

void load_soft_bit_kernels(SoftBitFormat format) {
    load_code(kernel_for(format, false, true));
    load_code(kernel_for(format, true, true));
    load_code(join_roots<JoinSums>);
}

}  // namespace phy::gpu::detail
