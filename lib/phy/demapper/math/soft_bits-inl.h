// The arithmetic of soft bits, in IEEE binary32 with every fma explicit, for the operations of
// simd/ops-inl.h.
#if defined(PHY_DEMAPPER_SOFT_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_SOFT_BITS_INL_H_
#undef PHY_DEMAPPER_SOFT_BITS_INL_H_
#else
#define PHY_DEMAPPER_SOFT_BITS_INL_H_
#endif

#include <cstdint>

#include "phy/demapper/math/axis.hpp"
#include "phy/demapper/math/formula.hpp"
#include "phy/demapper/math/log_map-inl.h"
#include "phy/demapper/math/max_log-inl.h"
#include "phy/simd/float_bits.hpp"
#include "phy/simd/math-inl.h"
#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

// int8: the soft bit is the low byte of the sum's bits.
template <class Ops>
PHY_INLINE typename Ops::V quantise(typename Ops::V scale, typename Ops::V distance) {
    return Ops::fma(scale, distance, Ops::set(round_to_integer));
}

// fp32 (and fp16 before rounding); adding zero makes -0 a +0. The limit of the distance is rounded, so the
// product may pass the largest LLR.
template <class Ops>
PHY_INLINE typename Ops::V scaled(typename Ops::V scale, typename Ops::V distance) {
    const auto llr = Ops::add(Ops::mul(scale, distance), Ops::set(0.0F));
    return Ops::clamp(llr, Ops::set(largest_llr));
}

/// The gain of a usable N0, one that is finite and positive.
template <class Ops>
PHY_INLINE void gain_of(typename Ops::V noise, const GainRule& formula, typename Ops::V& scale,
                        typename Ops::V& limit) {
    const auto usable = Ops::min(Ops::max(noise, Ops::set(smallest_noise)), Ops::set(largest_noise));
    scale = Ops::mul(reciprocal<Ops>(usable), Ops::set(formula.per_inverse_noise));
    limit = Ops::mul(usable, Ops::set(formula.per_noise));
}

/// An output value is out_scale * distances[k], where out_scale is 0 for erased components.
template <class Ops, int m, Formula formula>
PHY_INLINE void evaluate_axis(typename Ops::V y, typename Ops::V scale, typename Ops::V limit,
                              const Gain& nats, typename Ops::V* distances, typename Ops::V& out_scale) {
    if constexpr (formula == Formula::log_sum && m > 1) {
        axis_log_map<Ops, m>(y, scale, limit, nats.limit, distances);
        PHY_UNROLL
        for (int k = 0; k < m; ++k)
            distances[k] = Ops::clamp(distances[k], Ops::set(nats.limit));
        // An unusable N0 has the scale 0.
        out_scale = Ops::keep(y, Ops::where_positive(scale, Ops::set(nats.scale)));
    } else {
        axis_distances<Ops, m, formula>(y, limit, distances);
        out_scale = Ops::keep(y, scale);
    }
}

/// BPSK lies on the diagonal: the axis value is the sum of the components, which must both be finite.
template <class Ops, Formula formula>
PHY_INLINE void evaluate_diagonal(typename Ops::V i, typename Ops::V q, typename Ops::V scale,
                                  typename Ops::V limit, typename Ops::V* distances,
                                  typename Ops::V& out_scale) {
    axis_distances<Ops, 1, formula>(Ops::add(i, q), limit, distances);
    out_scale = Ops::keep(i, Ops::keep(q, scale));
}

/// Entries of a table are the low bits of a number.
inline constexpr std::uint32_t entry_bits = 0x3FFFFF;

/// The nearest entry, plus round_to_integer; last + 1 for a component that is not finite.
template <class Ops>
PHY_INLINE typename Ops::V nearest_entry(typename Ops::V y, const TableScale& table) {
    const auto position = Ops::fma(y, Ops::set(table.per_unit), Ops::set(table.centre));
    const auto inside = Ops::min(Ops::max(position, Ops::set(0.0F)), Ops::set(table.last));
    return Ops::add(Ops::select_finite(y, inside, Ops::set(table.last + 1.0F)), Ops::set(round_to_integer));
}

/// The same for the entry below |y|, where entry 0 is at y = 0, and the distance from there to |y| in steps,
/// with the sign of y.
template <class Ops>
PHY_INLINE typename Ops::V entry_below(typename Ops::V y, const TableScale& table,
                                       typename Ops::V& fraction) {
    const auto position = Ops::min(Ops::mul(Ops::abs(y), Ops::set(table.per_unit)), Ops::set(0x1p60F));
    const auto below = Ops::min(Ops::floor(position), Ops::set(table.last));
    fraction = Ops::flip(Ops::keep(y, Ops::sub(position, below)), y);
    return Ops::add(Ops::select_finite(y, below, Ops::set(table.last + 1.0F)), Ops::set(round_to_integer));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();

#endif
