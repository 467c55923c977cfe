#include <algorithm>

#include "phy/core/integers.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/samples.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/measure/cuda/symbol_launch.hpp"
#include "phy/measure/math/symbol_step-inl.h"
#include "phy/reduce/rows.cuh"
#include "phy/reduce/tree.hpp"
#include "phy/reduce/warp.cuh"

namespace phy::gpu::detail {
namespace {

using phy::detail::summed_of_symbols;
using phy::detail::summed_with_noise;
using phy::detail::SymbolScale;
using phy::detail::cuda::Ops;

template <unsigned sums>
using Accumulators = phy::detail::cuda::SymbolAccumulators<Ops, sums>;
using Decision = phy::detail::cuda::Decision<Ops>;

static_assert(symbol_tree.lanes == warp_size);
static_assert(summed_of_symbols == 8 && offsetof(SymbolSums, rotated) == 7 * sizeof(double));
static_assert(summed_with_noise == 12 && offsetof(SymbolSums, expected_error) == 11 * sizeof(double));

constexpr unsigned block_symbols = symbol_tree.block;
constexpr unsigned max_log2_blocks = 3;

enum class Points { square, diagonal, sent, square_with_noise, diagonal_with_noise };

constexpr bool have_noise(Points points) {
    return points == Points::square_with_noise || points == Points::diagonal_with_noise;
}
constexpr bool are_diagonal(Points points) {
    return points == Points::diagonal || points == Points::diagonal_with_noise;
}
constexpr unsigned sums_for(Points points) {
    return have_noise(points) ? summed_with_noise : summed_of_symbols;
}

/// Blocks of max_threads threads for which a multiprocessor has registers; more would spill sums.
constexpr int max_threads = 128;
constexpr int resident_blocks(Points points, bool aligned) {
    if (have_noise(points)) return 4;
    return points == Points::sent || !aligned ? 5 : 6;
}

/// Turns of a warp whose symbols are loaded together.
constexpr unsigned batch_turns = 4;

/// The work of a kernel. A unit is 2^log2_blocks blocks of a row.
struct Units {
    const std::byte* symbols;
    const float2* sent;
    const float* noise_variance;
    std::uint64_t size;
    std::uint64_t row;
    std::uint64_t units;
    std::uint64_t units_a_row;
    unsigned log2_blocks;
    unsigned odd;
    SymbolScale scale;
    SymbolSums* out;
};

/// The root of neighbouring blocks, spread over a warp: each lane holds one sum of symbols, and one of those
/// with noise.
struct Node {
    double sum;
    double noise_sum;
    float peak;
    float error_peak;
    unsigned not_finite;
};

/// For non-negative numbers, whose order is that of their bits.
__device__ __forceinline__ float largest_power(float value) {
    return __uint_as_float(largest_of_warp(__float_as_uint(value)));
}

/// Step 3 of the tree for the sums with noise: lane l gets sum l / 8.
__device__ __forceinline__ float noise_root_of(float* sums, unsigned lane) {
    halve<4>(sums, 16, lane);
    halve<2>(sums, 8, lane);
#pragma unroll
    for (unsigned distance = 4; distance > 0; distance /= 2)
        sums[0] = __fadd_rn(sums[0], __shfl_xor_sync(all_lanes, sums[0], distance));
    return sums[0];
}

/// Step 3 of the tree: lane l gets sum l / 4 of the block.
template <unsigned count>
__device__ __forceinline__ Node root_of(Accumulators<count>& lanes, unsigned not_finite, unsigned lane) {
    float* const sums = lanes.sums;
    float noise_sum = 0.0F;
    if constexpr (count == summed_with_noise) noise_sum = noise_root_of(sums + summed_of_symbols, lane);
    halve<8>(sums, 16, lane);
    halve<4>(sums, 8, lane);
    halve<2>(sums, 4, lane);
    sums[0] = __fadd_rn(sums[0], __shfl_xor_sync(all_lanes, sums[0], 2));
    sums[0] = __fadd_rn(sums[0], __shfl_xor_sync(all_lanes, sums[0], 1));
    return {static_cast<double>(sums[0]), static_cast<double>(noise_sum), largest_power(lanes.peak),
            largest_power(lanes.error_peak), sum_of_warp(not_finite)};
}

template <SampleFormat format, bool aligned>
__device__ __forceinline__ void load_symbol(const std::byte* from, std::uint32_t* words) {
    constexpr int bytes = static_cast<int>(size_of(format));
    if constexpr (aligned) {
        load_words<Space::global, bytes>(from, words);
    } else {
#pragma unroll
        for (int w = 0; w < (bytes + 3) / 4; ++w) {
            words[w] = 0;
#pragma unroll
            for (int b = 0; b < (bytes < 4 ? bytes : 4); ++b)
                words[w] |= static_cast<std::uint32_t>(from[4 * w + b]) << (8 * b);
        }
    }
}

/// Sums the blocks of a unit. While some turns are summed, the next ones, perhaps of the next block, are
/// loaded.
template <SampleFormat format, Points points, bool aligned>
class BlockSummer {
public:
    __device__ __forceinline__ BlockSummer(const Units& units, std::uint64_t first, std::uint64_t end,
                                           unsigned lane)
        : units_(units),
          mine_(first + lane),
          whole_(static_cast<unsigned>((end - first) / batch_symbols)),
          rest_(static_cast<unsigned>((end - first) % batch_symbols)),
          lane_(lane),
          scale_(phy::detail::cuda::lane_scale<Ops>(units.scale, turn(units, first + lane))) {
        if (whole_ > 0) load(mine_, next_);
    }

