// The recurrence of words of c, by the product of both polynomials:
// X^62 + X^33 + X^32 + X^6 + X^5 + X^4 + X^2 + X + 1. It is also that of every second word, every fourth ...
#if defined(PHY_SCRAMBLING_GOLD_WORDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SCRAMBLING_GOLD_WORDS_INL_H_
#undef PHY_SCRAMBLING_GOLD_WORDS_INL_H_
#else
#define PHY_SCRAMBLING_GOLD_WORDS_INL_H_
#endif

#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// at(k) gives the words from the k-th of those 62 before the wanted ones on, of which there may be 29. Where
/// words are counted by units of a power of two, all of that is in units.
template <typename At>
PHY_INLINE auto following_words(const At& at) {
    return at(0) ^ at(1) ^ at(2) ^ at(4) ^ at(5) ^ at(6) ^ at(32) ^ at(33);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
