#pragma once

#include <cuda_fp16.h>

#include <algorithm>

#include "phy/cuda/pieces.cuh"
#include "phy/cuda/samples.cuh"
#include "phy/cuda/signs.cuh"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/cuda/tuning.hpp"
#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/ops-inl.h"

/// How a warp processes its tile of symbols, for every lane demapper.
///
/// A lane demapper is a type with the constants constellation, format, shape and is_early (see
/// launch_dependent()), and the function
///     void operator()(const float* y, const float* scale, const float* limit, std::uint32_t* words)
/// that turns a lane's neighbouring symbols into packed soft bits. Its results for an axis (BPSK: a symbol)
/// with a non-finite component are not used.
namespace phy::gpu::detail {

using phy::detail::bits_of;
using namespace phy::detail::cuda;  // NOLINT(google-build-using-namespace): its functions take Ops

/// The arithmetic operations of the demapper on a GPU.
struct Ops : phy::detail::cuda::Ops {
    // Numbers from 2^23 on are integers, so a sum rounded down is the floor. If an inverse is as good as the
    // exact product, this is one operation.
    template <int m>
    static __device__ V segment(V a, V last) {
        using A = phy::detail::Axis<m>;
        constexpr float integers = 0x1p23F;
        constexpr bool as_it_is = phy::detail::finds_segments<m>(A::inverse_segment, false);
        if constexpr (as_it_is || phy::detail::finds_segments<m>(A::inverse_segment_above, false)) {
            constexpr float inverse = as_it_is ? A::inverse_segment : A::inverse_segment_above;
            return fminf(__fmaf_rd(a, inverse, integers), integers + last) - integers;
        } else {
            return fminf(__fadd_rd(mul(a, A::inverse_segment), integers), integers + last) - integers;
        }
    }
};

/// Packs soft bits for storage. Input: fp16 and fp32 as numbers, int8 in the low byte.
template <SoftBitFormat format, int count>
__device__ __forceinline__ void pack(const float* values, std::uint32_t* words) {
    if constexpr (format == SoftBitFormat::int8) {
        const auto bits = [values](int i) { return __float_as_uint(values[i]); };
#pragma unroll
        for (int i = 0; i < count; i += 4) {
            const std::uint32_t low = __byte_perm(bits(i), bits(i + 1), 0x0040);
            const std::uint32_t high = __byte_perm(bits(i + 2), bits(i + 3), 0x0040);
            words[i / 4] = __byte_perm(low, high, 0x5410);
        }
    } else if constexpr (format == SoftBitFormat::float16) {
#pragma unroll
        for (int i = 0; i < count; i += 2) {
            const __half2 pair = __floats2half2_rn(values[i], values[i + 1]);
            words[i / 2] = *reinterpret_cast<const std::uint32_t*>(&pair);
        }
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            words[i] = __float_as_uint(values[i]);
    }
}

/// Counts of one thread.
struct Tally {
    unsigned erasures = 0;
    unsigned saturated = 0;
};

template <class LaneDemapper>
struct Layout {
    static constexpr Shape shape = LaneDemapper::shape;
    static constexpr int axes = LaneDemapper::constellation == Constellation::bpsk ? 1 : 2;
    static constexpr int llrs_of_symbol = axes * bits_of(LaneDemapper::constellation);
    static constexpr int bytes_of_symbol =
        detail::bytes_of_symbol(LaneDemapper::constellation, LaneDemapper::format);
    static constexpr int llrs = shape.symbols * llrs_of_symbol;  ///< of a lane in a row
    static constexpr int words = shape.symbols * bytes_of_symbol / 4;
    static constexpr int symbols = symbols_of_warp(shape);
    static constexpr int bytes_of_row = shape.symbols * bytes_of_symbol;  ///< of a lane
    static constexpr int bytes_in = static_cast<int>(size_of(SampleFormat::cf32)) * symbols;
    static constexpr int bytes_out = bytes_of_symbol * symbols;

    /// Shared memory of a warp.
    static constexpr int staging = bytes_in > bytes_out ? bytes_in : bytes_out;

    /// The memory of symbols, noise and signs.
    static constexpr Space space = LaneDemapper::is_early ? Space::written : Space::global;

