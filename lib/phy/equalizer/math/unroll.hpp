#pragma once

/// Before loops whose index must be gone: numbers in arrays that a loop goes through stay out of registers.
/// Compilers for hosts give up on nested loops that grow too long unless told.
#if defined(__CUDACC__) || defined(__clang__)
#define PHY_UNROLL_ALL _Pragma("unroll")
#else
#define PHY_UNROLL_ALL _Pragma("GCC unroll 16")
#endif
