// Division of components by a gain, gains from noise variances, and positions of components in a table.
// Outputs are padded, so whole vectors are stored.
#if defined(PHY_DEMAPPER_SIMD_GAINS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_SIMD_GAINS_INL_H_
#undef PHY_DEMAPPER_SIMD_GAINS_INL_H_
#else
#define PHY_DEMAPPER_SIMD_GAINS_INL_H_
#endif

#include <hwy/cache_control.h>

#include "phy/demapper/host/kernels.hpp"
#include "phy/demapper/math/soft_bits-inl.h"
#include "phy/simd/load-inl.h"
#include "phy/simd/ops_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

void multiply(const float* in, float* out, std::size_t count, float factor) {
    for (std::size_t i = 0; i < count; i += lanes) {
        hwy::Prefetch(in + i + prefetch_distance / sizeof(float));
        hn::StoreU(hn::Mul(load_up_to(d, in + i, count - i), hn::Set(d, factor)), d, out + i);
    }
}

HWY_INLINE auto usable(Ops::V noise) {
    return hn::And(hn::Gt(noise, hn::Zero(d)), hn::Lt(noise, hn::Inf(d)));
}

float gains(const float* noise, std::size_t symbols, const GainRule& rule, float* scale, float* limit) {
    auto largest = hn::Zero(d);
    for (std::size_t s = 0; s < symbols; s += lanes) {
        hwy::Prefetch(noise + s + prefetch_distance / sizeof(float));
        const auto n0 = load_up_to(d, noise + s, symbols - s);
        Ops::V scales, limits;
        gain_of<Ops>(n0, rule, scales, limits);
        limits = hn::IfThenElseZero(usable(n0), limits);
        largest = hn::Max(limits, largest);
        hn::StoreU(hn::IfThenElseZero(usable(n0), scales), d, scale + s);
        hn::StoreU(limits, d, limit + s);
    }
    return hn::GetLane(hn::MaxOfLanes(d, largest));
}

std::uint64_t count_unusable(const float* noise, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i += lanes) {
        found += hn::CountTrue(d, usable(load_up_to(d, noise + i, count - i)));
    }
    return count - found;
}

HWY_INLINE void store_entries(Ops::V position, std::uint32_t* entry) {
    hn::StoreU(hn::And(hn::BitCast(du, position), hn::Set(du, entry_bits)), du, entry);
}

void nearest_entries(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry) {
    for (std::size_t i = 0; i < count; i += lanes) {
        store_entries(nearest_entry<Ops>(load_up_to(d, iq + i, count - i), table), entry + i);
    }
}

void entries_below(const float* iq, std::size_t count, const TableScale& table, std::uint32_t* entry,
                   float* fraction) {
    for (std::size_t i = 0; i < count; i += lanes) {
        Ops::V fractions;
        store_entries(entry_below<Ops>(load_up_to(d, iq + i, count - i), table, fractions), entry + i);
        hn::StoreU(fractions, d, fraction + i);
    }
}

}  // namespace
}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