    /// One store per row; otherwise shared memory sorts the rows.
    static constexpr bool stores_directly = words == 1 || words == 2 || words == 4;

    static_assert(shape.symbols * bytes_of_symbol % 4 == 0);
};

/// Sets soft bits to 0 unless keep(symbol, axis).
template <class LaneDemapper, typename Keep>
__device__ __forceinline__ void clear_unless(Keep keep, std::uint32_t* words) {
    using L = Layout<LaneDemapper>;
    constexpr int bits = 8 * static_cast<int>(size_of(LaneDemapper::format));
    constexpr int in_word = 32 / bits;
#pragma unroll
    for (int llr = 0; llr < L::llrs; ++llr) {
        constexpr std::uint32_t ones = 0xFFFFFFFFU >> (32 - bits);
        if (!keep(llr / L::llrs_of_symbol, llr % L::axes))
            words[llr / in_word] &= ~(ones << (bits * (llr % in_word)));
    }
}

/// Clears and counts the soft bits of non-finite components.
template <class LaneDemapper>
__device__ __forceinline__ void erase(const float* y, std::uint32_t* words, Tally& tally) {
    using L = Layout<LaneDemapper>;
#pragma unroll
    for (int c = 0; c < 2 * L::shape.symbols; ++c)
        tally.erasures += Ops::is_finite(y[c]) ? 0 : 1;
    const auto keep = [y](int symbol, int axis) {
        if (L::axes == 2) return Ops::is_finite(y[2 * symbol + axis]);
        return Ops::is_finite(y[2 * symbol]) && Ops::is_finite(y[2 * symbol + 1]);
    };
    clear_unless<LaneDemapper>(keep, words);
}

/// Adds 128 for every soft bit of the largest magnitude in an int8 word.
__device__ __forceinline__ unsigned add_saturated_bytes(std::uint32_t word, std::uint32_t largest,
                                                        unsigned sum) {
    // A byte of the biased magnitude reaches 128 if the magnitude is the largest. The complement of a
    // negative byte is one less than its magnitude.
    const std::uint32_t signs = signs_of_bytes(word);
    const std::uint32_t bias = (128U - largest) * 0x01010101U;
    const std::uint32_t biased = (word ^ signs) + (signs & 0x01010101U) + bias;
    return __dp4a(biased & 0x80808080U, 0x01010101U, sum);
}

/// Counts the soft bits of the largest magnitude in a row of words.
template <SoftBitFormat format, int count>
__device__ __forceinline__ unsigned count_saturated(const std::uint32_t* words, std::uint32_t largest) {
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < count; ++w) {
        if constexpr (format == SoftBitFormat::int8) {
            sum = add_saturated_bytes(words[w], largest, sum);
        } else if constexpr (size_of(format) == 2) {
            sum +=
                ((words[w] & 0x7FFFU) == largest ? 1 : 0) + ((words[w] >> 16 & 0x7FFFU) == largest ? 1 : 0);
        }
    }
    return format == SoftBitFormat::int8 ? sum / 128 : sum;
}

__device__ __forceinline__ bool is_usable(float noise) {
    return noise > 0.0F && Ops::is_finite(noise);
}

/// load_rows() with all components multiplied by the unit.
template <Space space, SampleFormat format, Shape shape>
__device__ __forceinline__ bool load_scaled_rows(const std::byte* tile, unsigned lane, float unit,
                                                 Components<shape>& y) {
    load_rows<space, format, shape>(tile, lane, unit, y);
    float sum = 0.0F;
#pragma unroll
    for (int row = 0; row < shape.groups; ++row) {
#pragma unroll
        for (int c = 0; c < 2 * shape.symbols; ++c) {
            y[row][c] = Ops::mul(y[row][c], unit);
            sum += fabsf(y[row][c]);
        }
    }
    return sum < __int_as_float(0x7F800000);
}

