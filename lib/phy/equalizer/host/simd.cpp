// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include <cstring>

#include "phy/equalizer/host/kernels.hpp"
#include "phy/simd/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/equalizer/host/simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/equalizer/host/layers-inl.h"
#include "phy/equalizer/math/solve-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

HWY_INLINE Ops::V load(const float* from) {
    return hn::LoadU(d, from);
}

HWY_INLINE void store(Ops::V value, float* to) {
    hn::StoreU(value, d, to);
}

/// For values that are used twice, which the compiler would otherwise load twice.
HWY_INLINE void keep_loaded([[maybe_unused]] Ops::V& v) {
#if HWY_TARGET == HWY_AVX3
    asm("" : "+v"(v.raw));
#endif
}

HWY_INLINE void load_complex(const float* from, Ops::V& re, Ops::V& im) {
#if HWY_TARGET == HWY_AVX3
    auto low = hn::LoadU(d, from);
    auto high = hn::LoadU(d, from + lanes);
    // Both are used twice; the compiler would otherwise load them twice.
    asm("" : "+v"(low.raw), "+v"(high.raw));
    re = hn::ConcatEven(d, high, low);
    im = hn::ConcatOdd(d, high, low);
#else
    hn::LoadInterleaved2(d, from, re, im);
#endif
}

HWY_INLINE void store_complex(Ops::V re, Ops::V im, float* to) {
    hn::StoreInterleaved2(re, im, d, to);
}

template <int layers>
HWY_INLINE void store_layers(const Column<Ops, layers>& x, float* to) {
    store_symbols<layers>(x.re, x.im, to);
}

template <int layers>
HWY_INLINE void store_noise(const Ops::V* noise, float* to) {
    if constexpr (layers == 1) {
        hn::StoreU(noise[0], d, to);
    } else if constexpr (layers == 2) {
        hn::StoreInterleaved2(noise[0], noise[1], d, to);
    } else if constexpr (layers == 3) {
        hn::StoreInterleaved3(noise[0], noise[1], noise[2], d, to);
    } else {
        hn::StoreInterleaved4(noise[0], noise[1], noise[2], noise[3], d, to);
    }
}

#include "phy/equalizer/host/rows.inc"

}  // namespace

extern constinit const EqualizerKernels equalizer_kernels_of_target;
constinit const EqualizerKernels equalizer_kernels_of_target = make_equalizer_kernels();

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const EqualizerKernels& equalizer_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<EqualizerKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(equalizer_kernels_of_target);
    return kernels_of(backend, scalar_equalizer_kernels, by_target);
}

}  // namespace phy::detail
#endif