    /// Sums the next block, which must exist.
    __device__ __forceinline__ Node sum() {
        Accumulators<sums_for(points)> lanes{};
        unsigned not_finite = 0;
        const unsigned end = min(whole_, done_ + block_symbols / batch_symbols);
        const bool has_rest = end < done_ + block_symbols / batch_symbols;
#pragma unroll 2
        for (; done_ < end; ++done_) {
            const Batch<batch_turns> batch = next_;
            load(mine_ + std::uint64_t{batch_symbols} * min(done_ + 1, whole_ - 1), next_);
            add(lanes, not_finite, batch, mine_ + std::uint64_t{batch_symbols} * done_);
        }
        if (has_rest) add_rest(lanes, not_finite);
        __syncwarp();
        return root_of(lanes, not_finite, lane_);
    }

private:
    static constexpr int bytes = static_cast<int>(size_of(format));
    static constexpr unsigned batch_symbols = batch_turns * warp_size;

    template <unsigned turns>
    struct Batch {
        std::uint32_t words[turns][(bytes + 3) / 4];
        float2 sent[points == Points::sent ? turns : 1];
        float noise[have_noise(points) ? turns : 1];
    };

    static __device__ __forceinline__ float turn(const Units& units, std::uint64_t index) {
        return units.scale.rotating && (index + units.odd) % 2 != 0 ? -1.0F : 1.0F;
    }

    template <unsigned turns>
    __device__ __forceinline__ void load(std::uint64_t first, Batch<turns>& batch) const {
#pragma unroll
        for (unsigned t = 0; t < turns; ++t) {
            const std::uint64_t symbol = first + warp_size * t;
            load_symbol<format, aligned>(units_.symbols + symbol * bytes, batch.words[t]);
            if constexpr (points == Points::sent) batch.sent[t] = load_point(symbol);
            if constexpr (have_noise(points)) batch.noise[t] = __ldg(units_.noise_variance + symbol);
        }
    }

    /// Points in device memory may be aligned to floats alone.
    __device__ __forceinline__ float2 load_point(std::uint64_t index) const {
        const auto* const floats = reinterpret_cast<const float*>(units_.sent + index);
        return {__ldg(floats), __ldg(floats + 1)};
    }

    /// Unusable symbols are rare. If there is one, all symbols of the batch are loaded again, one by one.
    template <unsigned turns>
    __device__ __forceinline__ void add(Accumulators<sums_for(points)>& lanes, unsigned& not_finite,
                                        const Batch<turns>& batch, std::uint64_t first) const {
        float y[turns][2];
        float power[turns];
        bool usable = true;
#pragma unroll
        for (unsigned t = 0; t < turns; ++t) {
            widen<format, 2>(batch.words[t], 1.0F, y[t]);
            power[t] = phy::detail::cuda::power_of<Ops>(y[t][0], y[t][1]);
            usable = usable && power[t] < units_.scale.usable_power;
            if constexpr (have_noise(points)) usable = usable && Ops::is_finite(batch.noise[t]);
        }
        if (usable) {
#pragma unroll
            for (unsigned t = 0; t < turns; ++t) {
                const Decision made = decision(batch, t, y[t][0], y[t][1]);
                phy::detail::cuda::add_symbol<Ops>(lanes, y[t][0], y[t][1], power[t], made);
                if constexpr (have_noise(points))
                    phy::detail::cuda::add_noise<Ops>(lanes, batch.noise[t], made, scale_);
            }
        } else if constexpr (turns == 1) {
            ++not_finite;
        } else {
#pragma unroll 1
            for (unsigned t = 0; t < turns; ++t)
                add_one(lanes, not_finite, first + warp_size * t);
        }
    }

