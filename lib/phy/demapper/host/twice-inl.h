// The operations on two vectors at a time. A long computation of one vector waits for its own results; that
// of another fills the time.
#if defined(PHY_DEMAPPER_TWICE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_TWICE_INL_H_
#undef PHY_DEMAPPER_TWICE_INL_H_
#else
#define PHY_DEMAPPER_TWICE_INL_H_
#endif

#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

/// What log-MAP LLRs need of the operations of simd/ops-inl.h.
struct Twice {
    struct V {
        Ops::V a;
        Ops::V b;
    };
    static PHY_INLINE V set(float x) { return {Ops::set(x), Ops::set(x)}; }
    static PHY_INLINE V add(V x, V y) { return {Ops::add(x.a, y.a), Ops::add(x.b, y.b)}; }
    static PHY_INLINE V sub(V x, V y) { return {Ops::sub(x.a, y.a), Ops::sub(x.b, y.b)}; }
    static PHY_INLINE V mul(V x, V y) { return {Ops::mul(x.a, y.a), Ops::mul(x.b, y.b)}; }
    static PHY_INLINE V fma(V x, V y, V z) { return {Ops::fma(x.a, y.a, z.a), Ops::fma(x.b, y.b, z.b)}; }
    static PHY_INLINE V fms(V x, V y, V z) { return {Ops::fms(x.a, y.a, z.a), Ops::fms(x.b, y.b, z.b)}; }
    static PHY_INLINE V nfma(V x, V y, V z) { return {Ops::nfma(x.a, y.a, z.a), Ops::nfma(x.b, y.b, z.b)}; }
    static PHY_INLINE V min(V x, V y) { return {Ops::min(x.a, y.a), Ops::min(x.b, y.b)}; }
    static PHY_INLINE V max(V x, V y) { return {Ops::max(x.a, y.a), Ops::max(x.b, y.b)}; }
    static PHY_INLINE V abs(V x) { return {Ops::abs(x.a), Ops::abs(x.b)}; }
    static PHY_INLINE V floor(V x) { return {Ops::floor(x.a), Ops::floor(x.b)}; }
    static PHY_INLINE V clamp(V x, V l) { return {Ops::clamp(x.a, l.a), Ops::clamp(x.b, l.b)}; }
    static PHY_INLINE V flip(V x, V s) { return {Ops::flip(x.a, s.a), Ops::flip(x.b, s.b)}; }
    static PHY_INLINE V keep(V x, V v) { return {Ops::keep(x.a, v.a), Ops::keep(x.b, v.b)}; }
    static PHY_INLINE V where_positive(V x, V v) {
        return {Ops::where_positive(x.a, v.a), Ops::where_positive(x.b, v.b)};
    }
    static PHY_INLINE V choose(V x, V y, V z) {
        return {Ops::choose(x.a, y.a, z.a), Ops::choose(x.b, y.b, z.b)};
    }
    static PHY_INLINE V reciprocal_seed(V x) {
        return {Ops::reciprocal_seed(x.a), Ops::reciprocal_seed(x.b)};
    }
    static PHY_INLINE V times_power_of_two(V x, V shifted) {
        return {Ops::times_power_of_two(x.a, shifted.a), Ops::times_power_of_two(x.b, shifted.b)};
    }
    static PHY_INLINE V split_exponent(V x, V& fraction) {
        return {Ops::split_exponent(x.a, fraction.a), Ops::split_exponent(x.b, fraction.b)};
    }
};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
