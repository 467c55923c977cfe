// Decompresses eight mantissas at a time; Highway compiles this file for every instruction set of the list.

#include <algorithm>
#include <cstring>

#include "phy/compression/host/kernels.hpp"
#include "phy/compression/math/integers.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/compression/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/simd/ops_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

/// Eight mantissas begin and end at byte boundaries and take `width` bytes, at most a vector of 128 bits.
constexpr std::size_t group_size = 8;
constexpr std::size_t groups_per_block = components_per_block / group_size;
constexpr std::size_t loaded_bytes = 16;

constexpr hn::CappedTag<std::int32_t, group_size> d32;
constexpr hn::Repartition<std::uint8_t, decltype(d32)> d8;
constexpr hn::Rebind<std::int16_t, decltype(d32)> d16;
constexpr hn::Rebind<float, decltype(d32)> df;
using Integers = hn::Vec<decltype(d32)>;
constexpr std::size_t step = HWY_MIN(group_size, HWY_LANES(std::int32_t));

/// The positions of a group's mantissas.
struct Places {
    explicit Places(unsigned width) : right(static_cast<int>(32 - width)) {
        for (std::size_t i = 0; i < group_size; ++i) {
            const std::size_t bit = i * width;
            // Big-endian. Only three of four bytes matter: offset and width of 16 make 23 bits.
            for (std::size_t byte = 0; byte < 4; ++byte)
                bytes[4 * i + 3 - byte] =
                    static_cast<std::uint8_t>(std::min(bit / 8 + byte, loaded_bytes - 1));
            left[i] = static_cast<std::int32_t>(bit % 8);
        }
    }

    HWY_ALIGN std::uint8_t bytes[4 * group_size];
    HWY_ALIGN std::int32_t left[group_size];
    int right;
};

/// Reads loaded_bytes from the group's first byte on.
template <typename Store>
HWY_INLINE void decompress_group(const std::uint8_t* group, const Places& places, int exponent,
                                 const Store& store) {
    const auto bytes = hn::LoadDup128(d8, group);
    for (std::size_t i = 0; i < group_size; i += step) {
        const auto words = hn::BitCast(d32, hn::TableLookupBytes(bytes, hn::Load(d8, places.bytes + 4 * i)));
        const auto mantissas =
            hn::ShiftRightSame(hn::Shl(words, hn::Load(d32, places.left + i)), places.right);
        store(hn::ShiftLeftSame(mantissas, exponent), i);
    }
}

/// Reads loaded_bytes from the first byte of the last group on.
template <typename Component, typename Store>
HWY_INLINE void decompress_block(const std::uint8_t* block, const CompressedBlocks& in, const Places& places,
                                 Component* out, const Store& store) {
    const int exponent = in.has_exponent ? static_cast<int>(exponent_of(*block)) : 0;
    const std::uint8_t* const mantissas = block + (in.has_exponent ? 1 : 0);
    for (std::size_t g = 0; g < groups_per_block; ++g)
        decompress_group(mantissas + g * in.width, places, exponent,
                         [&](Integers values, std::size_t i) { store(values, out + g * group_size + i); });
}

template <typename Component, typename Store>
HWY_INLINE void decompress(const CompressedBlocks& in, void* out_erased, const Store& store) {
    auto* out = static_cast<Component*>(out_erased);
    const Places places(in.width);
    const std::size_t bytes = in.bytes_per_block();
    const std::size_t beyond = loaded_bytes - in.width;
    const std::size_t last = in.blocks - std::min(in.blocks, 1 + beyond / bytes);
    for (std::size_t block = 0; block < last; ++block)
        decompress_block(in.bytes + block * bytes, in, places, out + block * components_per_block, store);
    for (std::size_t block = last; block < in.blocks; ++block) {
        HWY_ALIGN std::uint8_t copy[max_block_bytes + loaded_bytes] = {};
        std::memcpy(copy, in.bytes + block * bytes, bytes);
        decompress_block(copy, in, places, out + block * components_per_block, store);
    }
}

void to_integers(const CompressedBlocks& in, void* out) {
    decompress<std::int16_t>(
        in, out, [](Integers values, std::int16_t* to) { hn::StoreU(hn::DemoteTo(d16, values), d16, to); });
}

void to_floats(const CompressedBlocks& in, float unit, void* out) {
    const auto units = hn::Set(df, unit);
    decompress<float>(in, out, [units](Integers values, float* to) {
        hn::StoreU(hn::Mul(hn::ConvertTo(df, values), units), df, to);
    });
}

}  // namespace

extern constinit const DecompressionKernels decompression_kernels_of_target;
constinit const DecompressionKernels decompression_kernels_of_target = {&to_integers, &to_floats};

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const DecompressionKernels& decompression_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<DecompressionKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(decompression_kernels_of_target);
    return kernels_of(backend, scalar_decompression_kernels, by_target);
}

}  // namespace phy::detail
#endif