    __device__ __forceinline__ void add_one(Accumulators<sums_for(points)>& lanes, unsigned& not_finite,
                                            std::uint64_t symbol) const {
        Batch<1> one;
        load(symbol, one);
        add(lanes, not_finite, one, symbol);
    }

    __device__ __forceinline__ void add_rest(Accumulators<sums_for(points)>& lanes,
                                             unsigned& not_finite) const {
        const std::uint64_t first = mine_ + std::uint64_t{batch_symbols} * whole_;
#pragma unroll 1
        for (unsigned begin = 0; begin + lane_ < rest_; begin += warp_size)
            add_one(lanes, not_finite, first + begin);
    }

    template <unsigned turns>
    __device__ __forceinline__ Decision decision(const Batch<turns>& batch, unsigned t, float i,
                                                 float q) const {
        if constexpr (points == Points::sent)
            return phy::detail::cuda::compare<Ops>(i, q, batch.sent[t].x, batch.sent[t].y, scale_);
        else
            return phy::detail::cuda::decide<Ops, are_diagonal(points)>(i, q, scale_);
    }

    const Units& units_;
    std::uint64_t mine_;  ///< the lane's first symbol
    unsigned whole_;      ///< number of batches
    unsigned rest_;       ///< number of symbols after them
    unsigned done_ = 0;
    unsigned lane_;
    phy::detail::cuda::LaneScale<Ops> scale_;
    Batch<batch_turns> next_;
};

/// Step 4 of the tree for the blocks of a unit, in order.
template <bool has_noise>
class WarpJoiner {
public:
    __device__ __forceinline__ void add(const Node& node) {
        peak_ = fmaxf(peak_, node.peak);
        error_peak_ = fmaxf(error_peak_, node.error_peak);
        not_finite_ += node.not_finite;
        carry<0>(waiting_, node.sum);
        if constexpr (has_noise) carry<0>(waiting_noise_, node.noise_sum);
        ++blocks_;
    }

    __device__ __forceinline__ Node root() const {
        double noise_sum = 0.0;
        if constexpr (has_noise) noise_sum = root_from<0>(waiting_noise_, 0.0, false);
        return {root_from<0>(waiting_, 0.0, false), noise_sum, peak_, error_peak_, not_finite_};
    }

private:
    // Recursion instead of an index keeps the sums in registers.
    template <unsigned level>
    __device__ __forceinline__ void carry(double* waiting, double sum) {
        if (level == max_log2_blocks || (blocks_ >> level & 1U) == 0) {
            waiting[level] = sum;
        } else if constexpr (level < max_log2_blocks) {
            carry<level + 1>(waiting, __dadd_rn(waiting[level], sum));
        }
    }

    template <unsigned level>
    __device__ __forceinline__ double root_from(const double* waiting, double sum, bool any) const {
        if constexpr (level > max_log2_blocks) {
            return sum;
        } else {
            if ((blocks_ >> level & 1U) == 0) return root_from<level + 1>(waiting, sum, any);
            return root_from<level + 1>(waiting, any ? __dadd_rn(waiting[level], sum) : waiting[level], true);
        }
    }

