// Transforms and products of complex numbers.
#if defined(PHY_OFDM_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_KERNELS_INL_H_
#undef PHY_OFDM_KERNELS_INL_H_
#else
#define PHY_OFDM_KERNELS_INL_H_
#endif

#include "phy/ofdm/host/passes-inl.h"
#include "phy/ofdm/host/transpose-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

/// i: the first butterfly in the vectors.
template <int radix>
PHY_INLINE void multiply_by_spread(const float* factors, std::size_t i, Complex<Ops> (&x)[radix]) {
    const float* const of_line = factors + i / spread_line * (radix - 1) * 2 * spread_line + i % spread_line;
    for (std::size_t k = 1; k < radix; ++k) {
        const float* const of_output = of_line + 2 * (k - 1) * spread_line;
        x[k] = product<Ops>(x[k], Complex<Ops>{Lanes::load(of_output), Lanes::load(of_output + spread_line)});
    }
}

struct LoadPairs {
    const float* points;
    PHY_INLINE Complex<Ops> operator()(std::size_t i) const { return load_pairs(points + 2 * i); }
};

struct LoadPlanes {
    Planes points;
    PHY_INLINE Complex<Ops> operator()(std::size_t i) const { return load(points, i); }
};

/// For stride 1 and radix 8: vectors hold neighbouring butterflies, whose outputs lie 8 apart.
template <class Load>
PHY_INLINE void run_first_pass(const Fft& fft, const Load& load_input, const Planes& out) {
    const std::size_t butterflies = fft.pass[0].groups;
    const float* const factors = fft.table + fft.pass[0].spread_factors;
    for (std::size_t i = 0; i < butterflies; i += Lanes::count) {
        Complex<Ops> x[8];
        for (std::size_t k = 0; k < 8; ++k)
            x[k] = load_input(i + butterflies * k);
        dft<Ops>(x);
        multiply_by_spread(factors, i, x);
        const Ops::V re[8] = {x[0].re, x[1].re, x[2].re, x[3].re, x[4].re, x[5].re, x[6].re, x[7].re};
        const Ops::V im[8] = {x[0].im, x[1].im, x[2].im, x[3].im, x[4].im, x[5].im, x[6].im, x[7].im};
        store_transposed(re, out.re + 8 * i);
        store_transposed(im, out.im + 8 * i);
    }
}

#ifdef HWY_TARGET_INCLUDE
/// For stride 8 and vectors of 16 lanes, which hold the butterflies of two p.
template <int radix>
PHY_INLINE void run_second_pass(const FftPass& pass, const float* table, const Planes& in,
                                const Planes& out) {
    const std::size_t butterflies = 8 * std::size_t{pass.groups};
    const float* const factors = table + pass.spread_factors;
    for (std::size_t i = 0; i < butterflies; i += Lanes::count) {
        Complex<Ops> x[radix];
        load_points(in, i, butterflies, x);
        dft<Ops>(x);
        multiply_by_spread(factors, i, x);
        for (std::size_t k = 0; k < radix; k += 2) {
            const std::size_t at = radix * i + 8 * k;
            hn::StoreU(hn::ConcatLowerLower(d, x[k + 1].re, x[k].re), d, out.re + at);
            hn::StoreU(hn::ConcatLowerLower(d, x[k + 1].im, x[k].im), d, out.im + at);
            hn::StoreU(hn::ConcatUpperUpper(d, x[k + 1].re, x[k].re), d, out.re + at + 8 * radix);
            hn::StoreU(hn::ConcatUpperUpper(d, x[k + 1].im, x[k].im), d, out.im + at + 8 * radix);
        }
    }
}
#endif

/// The passes between the first and the last.
PHY_INLINE std::size_t run_inner_passes(const Fft& fft, const TwoPlanes& work, std::size_t in) {
#ifdef HWY_TARGET_INCLUDE
    if constexpr (Lanes::count > 8) {
        if (fft.pass[1].radix == 8)
            run_second_pass<8>(fft.pass[1], fft.table, work[in], work[1 - in]);
        else
            run_second_pass<4>(fft.pass[1], fft.table, work[in], work[1 - in]);
        return run_passes(fft, 2, 1, work, 1 - in);
    }
#endif
    return run_passes(fft, 1, 1, work, in);
}

void transform(const Fft& fft, const void* points, const TwoPlanes& work, const Elements& elements) {
    run_first_pass(fft, LoadPairs{static_cast<const float*>(points)}, work[0]);
    finish(fft, 1, work[run_inner_passes(fft, work, 0)], ToElements(elements, fft.size));
}

Planes transform_planes(const Fft& fft, const TwoPlanes& work) {
    run_first_pass(fft, LoadPlanes{work[0]}, work[1]);
    const std::size_t in = run_inner_passes(fft, work, 1);
    finish(fft, 1, work[in], ToPlanes{work[1 - in]});
    return work[1 - in];
}

Planes transform_lanes(const Fft& fft, const TwoPlanes& work) {
    const std::size_t in = run_passes(fft, 0, Lanes::count, work, 0);
    finish(fft, Lanes::count, work[in], ToPlanes{work[1 - in]});
    return work[1 - in];
}

void scale(const Planes& in, std::size_t count, float factor, float* out) {
    const auto by = Ops::set(factor);
    for (std::size_t i = 0; i < count; i += Lanes::count)
        store_pairs(scaled<Ops>(load(in, i), by), out + 2 * i);
}

void multiply(const float* in, const float* factors, std::size_t count, float* out) {
    for (std::size_t i = 0; i < 2 * count; i += 2 * Lanes::count)
        store_pairs(product<Ops>(load_pairs(in + i), load_pairs(factors + i)), out + i);
}

constexpr FftKernels kernels = {.lanes = Lanes::count,
                                .transform = &transform,
                                .transform_planes = &transform_planes,
                                .transform_lanes = &transform_lanes,
                                .scale = &scale,
                                .multiply = &multiply};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
