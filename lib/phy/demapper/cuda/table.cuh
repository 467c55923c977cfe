#pragma once

#include "phy/demapper/cuda/tile.cuh"

namespace phy::gpu::detail {

/// Evaluates by table. The table is in shared memory or, if it does not fit, in global memory.
template <Constellation of, SoftBitFormat to, Space space, Shape of_tile>
struct LookUp {
    static constexpr Constellation constellation = of;
    static constexpr SoftBitFormat format = to;
    static constexpr Shape shape = of_tile;
    static constexpr int bits = bits_of(constellation);

    const phy::detail::TableScale& scale;
    const std::byte* entries;

    __device__ explicit LookUp(const Job& job)
        : LookUp(job, static_cast<const std::byte*>(job.table.entries)) {}
    __device__ LookUp(const Job& job, const std::byte* copy) : scale(job.table.scale), entries(copy) {}

    __device__ __forceinline__ void operator()(const float* y, const float*, const float*,
                                               std::uint32_t* words) const {
        if constexpr (format == SoftBitFormat::int8) {
            look_up_bytes(y, words);
        } else {
            look_up_lines(y, words);
        }
    }

    /// The position of a piece of 16 bytes of the table. If entries have two pieces, every other group of
    /// four entries has them swapped: lanes that read the same piece would otherwise use half of the banks.
    static __device__ __forceinline__ unsigned place_of(unsigned piece) {
        return has_turned_entries ? piece ^ (piece >> 3 & 1U) : piece;
    }

private:
    static constexpr bool has_turned_entries =
        space == Space::shared && to != SoftBitFormat::int8 && 8 * bits == 32;

    static __device__ __forceinline__ std::uint32_t index_of(float entry) {
        return __float_as_uint(entry) & entry_bits;
    }

    /// Byte k of an entry is the soft bit k; soft bits of I and Q alternate in the output.
    __device__ __forceinline__ void look_up_bytes(const float* y, std::uint32_t* words) const {
        constexpr int entry_words = (bits + 3) / 4;
        std::uint32_t entry[2 * shape.symbols][entry_words];
#pragma unroll
        for (int c = 0; c < 2 * shape.symbols; ++c) {
            const std::uint32_t index = index_of(nearest_entry<Ops>(y[c], scale));
            load_words<space, 4 * entry_words>(entries + 4 * entry_words * index, entry[c]);
        }
        const auto pair = [&entry](int n) {
            const int symbol = n / bits;
            const int k = n % bits;
            const unsigned selector = static_cast<unsigned>(k % 4 + 16 * (k % 4 + 4));
            return __byte_perm(entry[2 * symbol][k / 4], entry[2 * symbol + 1][k / 4], selector);
        };
#pragma unroll
        for (int n = 0; n < shape.symbols * bits; n += 2) {
            const int k = n % bits;
            if (k + 1 < bits && k / 4 == (k + 1) / 4) {
                const int symbol = n / bits;
                const unsigned selector = static_cast<unsigned>(0x5140 + 0x1111 * (k % 4));
                words[n / 2] = __byte_perm(entry[2 * symbol][k / 4], entry[2 * symbol + 1][k / 4], selector);
            } else {
                words[n / 2] = __byte_perm(pair(n), pair(n + 1), 0x5410);
            }
        }
    }

    __device__ __forceinline__ void load_line(std::uint32_t index, std::uint32_t* line) const {
        if constexpr (has_turned_entries) {
            const std::uint32_t values = 16 * place_of(2 * index);
            load_words<space, 16>(entries + values, line);
            load_words<space, 16>(entries + (values ^ 16U), line + 4);
        } else {
            load_words<space, 8 * bits>(entries + 8 * bits * index, line);
        }
    }

    __device__ __forceinline__ void look_up_lines(const float* y, std::uint32_t* words) const {
        constexpr float limit = phy::detail::soft_bit_format_facts[static_cast<int>(format)].largest;
        float llrs[2 * shape.symbols * bits];
#pragma unroll
        for (int c = 0; c < 2 * shape.symbols; ++c) {
            float fraction;
            const std::uint32_t index = index_of(entry_below<Ops>(y[c], scale, fraction));
            std::uint32_t line[2 * bits];
            load_line(index, line);
#pragma unroll
            for (int k = 0; k < bits; ++k) {
                const float rise = Ops::mul(__uint_as_float(line[bits + k]), Ops::abs(fraction));
                const float of_magnitude = Ops::add(__uint_as_float(line[k]), rise);
                const float llr =
                    Ops::clamp(k == 0 ? Ops::flip(of_magnitude, fraction) : of_magnitude, limit);
                llrs[(c / 2 * bits + k) * 2 + c % 2] = Ops::add(llr, 0.0F);
            }
        }
        pack<format, 2 * shape.symbols * bits>(llrs, words);
    }
};

}  // namespace phy::gpu::detail