    double waiting_[max_log2_blocks + 1] = {};
    double waiting_noise_[has_noise ? max_log2_blocks + 1 : 1] = {};
    float peak_ = 0.0F;
    float error_peak_ = 0.0F;
    unsigned not_finite_ = 0;
    unsigned blocks_ = 0;
};

__device__ __forceinline__ void store(const Node& node, std::uint64_t symbols, unsigned lane,
                                      SymbolSums& to) {
    auto* const sums = reinterpret_cast<double*>(&to);
    if (lane % 4 == 0) sums[lane / 4] = node.sum;
    if (lane % 8 == 0) sums[summed_of_symbols + lane / 8] = node.noise_sum;
    if (lane == 1) to.peak = static_cast<double>(node.peak);
    if (lane == 2) to.error_peak = static_cast<double>(node.error_peak);
    if (lane == 3) {
        to.symbols = symbols - node.not_finite;
        to.not_finite = node.not_finite;
    }
}

template <SampleFormat format, Points points, bool aligned>
__global__ void __launch_bounds__(max_threads, resident_blocks(points, aligned))
    sum_units(const __grid_constant__ Units units) {
    const unsigned lane = threadIdx.x % warp_size;
    const std::uint64_t unit = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / warp_size;
    if (unit >= units.units) return;
    const std::uint64_t row = unit / units.units_a_row;
    const std::uint64_t first =
        row * units.row + ((unit - row * units.units_a_row) * block_symbols << units.log2_blocks);
    const std::uint64_t end = min(
        units.size, min((row + 1) * units.row, first + (std::uint64_t{block_symbols} << units.log2_blocks)));
    BlockSummer<format, points, aligned> summer(units, first, end, lane);
    WarpJoiner<have_noise(points)> joiner;
    for (std::uint64_t begin = first; begin < end; begin += block_symbols)
        joiner.add(summer.sum());
    store(joiner.root(), end - first, lane, units.out[unit]);
}

using Kernel = void (*)(Units);

template <SampleFormat format, bool aligned>
Kernel kernel_for(Points points) {
    switch (points) {
        case Points::square:
            return sum_units<format, Points::square, aligned>;
        case Points::diagonal:
            return sum_units<format, Points::diagonal, aligned>;
        case Points::sent:
            return sum_units<format, Points::sent, aligned>;
        default:
            break;
    }
    if constexpr (format == SampleFormat::cf32) {
        if (points == Points::diagonal_with_noise)
            return sum_units<format, Points::diagonal_with_noise, aligned>;
        return sum_units<format, Points::square_with_noise, aligned>;
    }
    return nullptr;
}

Kernel kernel_for(SampleFormat format, Points points, bool aligned) {
    return with_constant(format, [&](auto constant) {
        return aligned ? kernel_for<constant(), true>(points) : kernel_for<constant(), false>(points);
    });
}

Points points_of(const SymbolJob& job) {
    if (job.noise_variance != nullptr)
        return job.scale.diagonal ? Points::diagonal_with_noise : Points::square_with_noise;
    if (job.sent != nullptr) return Points::sent;
    return job.scale.diagonal ? Points::diagonal : Points::square;
}

bool is_aligned(const SymbolJob& job) {
    return phy::detail::is_aligned(job.symbols, size_of(job.format));
}

phy::detail::RowUnits units_of(std::uint64_t symbols, std::uint64_t row, const SymbolTuning& tuning) {
    return phy::detail::units_of_elements(symbols, row, std::uint64_t{block_symbols} << tuning.log2_blocks);
}

using JoinSums = JoinNodes<SymbolSums, JoinSymbolSums>;

}  // namespace

SymbolTuning symbol_tuning(std::uint64_t symbols) {
    constexpr std::uint64_t enough_units = 1 << 15;
    return {.log2_blocks =
                phy::detail::level_of_units(1, symbols, block_symbols, max_log2_blocks, enough_units)};
}

std::uint64_t symbol_workspace(std::uint64_t symbols, std::uint64_t row, const SymbolTuning& tuning) {
    if (symbols == 0 || row == 0) return 0;
    return phy::detail::nodes_of_workspace(units_of(symbols, row, tuning));
}

void launch(const SymbolJob& job, const SymbolTuning& tuning, cudaStream_t stream) {
    const std::uint64_t row = std::min(job.row, job.size);
    const phy::detail::RowUnits all = units_of(job.size, row, tuning);
    const bool joins = all.of_row() > 1;
    const Units units = {.symbols = job.symbols,
                         .sent = reinterpret_cast<const float2*>(job.sent),
                         .noise_variance = job.noise_variance,
                         .size = job.size,
                         .row = row,
                         .units = all.count(),
                         .units_a_row = all.of_row(),
                         .log2_blocks = tuning.log2_blocks,
                         .odd = job.odd ? 1U : 0U,
                         .scale = job.scale,
                         .out = joins ? job.workspace : job.sums};
    const std::uint64_t warps = tuning.threads / warp_size;
    const auto blocks = static_cast<unsigned>((units.units + warps - 1) / warps);
    kernel_for(job.format, points_of(job), is_aligned(job))<<<blocks, tuning.threads, 0, stream>>>(units);
    check(cudaGetLastError());
    if (joins) join_rows(all, job.workspace, job.sums, JoinSums(), {}, stream);
}

void load_symbol_kernels(SampleFormat format) {
    for (const Points points : {Points::square, Points::diagonal, Points::sent, Points::square_with_noise,
                                Points::diagonal_with_noise}) {
        if (const Kernel kernel = kernel_for(format, points, true)) load_code(kernel);
    }
    load_code(join_roots<JoinSums>);
}

}  // namespace phy::gpu::detail
