// Stores a vector per bit of the axes, with lanes I, Q, I, Q ..., as symbol-major soft bits. For one lane:
// stores the soft bits of one axis; those of the other are between them.
#if defined(PHY_DEMAPPER_STORE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_STORE_INL_H_
#undef PHY_DEMAPPER_STORE_INL_H_
#else
#define PHY_DEMAPPER_STORE_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "phy/core/half.hpp"
#include "phy/demapper/host/kernels.hpp"
#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

#ifdef HWY_TARGET_INCLUDE

constexpr hn::Repartition<std::uint8_t, decltype(d)> d8;
constexpr hn::Repartition<std::uint64_t, decltype(d)> d64;
using Bytes = hn::Vec<decltype(d8)>;

/// The positions of the low bytes of four lanes I, Q, I, Q in a 16-byte block of two symbols with up to four
/// bits per axis: two bytes per bit, without gaps.
template <int bits>
struct BytePlaces {
    HWY_ALIGN std::uint8_t place[bits][16];
    constexpr BytePlaces() : place() {
        constexpr int of_symbol = 2 * bits;
        for (int k = 0; k < bits; ++k) {
            for (int i = 0; i < 16; ++i) {
                const int lane = 2 * (i / of_symbol) + i % 2;
                const bool here = i < 2 * of_symbol && i % of_symbol / 2 == k;
                place[k][i] = here ? static_cast<std::uint8_t>(4 * lane) : 0x80;
            }
        }
    }

    /// A mask of the bytes that bit k of the axes fills.
    [[nodiscard]] constexpr std::uint64_t mask(int k) const {
        std::uint64_t filled = 0;
        for (int i = 0; i < 64; ++i)
            filled |= static_cast<std::uint64_t>(place[k][i % 16] != 0x80) << i;
        return filled;
    }
};
template <int bits>
HWY_ALIGN constexpr BytePlaces<bits> byte_places{};

template <int bits, int k = 0>
HWY_INLINE Bytes interleave_bytes(const Lanes::Words* low_bytes) {
    const auto bytes = hn::BitCast(d8, low_bytes[k]);
    const auto places = hn::LoadDup128(d8, byte_places<bits>.place[k]);
    if constexpr (k == bits - 1) {
        return hn::TableLookupBytesOr0(bytes, places);
    } else {
        const auto others = interleave_bytes<bits, k + 1>(low_bytes);
#if HWY_TARGET == HWY_AVX3
        constexpr std::uint64_t mask = byte_places<bits>.mask(k);
        return Bytes{_mm512_mask_shuffle_epi8(others.raw, mask, bytes.raw, places.raw)};
#else
        return hn::Or(others, hn::TableLookupBytesOr0(bytes, places));
#endif
    }
}

/// The words of a vector, without every fourth one; words beyond are the first.
struct ThreeOfFour {
    HWY_ALIGN std::int32_t word[lanes] = {};
    constexpr ThreeOfFour() {
        for (std::size_t i = 0; i < 3 * lanes / 4; ++i)
            word[i] = static_cast<std::int32_t>(i / 3 * 4 + i % 3);
    }
};
HWY_ALIGN constexpr ThreeOfFour three_of_four{};

/// The first 12 bytes of each 16-byte block, without gaps.
HWY_INLINE void store_three_quarters(Bytes bytes, std::uint8_t* out) {
    if constexpr (lanes == 4) {
        HWY_ALIGN std::uint8_t block[16];
        hn::Store(bytes, d8, block);
        std::memcpy(out, block, 12);
    } else {
        const auto indices = hn::SetTableIndices(du, three_of_four.word);
        const auto words = hn::TableLookupLanes(hn::BitCast(du, bytes), indices);
        const hn::Half<decltype(du)> half;
        const hn::Half<decltype(half)> quarter;
        auto* const to = reinterpret_cast<std::uint32_t*>(out);
        hn::StoreU(hn::LowerHalf(half, words), half, to);
        hn::StoreU(hn::LowerHalf(quarter, hn::UpperHalf(half, words)), quarter, to + lanes / 2);
    }
}

/// Two symbols per block; writes the first `used` bytes of each.
template <std::size_t used>
HWY_INLINE void store_blocks(Bytes bytes, bool streams, std::uint8_t* out) {
    if constexpr (used == 16) {
        if (streams) {
            hn::Stream(bytes, d8, out);
        } else {
            hn::StoreU(bytes, d8, out);
        }
    } else if constexpr (used == 8) {
        const hn::Half<decltype(d64)> half;
        const auto words = hn::BitCast(d64, bytes);
        hn::StoreU(hn::LowerHalf(half, hn::ConcatEven(d64, words, words)), half,
                   reinterpret_cast<std::uint64_t*>(out));
    } else {
        static_assert(used == 12);
        store_three_quarters(bytes, out);
    }
}

#if HWY_TARGET == HWY_AVX3
/// The index of each word that store_five_words() writes, in two vectors of 32 words.
struct WordIndices {
    alignas(64) std::uint16_t index[64] = {};
    constexpr WordIndices() {
        for (int i = 0; i < 40; ++i) {
            const int block = 8 * (i / 10);
            const int symbol = i / 5 % 2;
            index[i] =
                static_cast<std::uint16_t>(i % 5 < 4 ? block + 4 * symbol + i % 5 : 32 + block + symbol);
        }
    }
};
alignas(64) constexpr WordIndices word_indices{};
#endif

