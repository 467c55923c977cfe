// Interleaves vectors of one layer each to elements of all layers.
#if defined(PHY_EQUALIZER_LAYERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_EQUALIZER_LAYERS_INL_H_
#undef PHY_EQUALIZER_LAYERS_INL_H_
#else
#define PHY_EQUALIZER_LAYERS_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

#ifdef HWY_TARGET_INCLUDE
/// Blocks of 128 bits of v[0], v[1] ... in turn: as many vectors as a vector has blocks.
HWY_INLINE void store_blocks_in_turns(const Ops::V* v, float* to, std::size_t stride) {
    constexpr std::size_t blocks = lanes / 4;
    if constexpr (blocks == 1) {
        hn::StoreU(v[0], d, to);
    } else if constexpr (blocks == 2) {
        hn::StoreU(hn::ConcatLowerLower(d, v[1], v[0]), d, to);
        hn::StoreU(hn::ConcatUpperUpper(d, v[1], v[0]), d, to + stride);
    } else {
#if HWY_TARGET == HWY_AVX3
        const auto even01 = _mm512_shuffle_f32x4(v[0].raw, v[1].raw, 0x88);  // blocks 0 and 2 of each
        const auto odd01 = _mm512_shuffle_f32x4(v[0].raw, v[1].raw, 0xDD);
        const auto even23 = _mm512_shuffle_f32x4(v[2].raw, v[3].raw, 0x88);
        const auto odd23 = _mm512_shuffle_f32x4(v[2].raw, v[3].raw, 0xDD);
        _mm512_storeu_ps(to, _mm512_shuffle_f32x4(even01, even23, 0x88));
        _mm512_storeu_ps(to + stride, _mm512_shuffle_f32x4(odd01, odd23, 0x88));
        _mm512_storeu_ps(to + 2 * stride, _mm512_shuffle_f32x4(even01, even23, 0xDD));
        _mm512_storeu_ps(to + 3 * stride, _mm512_shuffle_f32x4(odd01, odd23, 0xDD));
#endif
    }
}

/// Interleaves complex numbers of two layers: blocks of v[j * step] have elements j, 4 + j, 8 + j ...
template <int step>
HWY_INLINE void pair_layers(const Ops::V* re, const Ops::V* im, Ops::V* v) {
    const hn::Repartition<double, decltype(d)> pairs;
    const auto a_low = hn::BitCast(pairs, hn::InterleaveLower(d, re[0], im[0]));
    const auto a_high = hn::BitCast(pairs, hn::InterleaveUpper(d, re[0], im[0]));
    const auto b_low = hn::BitCast(pairs, hn::InterleaveLower(d, re[1], im[1]));
    const auto b_high = hn::BitCast(pairs, hn::InterleaveUpper(d, re[1], im[1]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a_low, b_low));
    v[step] = hn::BitCast(d, hn::InterleaveUpper(pairs, a_low, b_low));
    v[2 * step] = hn::BitCast(d, hn::InterleaveLower(pairs, a_high, b_high));
    v[3 * step] = hn::BitCast(d, hn::InterleaveUpper(pairs, a_high, b_high));
}

template <int layers>
HWY_INLINE void store_symbols(const Ops::V* re, const Ops::V* im, float* to) {
    constexpr std::size_t blocks = lanes / 4;
    if constexpr (layers == 1) {
        Lanes::store_pairs(re[0], im[0], to);
    } else if constexpr (layers == 2) {
        Ops::V v[4];
        pair_layers<1>(re, im, v);
        // An element is a block. Vectors made of blocks are in the order of elements.
        for (std::size_t j = 0; j < 4; j += blocks)
            store_blocks_in_turns(v + j, to + 4 * j, 16);
    } else if constexpr (layers == 4) {
        Ops::V v[8];
        pair_layers<2>(re, im, v);
        pair_layers<2>(re + 2, im + 2, v + 1);
        for (std::size_t j = 0; j < 8; j += blocks)
            store_blocks_in_turns(v + j, to + 4 * j, 32);
    } else {
        // Like four layers, the last of which is overwritten.
        alignas(64) float four[8 * lanes];
        const Ops::V padded_re[4] = {re[0], re[1], re[2], hn::Zero(d)};
        const Ops::V padded_im[4] = {im[0], im[1], im[2], hn::Zero(d)};
        store_symbols<4>(padded_re, padded_im, four);
        const hn::CappedTag<float, 8> of_element;
        constexpr std::size_t at_once = hn::MaxLanes(of_element);
        for (std::size_t e = 0; e + 1 < lanes; ++e)
            for (std::size_t part = 0; part < 8; part += at_once)
                hn::StoreU(hn::LoadU(of_element, four + 8 * e + part), of_element, to + 6 * e + part);
        std::memcpy(to + 6 * (lanes - 1), four + 8 * (lanes - 1), 6 * sizeof(float));
    }
}

template <int layers>
HWY_INLINE void store_noise(const Ops::V* noise, float* to) {
    if constexpr (layers == 1) {
        Lanes::store(noise[0], to);
    } else if constexpr (layers == 2) {
        Lanes::store_pairs(noise[0], noise[1], to);
    } else if constexpr (layers == 3) {
        hn::StoreInterleaved3(noise[0], noise[1], noise[2], d, to);
    } else {
        hn::StoreInterleaved4(noise[0], noise[1], noise[2], noise[3], d, to);
    }
}
#else
template <int layers>
inline void store_symbols(const float* re, const float* im, float* to) {
    for (int i = 0; i < layers; ++i)
        Lanes::store_pairs(re[i], im[i], to + 2 * i);
}

template <int layers>
inline void store_noise(const float* noise, float* to) {
    std::memcpy(to, noise, layers * sizeof(float));
}
#endif

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
