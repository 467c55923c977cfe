// The kernels of kernels.hpp: vectors of elements.
#if defined(PHY_DETECTOR_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DETECTOR_KERNELS_INL_H_
#undef PHY_DETECTOR_KERNELS_INL_H_
#else
#define PHY_DETECTOR_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "phy/detector/host/kernels.hpp"
#include "phy/detector/math/detect-inl.h"
#include "phy/simd/float_bits.hpp"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

using V = Ops::V;

/// Missing pairs are zeros.
PHY_INLINE PairOf<Ops> load_pairs_of(const LayerPair* pairs, std::size_t count) {
    alignas(64) float rows[8][Lanes::count] = {};
    for (std::size_t e = 0; e < count; ++e) {
        const LayerPair& pair = pairs[e];
        const float numbers[8] = {pair.matched[0].real(), pair.matched[0].imag(), pair.matched[1].real(),
                                  pair.matched[1].imag(), pair.power[0],          pair.power[1],
                                  pair.cross.real(),      pair.cross.imag()};
        for (std::size_t n = 0; n < 8; ++n)
            rows[n][e] = numbers[n];
    }
    return {.matched = {{Lanes::load(rows[0]), Lanes::load(rows[1])},
                        {Lanes::load(rows[2]), Lanes::load(rows[3])}},
            .power = {Lanes::load(rows[4]), Lanes::load(rows[5])},
            .cross = {Lanes::load(rows[6]), Lanes::load(rows[7])}};
}

PHY_INLINE void store_row(V llr, LlrRange range, float* row) {
    Lanes::store(Ops::mul(llr, Ops::set(range.scale)), row);
}
PHY_INLINE void store_row(V llr, LlrRange range, std::uint32_t* row) {
    const V rounded = Ops::fma(llr, Ops::set(range.scale), Ops::set(round_to_integer));
    Lanes::store_words(Lanes::words_of(rounded), row);
}

/// Those of both layers and of the first one again. Missing ones are zeros.
template <int m>
PHY_INLINE void load_priors(const float* priors, std::size_t count, V* out) {
    constexpr std::size_t bits = 4 * m;
    alignas(64) float rows[bits][Lanes::count] = {};
    for (std::size_t e = 0; e < count; ++e)
        for (std::size_t b = 0; b < bits; ++b)
            rows[b][e] = priors[e * bits + b];
    for (std::size_t b = 0; b < bits + bits / 2; ++b)
        out[b] = Lanes::load(rows[b % bits]);
}

/// Staged: the type of a soft bit before it is narrowed.
template <int m, bool has_priors, typename Staged, typename SoftBit>
void detect_some(const LayerPair* pairs, const float* priors, std::size_t count, LlrRange range,
                 SoftBit* out) {
    constexpr std::size_t bits = 4 * m;
    alignas(64) Staged rows[bits][Lanes::count];
    const V limit = Ops::set(range.limit);
    V prior[has_priors ? bits + bits / 2 : 1];
    for (std::size_t first = 0; first < count; first += Lanes::count) {
        const std::size_t here = std::min(Lanes::count, count - first);
        V llrs[bits];
        PairOf<Ops> pair = load_pairs_of(pairs + first, here);
        if constexpr (has_priors) load_priors<m>(priors + first * bits, here, prior);
        const V is_usable = bring_into_range<Ops>(pair);
        detect<Ops, m, has_priors>(pair, prior, is_usable, limit, llrs);
        detect<Ops, m, has_priors>(exchanged<Ops>(pair), prior + (has_priors ? bits / 2 : 0), is_usable,
                                   limit, llrs + 2 * m);
        for (std::size_t b = 0; b < bits; ++b)
            store_row(llrs[b], range, rows[b]);
        for (std::size_t e = 0; e < here; ++e)
            for (std::size_t b = 0; b < bits; ++b)
                *out++ = static_cast<SoftBit>(rows[b][e]);
    }
}

template <int m, typename Staged, typename SoftBit>
void detect_all(const LayerPair* pairs, const float* priors, std::size_t count, LlrRange range,
                SoftBit* out) {
    if (priors != nullptr)
        detect_some<m, true, Staged>(pairs, priors, count, range, out);
    else
        detect_some<m, false, Staged>(pairs, priors, count, range, out);
}

template <std::size_t... i>
constexpr DetectorKernels make_kernels(std::index_sequence<i...>) {
    return {.to_floats = {&detect_all<static_cast<int>(i + 1), float, float>...},
            .to_bytes = {&detect_all<static_cast<int>(i + 1), std::uint32_t, std::int8_t>...}};
}

constexpr DetectorKernels kernels = make_kernels(std::make_index_sequence<max_axis_bits>());

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
