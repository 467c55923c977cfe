// Words of c, and their use.
#if defined(PHY_SCRAMBLING_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SCRAMBLING_KERNELS_INL_H_
#undef PHY_SCRAMBLING_KERNELS_INL_H_
#else
#define PHY_SCRAMBLING_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "phy/scrambling/gold.hpp"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

/// Returns the words that follow 62 units of words, by the product of both polynomials: X^62 + X^33 + X^32 +
/// X^6 + X^5 + X^4 + X^2 + X + 1. The recurrence holds for every second word too, for every fourth ..., and
/// so for units of a power of two words.
PHY_INLINE Lanes::Words following_words(const std::uint32_t* word, std::size_t unit) {
    Lanes::Words sum = Lanes::load_words(word);
    for (const std::size_t power : {1U, 2U, 4U, 5U, 6U, 32U, 33U})
        sum = sum ^ Lanes::load_words(word + power * unit);
    return sum;
}

/// The recurrence in steps of `unit` words.
PHY_INLINE void follow_by(std::size_t unit, std::uint32_t* words, std::size_t count) {
    const std::uint32_t* const before = words - gold_history * unit;
    std::size_t i = 0;
    for (; i + Lanes::count <= count; i += Lanes::count)
        Lanes::store_words(following_words(before + i, unit), words + i);
    if (i == count) return;
    std::uint32_t rest[Lanes::count];
    Lanes::store_words(following_words(before + i, unit), rest);
    std::memcpy(words + i, rest, (count - i) * sizeof(std::uint32_t));
}

/// A load of data from several recent stores waits for them. Units of whole vectors avoid that. They need a
/// longer history, so the unit grows with the words that are done.
void follow(std::uint32_t* words, std::size_t before, std::size_t count) {
    std::size_t unit = 1;
    std::size_t i = 0;
    while (i < count) {
        while (unit < Lanes::count && 2 * unit * gold_history <= before + i)
            unit *= 2;
        std::size_t stretch = count - i;
        if (unit < Lanes::count) {
            const std::size_t to_twice_the_unit = 2 * unit * gold_history - (before + i);
            const std::size_t vectors = (to_twice_the_unit + Lanes::count - 1) / Lanes::count;
            stretch = std::min(stretch, vectors * Lanes::count);
        }
        follow_by(unit, words + i, stretch);
        i += stretch;
    }
}

struct AddBits {
    using Bytes = IntegerLanes<std::uint8_t>;
    const std::uint32_t* c;

    PHY_INLINE Bytes::V operator()(Bytes::V bits, std::size_t first) const {
        const auto added = Bytes::select(Bytes::bit_mask(c, first), Bytes::set(1), Bytes::set(0));
        return static_cast<Bytes::V>(bits ^ added);
    }
};

void scramble(const std::uint8_t* in, std::uint8_t* out, std::size_t count, const std::uint32_t* c) {
    change_all<std::uint8_t>(in, out, count, AddBits{c});
}

constexpr ScramblingKernels kernels = {&follow, &scramble};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
