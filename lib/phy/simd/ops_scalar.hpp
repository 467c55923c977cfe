#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "phy/simd/float_bits.hpp"

namespace phy::detail::scalar {

/// The operations of ops-inl.h on one number at a time: the reference.
struct Ops {
    using V = float;
    static V set(float x) { return x; }
    static V add(V a, V b) { return a + b; }
    static V sub(V a, V b) { return a - b; }
    static V mul(V a, V b) { return a * b; }
    static V div(V a, V b) { return a / b; }
    static V fma(V a, V b, V c) { return std::fma(a, b, c); }
    static V fms(V a, V b, V c) { return std::fma(a, b, -c); }
    static V nfma(V a, V b, V c) { return std::fma(-a, b, c); }
    static V min(V a, V b) { return a < b ? a : b; }
    static V max(V a, V b) { return a > b ? a : b; }
    static V abs(V a) { return std::fabs(a); }
    static V floor(V a) { return std::floor(a); }
    static V clamp(V x, V l) { return max(min(x, l), -l); }
    static V flip(V a, V s) { return std::signbit(s) ? -a : a; }
    static V keep(V x, V v) { return std::isfinite(x) ? v : 0.0F; }
    static V select_finite(V x, V a, V b) { return std::isfinite(x) ? a : b; }
    static V where_positive(V x, V v) { return x > 0.0F ? v : 0.0F; }
    static V choose(V x, V a, V b) { return x > 0.0F ? a : b; }
    static V reciprocal_seed(V a) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(reciprocal_bits) -
                                    std::bit_cast<std::uint32_t>(a));
    }
    static V times_power_of_two(V a, V shifted) {
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) +
                                    (std::bit_cast<std::uint32_t>(shifted) << 23));
    }
    static V split_exponent(V a, V& fraction) {
        const auto bits = std::bit_cast<std::int32_t>(a);
        const std::int32_t exponent = (bits - square_root_of_half) >> 23;
        fraction = std::bit_cast<float>(bits - exponent * (1 << 23));
        return static_cast<float>(exponent);
    }
};

}  // namespace phy::detail::scalar