/// Loads a lane's rows of a tile; returns true if all components are surely finite. Branches on the bits of
/// the number: a switch would become a table of addresses, fetched before the jump. with_constant_by_bits()
/// makes ptxas spill registers of kernels with tables. Floating point without a gain comes first, with the
/// fewest tests.
template <Space space, Shape shape>
__device__ __forceinline__ bool load_symbols(const Job& job, const std::byte* tile, unsigned lane,
                                             Components<shape>& y) {
    const auto number = static_cast<unsigned>(job.loading);
    const bool odd = (number & 1U) != 0;
    if ((number & 6U) == 0) {
        if (!odd) return load_rows<space, SampleFormat::cf32, shape>(tile, lane, job.unit, y);
        return load_rows<space, SampleFormat::cf16, shape>(tile, lane, job.unit, y);
    }
    if ((number & 2U) != 0) {
        if (!odd) return load_rows<space, SampleFormat::ci16, shape>(tile, lane, job.unit, y);
        return load_rows<space, SampleFormat::ci8, shape>(tile, lane, job.unit, y);
    }
    if (!odd) return load_scaled_rows<space, SampleFormat::cf32, shape>(tile, lane, job.unit, y);
    return load_scaled_rows<space, SampleFormat::cf16, shape>(tile, lane, job.unit, y);
}

template <int count>
__device__ __forceinline__ bool all_usable(const float* noise) {
    bool usable = true;
#pragma unroll
    for (int i = 0; i < count; ++i)
        usable = usable && is_usable(noise[i]);
    return usable;
}

/// The gains of a lane's symbols in one row.
template <int symbols>
struct Gains {
    float scale[symbols];
    float limit[symbols];

    __device__ __forceinline__ explicit Gains(const Gain& all) {
#pragma unroll
        for (int s = 0; s < symbols; ++s) {
            scale[s] = all.scale;
            limit[s] = all.limit;
        }
    }

    /// All N0 must be usable.
    __device__ __forceinline__ Gains(const float* noise, const GainRule& formula) {
#pragma unroll
        for (int s = 0; s < symbols; ++s)
            gain_of<Ops>(noise[s], formula, scale[s], limit[s]);
    }

    /// The gain of an unusable N0 is 0, and it is counted.
    __device__ __forceinline__ Gains(const float* noise, const GainRule& formula, Tally& tally)
        : Gains(noise, formula) {
#pragma unroll
        for (int s = 0; s < symbols; ++s) {
            if (is_usable(noise[s])) continue;
            scale[s] = 0.0F;
            limit[s] = 0.0F;
            ++tally.erasures;
        }
    }
};

/// A tile of a job, and a lane of its warp.
struct Tile {
    std::uint64_t first;  ///< first symbol of the block
    unsigned offset;      ///< symbols from there to the tile
    unsigned left;        ///< symbols of the tile that are in the job
    unsigned lane;

    __device__ __forceinline__ const std::byte* symbols_of(const Job& job) const {
        return job.symbols + first * job.sample_bytes + offset * job.sample_bytes;
    }
    __device__ __forceinline__ const float* noise_of(const Job& job) const {
        return job.noise + first + offset;
    }
    template <class LaneDemapper>
    __device__ __forceinline__ std::byte* llr_of(const Job& job) const {
        constexpr unsigned bytes = Layout<LaneDemapper>::bytes_of_symbol;
        return job.llr + first * bytes + offset * bytes;
    }
};

/// The signs of a tile's soft bits, if the job has signs.
template <class LaneDemapper>
class TileSigns {
public:
    __device__ __forceinline__ TileSigns(const Job& job, const Tile& tile) : words_(job.signs) {
        if (words_ == nullptr) return;
        const std::uint64_t bit = (tile.first + tile.offset) * L::llrs_of_symbol;
        words_ += bit / 32;
        shift_ = static_cast<unsigned>(bit % 32);
        last_ = (job.count * L::llrs_of_symbol - 1) / 32 - bit / 32;
    }

    /// The signs of a lane's row, from a symbol of the tile on, in the lowest bits.
    [[nodiscard]] __device__ __forceinline__ std::uint32_t from(unsigned symbol) const {
        if (words_ == nullptr) return 0;
        return signs_from<L::space>(words_, shift_ + symbol * L::llrs_of_symbol, last_);
    }

    static __device__ __forceinline__ void flip(std::uint32_t signs, std::uint32_t* words) {
        constexpr SoftBitFormat format = LaneDemapper::format;
#pragma unroll
        for (unsigned w = 0; w < L::words; ++w)
            words[w] = flipped<format>(words[w], signs >> (w * soft_bits_of_word<format>));
    }

private:
    using L = Layout<LaneDemapper>;
    static_assert(L::llrs <= 32);

