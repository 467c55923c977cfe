// Decompression of resource blocks.
#if defined(PHY_COMPRESSION_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_COMPRESSION_KERNELS_INL_H_
#undef PHY_COMPRESSION_KERNELS_INL_H_
#else
#define PHY_COMPRESSION_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "phy/compression/blocks.hpp"
#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

constexpr std::size_t group_size = mantissas_per_group;
constexpr std::size_t loaded_bytes = 16;

// One mantissa of a group, or a vector of them.
#ifdef HWY_TARGET_INCLUDE
constexpr hn::CappedTag<std::int32_t, group_size> d32;
constexpr hn::Repartition<std::uint8_t, decltype(d32)> d8;
constexpr hn::Rebind<std::int16_t, decltype(d32)> d16;
constexpr hn::Rebind<float, decltype(d32)> df;

struct Integers {
    using V = hn::Vec<decltype(d32)>;
    static constexpr std::size_t count = HWY_MIN(group_size, HWY_LANES(std::int32_t));

    /// The words of the four bytes at `places`, the least significant first.
    static HWY_INLINE V words(const std::uint8_t* group, const std::uint8_t* places) {
        return hn::BitCast(d32, hn::TableLookupBytes(hn::LoadDup128(d8, group), hn::Load(d8, places)));
    }
    static HWY_INLINE V mantissas(V words, const std::int32_t* offsets, unsigned width) {
        return hn::ShiftRightSame(hn::Shl(words, hn::Load(d32, offsets)), static_cast<int>(32 - width));
    }
    static HWY_INLINE V values(V mantissas, unsigned exponent) {
        return hn::ShiftLeftSame(mantissas, static_cast<int>(exponent));
    }
    static HWY_INLINE void store(V values, std::int16_t* to) {
        hn::StoreU(hn::DemoteTo(d16, values), d16, to);
    }
    static HWY_INLINE void store(V values, float unit, float* to) {
        hn::StoreU(hn::Mul(hn::ConvertTo(df, values), hn::Set(df, unit)), df, to);
    }
};
#else
struct Integers {
    using V = std::int32_t;
    static constexpr std::size_t count = 1;

    static V words(const std::uint8_t* group, const std::uint8_t* places) {
        std::uint32_t word = 0;
        for (int i = 3; i >= 0; --i)
            word = word << 8 | group[places[i]];
        return static_cast<V>(word);
    }
    static V mantissas(V word, const std::int32_t* offset, unsigned width) {
        return mantissa_of(static_cast<std::uint32_t>(word), static_cast<unsigned>(*offset), width);
    }
    static V values(V mantissa, unsigned exponent) { return value_of(mantissa, exponent); }
    static void store(V value, std::int16_t* to) {
        const std::int16_t component = limited_to_16_bits(value);
        std::memcpy(to, &component, sizeof component);
    }
    static void store(V value, float unit, float* to) {
        const float component = Ops::mul(static_cast<float>(value), unit);
        std::memcpy(to, &component, sizeof component);
    }
};
#endif

/// The positions of a group's mantissas.
struct Places {
    explicit Places(unsigned width) {
        for (std::size_t i = 0; i < group_size; ++i) {
            const std::size_t bit = i * width;
            // Big-endian. Only three of four bytes matter: offset and width of 16 make 23 bits.
            for (std::size_t byte = 0; byte < 4; ++byte)
                bytes[4 * i + 3 - byte] =
                    static_cast<std::uint8_t>(std::min(bit / 8 + byte, loaded_bytes - 1));
            offset[i] = static_cast<std::int32_t>(bit % 8);
        }
    }

    alignas(64) std::uint8_t bytes[4 * group_size];
    alignas(64) std::int32_t offset[group_size];
};

/// Reads loaded_bytes from the first byte of the last group on.
template <typename Component, typename... Unit>
PHY_INLINE void decompress_block(const std::uint8_t* block, const CompressedBlocks& in, const Places& places,
                                 Component* out, Unit... unit) {
    const unsigned exponent = in.header_bytes != 0 ? exponent_of(*block) : 0;
    const std::uint8_t* const groups = block + in.header_bytes;
    for (std::size_t g = 0; g < groups_per_block; ++g) {
        for (std::size_t i = 0; i < group_size; i += Integers::count) {
            const auto words = Integers::words(groups + g * in.width, places.bytes + 4 * i);
            const auto mantissas = Integers::mantissas(words, places.offset + i, in.width);
            Integers::store(Integers::values(mantissas, exponent), unit..., out + g * group_size + i);
        }
    }
}

/// `in` is a copy, which stays in registers: what is stored could alias the caller's.
template <typename Component, typename... Unit>
PHY_INLINE void decompress(CompressedBlocks in, std::size_t blocks, void* out_erased, Unit... unit) {
    auto* out = static_cast<Component*>(out_erased);
    const Places places(in.width);
    const std::size_t bytes = in.bytes_per_block();
    const std::size_t beyond = loaded_bytes - in.width;
    const std::size_t last = blocks - std::min(blocks, 1 + beyond / bytes);
    for (std::size_t block = 0; block < last; ++block)
        decompress_block(in.bytes + block * bytes, in, places, out + block * components_per_block, unit...);
    for (std::size_t block = last; block < blocks; ++block) {
        alignas(64) std::uint8_t copy[max_block_bytes + loaded_bytes] = {};
        std::memcpy(copy, in.bytes + block * bytes, bytes);
        decompress_block(copy, in, places, out + block * components_per_block, unit...);
    }
}

void to_integers(const CompressedBlocks& in, std::size_t blocks, void* out) {
    decompress<std::int16_t>(in, blocks, out);
}

void to_floats(const CompressedBlocks& in, std::size_t blocks, float unit, void* out) {
    decompress<float>(in, blocks, out, unit);
}

constexpr DecompressionKernels kernels = {&to_integers, &to_floats};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
