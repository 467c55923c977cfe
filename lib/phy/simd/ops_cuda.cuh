#pragma once

#include <cstdint>

#include "phy/simd/float_bits.hpp"

namespace phy::detail::cuda {

/// One number per thread.
struct Ops {
    using V = float;
    static __device__ V set(float x) { return x; }
    static __device__ V add(V a, V b) { return __fadd_rn(a, b); }
    static __device__ V sub(V a, V b) { return __fsub_rn(a, b); }
    static __device__ V mul(V a, V b) { return __fmul_rn(a, b); }
    static __device__ V div(V a, V b) { return __fdiv_rn(a, b); }
    static __device__ V fma(V a, V b, V c) { return __fmaf_rn(a, b, c); }
    static __device__ V fms(V a, V b, V c) { return __fmaf_rn(a, b, -c); }
    static __device__ V nfma(V a, V b, V c) { return __fmaf_rn(-a, b, c); }
    static __device__ V min(V a, V b) { return fminf(a, b); }
    static __device__ V max(V a, V b) { return fmaxf(a, b); }
    static __device__ V abs(V a) { return fabsf(a); }
    static __device__ V floor(V a) { return floorf(a); }
    static __device__ V clamp(V x, V l) { return fmaxf(fminf(x, l), -l); }
    static __device__ V flip(V a, V s) {
        return __uint_as_float(__float_as_uint(a) ^ (__float_as_uint(s) & 0x80000000U));
    }
    static __device__ V keep(V x, V v) { return is_finite(x) ? v : 0.0F; }
    static __device__ V select_finite(V x, V a, V b) { return is_finite(x) ? a : b; }
    static __device__ V where_positive(V x, V v) { return x > 0.0F ? v : 0.0F; }
    static __device__ V choose(V x, V a, V b) { return x > 0.0F ? a : b; }
    static __device__ V reciprocal_seed(V a) { return __int_as_float(reciprocal_bits - __float_as_int(a)); }
    static __device__ V times_power_of_two(V a, V shifted) {
        return __uint_as_float(__float_as_uint(a) + (__float_as_uint(shifted) << 23));
    }
    static __device__ V split_exponent(V a, V& fraction) {
        const int bits = __float_as_int(a);
        const int exponent = (bits - square_root_of_half) >> 23;
        fraction = __int_as_float(bits - exponent * (1 << 23));
        return static_cast<float>(exponent);
    }
    static __device__ bool is_finite(V x) { return fabsf(x) < __int_as_float(0x7F800000); }
};

}  // namespace phy::detail::cuda