    const std::uint32_t* words_;  ///< from the word with the tile's first bit on
    unsigned shift_ = 0;
    std::uint64_t last_ = 0;  ///< last word of the job
};

/// The fast path: a tile that is whole and aligned. Returns false, and has written nothing, if a component is
/// not finite or an N0 is not usable.
template <class LaneDemapper, bool per_symbol, bool counts, bool flips>
__device__ __forceinline__ bool demap_whole_tile(const LaneDemapper& evaluate, const Job& job,
                                                 const Common& common, const Tile& tile, std::byte* staging,
                                                 Tally& tally) {
    using L = Layout<LaneDemapper>;
    constexpr Shape shape = L::shape;
    Components<shape> y;
    bool good = load_symbols<L::space, shape>(job, tile.symbols_of(job), tile.lane, y);
    float noise[shape.groups][shape.symbols];
    if constexpr (per_symbol) load_rows<L::space>(tile.noise_of(job), tile.lane, noise);
    std::uint32_t signs[shape.groups];
    if constexpr (flips) {
        const TileSigns<LaneDemapper> of_tile(job, tile);
#pragma unroll
        for (int row = 0; row < shape.groups; ++row)
            signs[row] = of_tile.from((row * warp_size + tile.lane) * shape.symbols);
    }
    if constexpr (per_symbol) good = good && all_usable<shape.symbols * shape.groups>(noise[0]);
    if (!__all_sync(all_lanes, good)) return false;

    std::byte* const out = tile.llr_of<LaneDemapper>(job);
    std::byte* const mine = (L::stores_directly ? out : staging) + tile.lane * L::bytes_of_row;
#pragma unroll
    for (int row = 0; row < shape.groups; ++row) {
        std::uint32_t words[L::words];
        if constexpr (per_symbol) {
            const Gains<shape.symbols> gains(noise[row], job.gain);
            evaluate(y[row], gains.scale, gains.limit, words);
        } else {
            const Gains<shape.symbols> gains(job.scalar);
            evaluate(y[row], gains.scale, gains.limit, words);
        }
        if constexpr (counts)
            tally.saturated += count_saturated<LaneDemapper::format, L::words>(words, common.saturated);
        if constexpr (flips) TileSigns<LaneDemapper>::flip(signs[row], words);
        store_words<L::words>(words, mine + row * warp_size * L::bytes_of_row);
    }
    if constexpr (!L::stores_directly) {
        __syncwarp();
        copy_pieces<L::bytes_out>(staging, out, tile.lane);
        __syncwarp();
    }
    return true;
}

/// The gains of a row in any tile; arbitrary for symbols beyond the job.
template <class LaneDemapper>
__device__ __forceinline__ auto gains_of_row(const Job& job, const Tile& tile, unsigned symbol,
                                             Tally& tally) {
    constexpr int symbols = LaneDemapper::shape.symbols;
    if (job.noise == nullptr) return Gains<symbols>(job.scalar);
    float noise[symbols];
#pragma unroll
    for (int s = 0; s < symbols; ++s)
        noise[s] = symbol + s < tile.left ? tile.noise_of(job)[symbol + s] : 1.0F;
    return Gains<symbols>(noise, job.gain, tally);
}

