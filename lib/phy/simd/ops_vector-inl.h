#if defined(PHY_SIMD_OPS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_OPS_VECTOR_INL_H_
#undef PHY_SIMD_OPS_VECTOR_INL_H_
#else
#define PHY_SIMD_OPS_VECTOR_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "phy/simd/float_bits.hpp"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Tags of vectors of binary32 and of integers with as many bits.
constexpr hn::ScalableTag<float> d;
constexpr hn::RebindToSigned<decltype(d)> di;
constexpr hn::RebindToUnsigned<decltype(d)> du;
constexpr std::size_t lanes = HWY_LANES(float);

struct Ops {
    using V = hn::Vec<decltype(d)>;
    static HWY_INLINE V set(float x) { return hn::Set(d, x); }
    static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
    static HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
    static HWY_INLINE V mul(V a, V b) { return hn::Mul(a, b); }
    static HWY_INLINE V div(V a, V b) { return hn::Div(a, b); }
    static HWY_INLINE V fma(V a, V b, V c) { return hn::MulAdd(a, b, c); }
    static HWY_INLINE V fms(V a, V b, V c) { return hn::MulSub(a, b, c); }
    static HWY_INLINE V nfma(V a, V b, V c) { return hn::NegMulAdd(a, b, c); }
    static HWY_INLINE V min(V a, V b) { return hn::Min(a, b); }
    static HWY_INLINE V max(V a, V b) { return hn::Max(a, b); }
    static HWY_INLINE V abs(V a) { return hn::Abs(a); }
    static HWY_INLINE V floor(V a) { return hn::Floor(a); }
    static HWY_INLINE V clamp(V x, V l) {
#if HWY_TARGET == HWY_AVX3
        // One instruction for the smaller magnitude with the sign of x.
        return V{_mm512_range_ps(x.raw, l.raw, 0b0010)};
#else
        return hn::Max(hn::Min(x, l), hn::Neg(l));
#endif
    }
    static HWY_INLINE V flip(V a, V s) {
        return hn::Xor(a, hn::And(s, hn::SignBit(d)));
    }
    static HWY_INLINE auto finite(V x) {
        return hn::Lt(hn::Abs(x), hn::Inf(d));
    }
    static HWY_INLINE V keep(V x, V v) {
        return hn::IfThenElseZero(finite(x), v);
    }
    static HWY_INLINE V select_finite(V x, V a, V b) {
        return hn::IfThenElse(finite(x), a, b);
    }
    static HWY_INLINE V where_positive(V x, V v) {
        return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), v);
    }
    static HWY_INLINE V choose(V x, V a, V b) {
        return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), a, b);
    }
    static HWY_INLINE V reciprocal_seed(V a) {
        return hn::BitCast(d, hn::Sub(hn::Set(di, reciprocal_bits), hn::BitCast(di, a)));
    }
    static HWY_INLINE V times_power_of_two(V a, V shifted) {
        return hn::BitCast(d, hn::Add(hn::BitCast(di, a), hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
    }
    static HWY_INLINE V split_exponent(V a, V& fraction) {
        const auto bits = hn::BitCast(di, a);
        const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, square_root_of_half)));
        fraction = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
        return hn::ConvertTo(d, exponent);
    }
};

HWY_INLINE Ops::V sign_of_odd_lanes(int phase) {
    return hn::BitCast(d, hn::ShiftLeft<31>(hn::Iota(du, static_cast<std::uint32_t>(phase))));
}

/// One value per symbol, repeated in both lanes of its symbol. Reads a whole vector.
HWY_INLINE Ops::V load_for_pairs(const float* values) {
    const auto symbol_of_lane = hn::IndicesFromVec(d, hn::ShiftRight<1>(hn::Iota(di, 0)));
    return hn::TableLookupLanes(hn::LoadU(d, values), symbol_of_lane);
}

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
