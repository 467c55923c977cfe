// Defines what a file is compiled for: CUDA, an instruction set (in a file that Highway compiles once for
// each), or scalar. PHY_TARGET is its namespace in phy::detail. PHY_INLINE precedes every function.
// PHY_UNROLL precedes loops that must be fully unrolled, PHY_UNROLL_ALL those that host compilers do not
// unroll unless told to: arrays with a variable index are not kept in registers. PHY_NO_UNROLL precedes loops
// around them.
#if defined(PHY_SIMD_TARGET_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_TARGET_INL_H_
#undef PHY_SIMD_TARGET_INL_H_
#else
#define PHY_SIMD_TARGET_INL_H_
#endif

#ifdef __FAST_MATH__
#error "phy's results are defined by IEEE arithmetic: compile it without -ffast-math"
#endif

#undef PHY_TARGET
#undef PHY_INLINE
#undef PHY_UNROLL
#undef PHY_UNROLL_ALL
#undef PHY_NO_UNROLL
#undef PHY_BEFORE_NAMESPACE
#undef PHY_AFTER_NAMESPACE

#if defined(__CUDACC__) || defined(__clang__)
#define PHY_UNROLL_ALL _Pragma("unroll")
#define PHY_NO_UNROLL _Pragma("unroll 1")
#else
#define PHY_UNROLL_ALL _Pragma("GCC unroll 32")
#define PHY_NO_UNROLL _Pragma("GCC unroll 1")
#endif

#if defined(__CUDACC__)
#define PHY_TARGET cuda
#define PHY_INLINE __device__ __forceinline__
#define PHY_UNROLL _Pragma("unroll")
#define PHY_BEFORE_NAMESPACE() static_assert(true)
#define PHY_AFTER_NAMESPACE() static_assert(true)
#elif defined(HWY_TARGET_INCLUDE)
#include <hwy/highway.h>
#define PHY_TARGET HWY_NAMESPACE
#define PHY_INLINE HWY_INLINE
#define PHY_UNROLL
#define PHY_BEFORE_NAMESPACE() HWY_BEFORE_NAMESPACE()
#define PHY_AFTER_NAMESPACE() HWY_AFTER_NAMESPACE()
#else
#define PHY_TARGET scalar
#define PHY_INLINE inline
#define PHY_UNROLL
#define PHY_BEFORE_NAMESPACE() static_assert(true)
#define PHY_AFTER_NAMESPACE() static_assert(true)
#endif

#endif
