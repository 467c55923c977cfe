// The factor of a symbol's elements.
#if defined(PHY_OFDM_SYMBOL_PHASE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_SYMBOL_PHASE_INL_H_
#undef PHY_OFDM_SYMBOL_PHASE_INL_H_
#else
#define PHY_OFDM_SYMBOL_PHASE_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "phy/ofdm/math/butterfly-inl.h"
#include "phy/ofdm/math/phases.hpp"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

template <class Ops>
PHY_INLINE Complex<Ops> number_at(const cf32* numbers, std::size_t i) {
    const auto* const components = reinterpret_cast<const float*>(numbers);
    return {Ops::set(components[2 * i]), Ops::set(components[2 * i + 1])};
}

/// number: the symbol's in its subframe; time: samples from the start of slot 0 to the symbol's first.
template <class Ops>
PHY_INLINE Complex<Ops> symbol_phase(const SymbolPhases& phases, std::size_t number, std::uint64_t time) {
    const auto compensation = number_at<Ops>(phases.compensation, number);
    if (phases.increment == 0) return compensation;
    const std::uint64_t phase = phases.increment * time;
    constexpr std::uint64_t of_level = std::uint64_t{1} << phase_bits;
    const auto coarse = number_at<Ops>(phases.turns, phase >> (64 - phase_bits));
    const auto fine =
        number_at<Ops>(phases.turns + of_level, (phase >> (64 - 2 * phase_bits)) & (of_level - 1));
    return product<Ops>(product<Ops>(compensation, coarse), fine);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
