#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

#include "phy/demapper/kernels.hpp"

/// The numeric core for CUDA.
namespace phy::gpu::detail {

using phy::detail::bits_of;
using phy::detail::Grid;
using phy::detail::Law;
using phy::detail::Output;

#define PHY_CORE_INLINE __device__ __forceinline__
#define PHY_CORE_UNROLL _Pragma("unroll")
#include "phy/demapper/core.inc"

/// One number a thread.
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
    // From 2^23 on numbers are integers, so a sum rounded down is the floor; where an inverse does for the
    // exact product, that is one operation with it.
    template <int m>
    static __device__ V segment(V a, V last) {
        using A = phy::detail::Axis<m>;
        constexpr float integers = 0x1p23F;
        constexpr bool as_it_is = phy::detail::finds_segments<m>(A::inverse_segment, false);
        if constexpr (as_it_is || phy::detail::finds_segments<m>(A::inverse_segment_above, false)) {
            constexpr float inverse = as_it_is ? A::inverse_segment : A::inverse_segment_above;
            return fminf(__fmaf_rd(a, inverse, integers), integers + last) - integers;
        } else {
            return fminf(__fadd_rd(mul(a, A::inverse_segment), integers), integers + last) - integers;
        }
    }
    static __device__ V clamp(V x, V l) { return fmaxf(fminf(x, l), -l); }
    static __device__ V flip(V a, V s) {
        return __uint_as_float(__float_as_uint(a) ^ (__float_as_uint(s) & 0x80000000U));
    }
    static __device__ V keep(V x, V v) { return is_finite(x) ? v : 0.0F; }
    static __device__ V select_finite(V x, V a, V b) { return is_finite(x) ? a : b; }
    static __device__ V where_positive(V x, V v) { return x > 0.0F ? v : 0.0F; }
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

}  // namespace phy::gpu::detail
