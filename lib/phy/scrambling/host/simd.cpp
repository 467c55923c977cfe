// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include <cstring>

#include "phy/scrambling/host/kernels.hpp"
#include "phy/scrambling/math/gold.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/scrambling/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/scrambling/math/gold_words-inl.h"
#include "phy/simd/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

/// The recurrence in steps of `unit` words.
HWY_INLINE void follow_by(std::size_t unit, std::uint32_t* words, std::size_t count) {
    const std::uint32_t* word = words - gold_history * unit;
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes, word += lanes) {
        const auto at = [&](std::size_t k) HWY_ATTR { return hn::LoadU(du, word + k * unit); };
        hn::StoreU(following_words(at), du, words + i);
    }
    for (; i < count; ++i, ++word)
        words[i] = following_words([&](std::size_t k) HWY_ATTR { return word[k * unit]; });
}

/// A load of data from several recent stores waits for them. Units of whole vectors avoid that. They need a
/// longer history, so the unit grows with the words that are done.
void follow(std::uint32_t* words, std::size_t before, std::size_t count) {
    std::size_t unit = 1;
    std::size_t i = 0;
    while (i < count) {
        while (unit < lanes && 2 * unit * gold_history <= before + i)
            unit *= 2;
        std::size_t stretch = count - i;
        if (unit < lanes) {
            const std::size_t to_twice_the_unit = 2 * unit * gold_history - (before + i);
            stretch = HWY_MIN(stretch, (to_twice_the_unit + lanes - 1) / lanes * lanes);
        }
        follow_by(unit, words + i, stretch);
        i += stretch;
    }
}

constexpr hn::Repartition<std::uint8_t, decltype(d)> d8;
constexpr std::size_t bytes_of_vector = sizeof(float) * lanes;

HWY_INLINE hn::Vec<decltype(d8)> scrambled(hn::Vec<decltype(d8)> bits, const std::uint8_t* c) {
    return hn::Xor(bits, hn::IfThenElseZero(hn::LoadMaskBits(d8, c), hn::Set(d8, 1)));
}

void scramble(const std::uint8_t* in, std::uint8_t* out, std::size_t count, const std::uint32_t* words) {
    const auto* const c = reinterpret_cast<const std::uint8_t*>(words);
    std::size_t i = 0;
    for (; i + bytes_of_vector <= count; i += bytes_of_vector)
        hn::StoreU(scrambled(hn::LoadU(d8, in + i), c + i / 8), d8, out + i);
    if (i == count) return;
    HWY_ALIGN std::uint8_t rest[bytes_of_vector] = {};
    std::memcpy(rest, in + i, count - i);
    hn::Store(scrambled(hn::Load(d8, rest), c + i / 8), d8, rest);
    std::memcpy(out + i, rest, count - i);
}

}  // namespace

extern constinit const ScramblingKernels scrambling_kernels_of_target;
constinit const ScramblingKernels scrambling_kernels_of_target = {&follow, &scramble};

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const ScramblingKernels& scrambling_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<ScramblingKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(scrambling_kernels_of_target);
    return kernels_of(backend, scalar_scrambling_kernels, by_target);
}

}  // namespace phy::detail
#endif
