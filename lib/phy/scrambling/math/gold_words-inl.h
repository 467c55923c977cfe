// The recurrence of words of c, by the product of both polynomials: X^62 + X^33 + X^32 + X^6 + X^5 + X^4 +
// X^2 + X + 1. It also holds for every second word, every fourth ...
#if defined(PHY_SCRAMBLING_GOLD_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SCRAMBLING_GOLD_WORDS_INL_H_
#undef PHY_SCRAMBLING_GOLD_WORDS_INL_H_
#else
#define PHY_SCRAMBLING_GOLD_WORDS_INL_H_
#endif

#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// at(k) returns one word or more, from the k-th of the 62 words before the wanted ones on; at most 29 words
/// at a time. For units of a power of two words, read units for words.
template <typename At>
PHY_INLINE auto following_words(const At& at) {
    return at(0) ^ at(1) ^ at(2) ^ at(4) ^ at(5) ^ at(6) ^ at(32) ^ at(33);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