/// A word holds the soft bits of I and Q. A symbol has four words in one vector and one in the other.
HWY_INLINE void store_five_words(Bytes four, Bytes fifth, std::uint8_t* out) {
#if HWY_TARGET == HWY_AVX3
    const auto* const indices = reinterpret_cast<const __m512i*>(word_indices.index);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi16(four.raw, indices[0], fifth.raw));
    const __m512i rest = _mm512_permutex2var_epi16(four.raw, indices[1], fifth.raw);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 64), _mm512_castsi512_si128(rest));
#else
    HWY_ALIGN std::uint8_t first_words[4 * lanes];
    HWY_ALIGN std::uint8_t last_words[4 * lanes];
    hn::Store(four, d8, first_words);
    hn::Store(fifth, d8, last_words);
    for (std::size_t s = 0; s < lanes / 2; ++s, out += 10) {
        std::memcpy(out, first_words + 8 * s, 8);
        std::memcpy(out + 8, last_words + 16 * (s / 2) + 2 * (s % 2), 2);
    }
#endif
}

template <int bits>
HWY_INLINE void store_bytes(const Lanes::Words* low_bytes, bool streams, std::uint8_t* out) {
    if constexpr (bits == 1) {
        const hn::Rebind<std::uint8_t, decltype(d)> d8_of_lane;
        const auto bytes = hn::And(low_bytes[0], hn::Set(du, 0xFF));
        hn::StoreU(hn::DemoteTo(d8_of_lane, hn::BitCast(di, bytes)), d8_of_lane, out);
    } else if constexpr (bits <= 4) {
        store_blocks<4 * bits>(interleave_bytes<bits>(low_bytes), streams, out);
    } else {
        store_five_words(interleave_bytes<4>(low_bytes), interleave_bytes<1>(low_bytes + 4), out);
    }
}

/// A pair of soft bits per symbol and bit moves as one number.
template <int bits, class D>
HWY_INLINE void store_pairs(D tag, const hn::Vec<D>* pairs, std::uint8_t* out) {
    using Pair = hn::TFromD<D>;
    auto* const to = reinterpret_cast<Pair*>(out);
    if constexpr (bits == 1) {
        hn::StoreU(pairs[0], tag, to);
    } else if constexpr (bits == 2) {
        hn::StoreInterleaved2(pairs[0], pairs[1], tag, to);
    } else if constexpr (bits == 3) {
        hn::StoreInterleaved3(pairs[0], pairs[1], pairs[2], tag, to);
    } else if constexpr (bits == 4) {
        hn::StoreInterleaved4(pairs[0], pairs[1], pairs[2], pairs[3], tag, to);
    } else {
        static_assert(bits == 5);
        HWY_ALIGN Pair first_four[4 * lanes / 2];
        HWY_ALIGN Pair last[lanes / 2];
        hn::StoreInterleaved4(pairs[0], pairs[1], pairs[2], pairs[3], tag, first_four);
        hn::Store(pairs[4], tag, last);
        for (std::size_t s = 0; s < lanes / 2; ++s, out += 5 * sizeof(Pair)) {
            std::memcpy(out, first_four + 4 * s, 4 * sizeof(Pair));
            std::memcpy(out + 4 * sizeof(Pair), last + s, sizeof(Pair));
        }
    }
}

template <int bits, Output output>
HWY_INLINE void store_floats(const Ops::V* values, std::uint8_t* out) {
    if constexpr (output == Output::float32) {
        hn::Vec<decltype(d64)> pairs[bits];
        for (int k = 0; k < bits; ++k)
            pairs[k] = hn::BitCast(d64, values[k]);
        store_pairs<bits>(d64, pairs, out);
    } else {
        const hn::Half<decltype(du)> d32;
        const hn::Rebind<hwy::float16_t, decltype(d)> d16;
        hn::Vec<hn::Half<decltype(du)>> pairs[bits];
        for (int k = 0; k < bits; ++k)
            pairs[k] = hn::BitCast(d32, hn::DemoteTo(d16, values[k]));
        store_pairs<bits>(d32, pairs, out);
    }
}

#else

template <int bits>
void store_bytes(const std::uint32_t* low_bytes, bool /*streams*/, std::uint8_t* out) {
    for (int k = 0; k < bits; ++k)
        out[2 * k] = static_cast<std::uint8_t>(low_bytes[k]);
}

template <int bits, Output output>
void store_floats(const float* values, std::uint8_t* out) {
    using SoftBit = std::conditional_t<output == Output::float32, float, half>;
    for (int k = 0; k < bits; ++k, out += 2 * sizeof(SoftBit)) {
        const SoftBit rounded(values[k]);
        std::memcpy(out, &rounded, sizeof rounded);
    }
}

#endif

template <int bits, Output output>
PHY_INLINE void store(Ops::V scale, const Ops::V* distances, bool streams, std::uint8_t* out) {
    if constexpr (output != Output::int8) {
        Ops::V values[bits];
        for (int k = 0; k < bits; ++k)
            values[k] = scaled<Ops>(scale, distances[k]);
        store_floats<bits, output>(values, out);
    } else {
        Lanes::Words low_bytes[bits];
        for (int k = 0; k < bits; ++k)
            low_bytes[k] = Lanes::words_of(quantise<Ops>(scale, distances[k]));
        store_bytes<bits>(low_bytes, streams, out);
    }
}

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
