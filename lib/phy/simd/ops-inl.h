// The operations of the shared arithmetic, in IEEE binary32. Ops has the vector type V and:
//     set(x)          x in all lanes                   add, sub, mul, div, min, max
//     fma(a, b, c)    a * b + c, one rounding          fms, nfma         a * b - c, c - a * b, one rounding
//     abs, floor                                       clamp(x, l)       -l ... +l; a NaN gives -l or +l
//     flip(a, s)      a, negated where s is negative   keep(x, v)        v where x is finite, else 0
//     select_finite(x, a, b)   a where x is finite, else b
//     where_positive(x, v)     v where x is positive, else 0
//     choose(x, a, b)          a where x is positive, else b
//     reciprocal_seed, times_power_of_two, split_exponent: see math-inl.h
// min(a, b) returns b if a is a NaN.
#if defined(PHY_SIMD_OPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_OPS_INL_H_
#undef PHY_SIMD_OPS_INL_H_
#else
#define PHY_SIMD_OPS_INL_H_
#endif

#include "phy/simd/target-inl.h"

#if defined(__CUDACC__)
#include "phy/simd/ops_cuda.cuh"
#elif defined(HWY_TARGET_INCLUDE)
#include "phy/simd/ops_vector-inl.h"
#else
#include "phy/simd/ops_scalar.hpp"
#endif

#endif
