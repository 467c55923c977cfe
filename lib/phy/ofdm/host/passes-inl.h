// The passes of a transform whose stride is a multiple of the number of lanes, so that vectors hold
// neighbours throughout.
#if defined(PHY_OFDM_PASSES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_PASSES_INL_H_
#undef PHY_OFDM_PASSES_INL_H_
#else
#define PHY_OFDM_PASSES_INL_H_
#endif

#include "phy/ofdm/host/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// Inputs of a butterfly that lie `step` apart.
template <int radix>
PHY_INLINE void load_points(const Planes& in, std::size_t at, std::size_t step, Complex<Ops> (&x)[radix]) {
    PHY_UNROLL
    for (int k = 0; k < radix; ++k)
        x[k] = load(in, at + static_cast<std::size_t>(k) * step);
}

template <int radix>
PHY_INLINE void store_points(const Complex<Ops> (&x)[radix], const Planes& out, std::size_t at,
                             std::size_t step) {
    PHY_UNROLL
    for (int k = 0; k < radix; ++k)
        store(x[k], out, at + static_cast<std::size_t>(k) * step);
}

template <int radix>
PHY_INLINE void multiply_points(const float* factors, Complex<Ops> (&x)[radix]) {
    PHY_UNROLL
    for (int k = 1; k < radix; ++k)
        x[k] = product<Ops>(x[k], all_lanes(factors + 2 * (k - 1)));
}

/// stride: that of the pass, times the transforms that lie side by side.
template <int radix>
void run_pass(const FftPass& pass, std::size_t stride, const float* table, const Planes& in,
              const Planes& out) {
    const std::size_t step = stride * pass.groups;
    for (std::size_t p = 0; p < pass.groups; ++p) {
        const float* const factors = table + pass.factors + 2 * (radix - 1) * p;
        for (std::size_t q = 0; q < stride; q += lanes) {
            Complex<Ops> x[radix];
            load_points(in, q + stride * p, step, x);
            dft<Ops>(x);
            multiply_points(factors, x);
            store_points(x, out, q + stride * radix * p, stride);
        }
    }
}

template <int radix>
void run_last_pass(std::size_t stride, const Planes& in, const Planes& out) {
    for (std::size_t q = 0; q < stride; q += lanes) {
        Complex<Ops> x[radix];
        load_points(in, q, stride, x);
        dft<Ops>(x);
        store_points(x, out, q, stride);
    }
}

template <int radix>
void run_any_pass(const FftPass& pass, std::size_t stride, const float* table, const Planes& in,
                  const Planes& out) {
    if (pass.groups == 1)
        run_last_pass<radix>(stride, in, out);
    else
        run_pass<radix>(pass, stride, table, in, out);
}

/// The passes from `first` on of as many transforms as lie side by side; in is one of the two planes.
inline Planes run_passes(const Fft& fft, std::size_t first, std::size_t side_by_side, const TwoPlanes& work,
                         std::size_t in) {
    for (std::size_t i = first; i < fft.passes; ++i, in = 1 - in) {
        const FftPass& pass = fft.pass[i];
        const std::size_t stride = pass.stride * side_by_side;
        if (pass.radix == 8)
            run_any_pass<8>(pass, stride, fft.table, work[in], work[1 - in]);
        else if (pass.radix == 4)
            run_any_pass<4>(pass, stride, fft.table, work[in], work[1 - in]);
        else if (pass.radix == 3)
            run_any_pass<3>(pass, stride, fft.table, work[in], work[1 - in]);
        else
            run_any_pass<5>(pass, stride, fft.table, work[in], work[1 - in]);
    }
    return work[in];
}

inline Planes transform_lanes(const Fft& fft, const TwoPlanes& work) {
    return run_passes(fft, 0, lanes, work, 0);
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