/// Demaps any tile, byte by byte through shared memory; symbols beyond the job count as zeros. Rows of
/// symbols are at the end of the staging memory; rows of soft bits replace them from its beginning on. No row
/// of soft bits reaches symbols that are still needed, whatever the lengths of rows.
template <class LaneDemapper, bool counts, bool flips>
__device__ __forceinline__ void demap_any_tile(const LaneDemapper& evaluate, const Job& job,
                                               const Common& common, const Tile& tile, std::byte* staging,
                                               Tally& tally) {
    using L = Layout<LaneDemapper>;
    constexpr Shape shape = L::shape;
    constexpr Shape one_row = {shape.threads, shape.symbols, 1};
    const unsigned bytes_in = L::symbols * job.sample_bytes;
    std::byte* const in = staging + (L::staging - bytes_in);
    copy_bytes(tile.symbols_of(job), in, tile.left * job.sample_bytes, bytes_in, tile.lane, job.aligned);
    __syncwarp();
#pragma unroll 1
    for (int row = 0; row < shape.groups; ++row) {
        const unsigned symbol = (row * warp_size + tile.lane) * shape.symbols;
        Components<one_row> y;
        const bool finite =
            load_symbols<Space::shared, one_row>(job, in + row * (bytes_in / shape.groups), tile.lane, y);
        __syncwarp();
        const auto gains = gains_of_row<LaneDemapper>(job, tile, symbol, tally);
        std::uint32_t words[L::words];
        evaluate(y[0], gains.scale, gains.limit, words);
        if (!finite) erase<LaneDemapper>(y[0], words, tally);
        clear_unless<LaneDemapper>([&](unsigned s, int) { return symbol + s < tile.left; }, words);
        if constexpr (counts)
            tally.saturated += count_saturated<LaneDemapper::format, L::words>(words, common.saturated);
        if constexpr (flips)
            TileSigns<LaneDemapper>::flip(TileSigns<LaneDemapper>(job, tile).from(symbol), words);
        store_words<L::words>(words, staging + symbol * L::bytes_of_symbol);
        __syncwarp();
    }
    const unsigned bytes = tile.left * L::bytes_of_symbol;
    copy_bytes(staging, tile.llr_of<LaneDemapper>(job), bytes, bytes, tile.lane, job.aligned);
    __syncwarp();
}

/// Demaps the tiles of a block's warps, from the symbol `first` on. staging serves all of them and is aligned
/// to 16 bytes.
template <class LaneDemapper, bool counts, bool flips>
__device__ __forceinline__ void demap_tiles(const LaneDemapper& evaluate, const Job& job,
                                            const Common& common, std::uint64_t first, std::byte* staging,
                                            Tally& tally) {
    using L = Layout<LaneDemapper>;
    constexpr unsigned symbols = L::symbols;
    constexpr unsigned of_block = symbols_of_block(L::shape, counts);
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned offset = warp * symbols;
    const std::uint64_t rest = job.count - first;
    const unsigned in_block = rest < of_block ? static_cast<unsigned>(rest) : of_block;
    if (offset >= in_block) return;
    const unsigned lane = threadIdx.x % warp_size;
    Tile tile = {first, offset, std::min(symbols, in_block - offset), lane};
    // The last tile overlaps the one before to avoid the slow path: both write the same bytes.
    if (!counts && tile.left < symbols && job.end_aligned && job.count >= symbols)
        tile = {job.count - symbols, 0, symbols, lane};
    staging += warp * L::staging;
    bool done = false;
    if (tile.left == symbols && job.aligned) {
        done = job.noise != nullptr ? demap_whole_tile<LaneDemapper, true, counts, flips>(
                                          evaluate, job, common, tile, staging, tally)
                                    : demap_whole_tile<LaneDemapper, false, counts, flips>(
                                          evaluate, job, common, tile, staging, tally);
    }
    if (!done) demap_any_tile<LaneDemapper, counts, flips>(evaluate, job, common, tile, staging, tally);
}

/// Adds the counts of a block's threads to the counters. All threads of the block must call it.
__device__ inline void add_to_counters(const Common& common, Tally tally) {
    __shared__ unsigned total[2];
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    __syncthreads();
    for (int distance = warp_size / 2; distance > 0; distance /= 2) {
        tally.erasures += __shfl_xor_sync(all_lanes, tally.erasures, distance);
        tally.saturated += __shfl_xor_sync(all_lanes, tally.saturated, distance);
    }
    if (threadIdx.x % warp_size == 0) {
        atomicAdd(&total[0], tally.erasures);
        atomicAdd(&total[1], tally.saturated);
    }
    __syncthreads();
    static_assert(sizeof(DemapCounters) == 2 * sizeof(unsigned long long));
    auto* counters = reinterpret_cast<unsigned long long*>(common.counters);
    if (threadIdx.x < 2 && total[threadIdx.x] != 0) atomicAdd(counters + threadIdx.x, total[threadIdx.x]);
}

}  // namespace phy::gpu::detail
