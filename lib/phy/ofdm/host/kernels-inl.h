// Transforms and products of complex numbers.
#if defined(PHY_OFDM_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_KERNELS_INL_H_
#undef PHY_OFDM_KERNELS_INL_H_
#else
#define PHY_OFDM_KERNELS_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/host/passes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

// Stores eight vectors transposed, for the first pass: element i of vector k is number 8 i + k, of which
// `out` has the real or the imaginary parts. With 16 lanes the numbers of i and i + 1, i even, alternate.

#ifdef HWY_TARGET_INCLUDE
constexpr hn::Repartition<double, decltype(d)> d_pairs;

/// Transposes each block of four lanes: element i of the four vectors becomes the block of y[i].
HWY_INLINE void transpose_blocks(Ops::V x0, Ops::V x1, Ops::V x2, Ops::V x3, Ops::V (&y)[4]) {
    const auto low01 = hn::BitCast(d_pairs, hn::InterleaveLower(d, x0, x1));
    const auto low23 = hn::BitCast(d_pairs, hn::InterleaveLower(d, x2, x3));
    const auto high01 = hn::BitCast(d_pairs, hn::InterleaveUpper(d, x0, x1));
    const auto high23 = hn::BitCast(d_pairs, hn::InterleaveUpper(d, x2, x3));
    y[0] = hn::BitCast(d, hn::InterleaveLower(d_pairs, low01, low23));
    y[1] = hn::BitCast(d, hn::InterleaveUpper(d_pairs, low01, low23));
    y[2] = hn::BitCast(d, hn::InterleaveLower(d_pairs, high01, high23));
    y[3] = hn::BitCast(d, hn::InterleaveUpper(d_pairs, high01, high23));
}

#if HWY_TARGET == HWY_AVX3
/// Two numbers again and again.
HWY_INLINE Ops::V every_two_lanes(const float* pair) {
    double bits;
    std::memcpy(&bits, pair, sizeof bits);
    return Ops::V{_mm512_castpd_ps(_mm512_set1_pd(bits))};
}

/// The same for the pairs that the two elements of an even and an odd i are.
HWY_INLINE void store_transposed(const Ops::V (&x)[8], float* out) {
    for (int odd = 0; odd < 2; ++odd) {
        __m512d pairs[4];  // of two vectors, in lanes of 128 bits for i = 2 odd, 4 + 2 odd, ...
        for (int k = 0; k < 4; ++k) {
            const __m512d a = _mm512_castps_pd(x[2 * k].raw);
            const __m512d b = _mm512_castps_pd(x[2 * k + 1].raw);
            pairs[k] = odd == 0 ? _mm512_unpacklo_pd(a, b) : _mm512_unpackhi_pd(a, b);
        }
        const __m512d low01 = _mm512_shuffle_f64x2(pairs[0], pairs[1], 0x44);
        const __m512d low23 = _mm512_shuffle_f64x2(pairs[2], pairs[3], 0x44);
        const __m512d high01 = _mm512_shuffle_f64x2(pairs[0], pairs[1], 0xEE);
        const __m512d high23 = _mm512_shuffle_f64x2(pairs[2], pairs[3], 0xEE);
        float* const to = out + 32 * odd;
        _mm512_storeu_ps(to, _mm512_castpd_ps(_mm512_shuffle_f64x2(low01, low23, 0x88)));
        _mm512_storeu_ps(to + 64, _mm512_castpd_ps(_mm512_shuffle_f64x2(low01, low23, 0xDD)));
        _mm512_storeu_ps(to + 128, _mm512_castpd_ps(_mm512_shuffle_f64x2(high01, high23, 0x88)));
        _mm512_storeu_ps(to + 192, _mm512_castpd_ps(_mm512_shuffle_f64x2(high01, high23, 0xDD)));
    }
}
#else
HWY_INLINE void store_transposed(const Ops::V (&x)[8], float* out) {
    Ops::V a[4];
    Ops::V b[4];
    transpose_blocks(x[0], x[1], x[2], x[3], a);
    transpose_blocks(x[4], x[5], x[6], x[7], b);
    for (std::size_t i = 0; i < 4; ++i) {
#if HWY_TARGET == HWY_AVX2
        hn::StoreU(hn::ConcatLowerLower(d, b[i], a[i]), d, out + 16 * i);
        hn::StoreU(hn::ConcatUpperUpper(d, b[i], a[i]), d, out + 16 * (i + 4));
#else
        hn::StoreU(a[i], d, out + 16 * i);
        hn::StoreU(b[i], d, out + 16 * i + 8);
#endif
    }
}
#endif
#else
inline void store_transposed(const float (&x)[8], float* out) {
    for (std::size_t k = 0; k < 8; ++k)
        out[2 * k] = x[k];
}
#endif

namespace {

struct LoadPairs {
    const float* in;
    std::size_t apart;
    LoadPairs(const float* first, std::size_t distance) : in(opaque(first)), apart(distance) {}
    PHY_INLINE Complex<Ops> operator()(std::size_t k) const { return load_pairs(in + k * apart); }
};

/// For stride 1 and radix 8: vectors hold neighbouring butterflies, whose outputs lie 8 apart.
PHY_INLINE void run_first_pass(const Fft& fft, const float* points, float* out) {
    const std::size_t butterflies = fft.pass[0].groups;
    const float* const table = fft.table + fft.pass[0].side_by_side;
    for (std::size_t i = 0; i < butterflies; i += Lanes::count) {
        const float* const factors = table + i / first_together * 7 * 2 * first_together + i % first_together;
        Complex<Ops> x[8];
        dft_of(LoadPairs(points + 2 * i, 2 * butterflies), x);
        for (std::size_t k = 1; k < 8; ++k) {
            const float* const re = factors + 2 * (k - 1) * first_together;
            x[k] = product<Ops>(x[k], Complex<Ops>{Lanes::load(re), Lanes::load(re + first_together)});
        }
        const Ops::V re[8] = {x[0].re, x[1].re, x[2].re, x[3].re, x[4].re, x[5].re, x[6].re, x[7].re};
        const Ops::V im[8] = {x[0].im, x[1].im, x[2].im, x[3].im, x[4].im, x[5].im, x[6].im, x[7].im};
        store_transposed(re, out + 16 * i);
        store_transposed(im, out + 16 * i + Lanes::count);
    }
}

/// For stride 8. With 16 lanes, even lanes hold the butterflies of one group, odd lanes those of the next.
template <int radix>
PHY_INLINE void run_second_pass(const Fft& fft, const float* in, float* out) {
    const FftPass& pass = fft.pass[1];
    const std::size_t apart = 16 * std::size_t{pass.groups};
    constexpr std::size_t step = 2 * (8 * radix + row_padding);
#if HWY_TARGET == HWY_AVX3 && defined(HWY_TARGET_INCLUDE)
    const float* factors = fft.table + pass.side_by_side;
    for (std::size_t p = 0; p < pass.groups; p += 2, factors += 4 * (radix - 1)) {
        Complex<Ops> x[radix];
        dft_of(LoadVectors(in + 16 * p, apart), x);
        for (std::size_t k = 1; k < radix; ++k)
            x[k] = product<Ops>(x[k], Complex<Ops>{every_two_lanes(factors + 4 * (k - 1)),
                                                   every_two_lanes(factors + 4 * (k - 1) + 2)});
        float* const to = out + p * step;
        for (std::size_t k = 0; k < radix; k += 2) {
            const Complex<Ops>& a = x[k];
            const Complex<Ops>& b = x[k + 1];
            store({hn::ConcatEven(d, b.re, a.re), hn::ConcatEven(d, b.im, a.im)}, to + 16 * k);
            store({hn::ConcatOdd(d, b.re, a.re), hn::ConcatOdd(d, b.im, a.im)}, to + step + 16 * k);
        }
    }
#else
    const float* factors = fft.table + pass.factors;
    for (std::size_t p = 0; p < pass.groups; ++p, factors += 2 * (radix - 1)) {
        for (std::size_t lane = 0; lane < 8; lane += Lanes::count) {
            Complex<Ops> x[radix];
            dft_of(LoadVectors(in + 2 * (8 * p + lane), apart), x);
            store_products(x, factors, out + p * step + 2 * lane, 16);
        }
    }
#endif
}

/// The first two passes. The first one reads along few rows, as memory likes it.
PHY_INLINE void run_first_passes(const Fft& fft, const float* points, float* between, float* out) {
    run_first_pass(fft, points, between);
    if (fft.pass[1].radix == 8)
        run_second_pass<8>(fft, between, out);
    else
        run_second_pass<4>(fft, between, out);
}

/// The passes after the second, by blocks of columns that stay in the nearest cache.
template <class To>
PHY_INLINE void run_later_passes(const Fft& fft, float* in, float* block, const To& bins) {
    const std::size_t stride = fft.pass[2].stride;
    const std::size_t points = fft.size / stride;
    std::size_t width = stride;
    while (width > Lanes::count && points * width > points_of_block)
        width /= 2;
    for (std::size_t q = 0; q < stride; q += width)
        run_passes(fft, 2, {in + 2 * q, stride + row_padding, width}, {block, block + 2 * points * width}, q,
                   bins);
}

void transform(const Fft& fft, const float* points, const FftWork& work, const Elements& elements) {
    run_first_passes(fft, points, work[1], work[0]);
    run_later_passes(fft, work[0], work[1], ToElements(elements, fft.size));
}

void transform_in_place(const Fft& fft, float* points, const FftWork& work) {
    run_first_passes(fft, points, work[1], work[0]);
    run_later_passes(fft, work[0], work[1], ToPairs{points});
}

float* transform_lanes(const Fft& fft, const FftWork& work) {
    float* const bins = work[fft.passes % 2];
    run_passes(fft, 0, {work[0], Lanes::count, Lanes::count}, {work[1], work[0]}, 0, ToVectors{bins});
    return bins;
}

void scale(const float* in, std::size_t count, float factor, float* out) {
    const auto by = Ops::set(factor);
    for (std::size_t i = 0; i < 2 * count; i += 2 * Lanes::count)
        store_pairs(scaled<Ops>(load(in + i), by), out + i);
}

void multiply(const float* in, const float* factors, std::size_t count, float* out) {
    for (std::size_t i = 0; i < 2 * count; i += 2 * Lanes::count)
        store_pairs(product<Ops>(load_pairs(in + i), load_pairs(factors + i)), out + i);
}

constexpr FftKernels kernels = {.lanes = Lanes::count,
                                .transform = &transform,
                                .transform_in_place = &transform_in_place,
                                .transform_lanes = &transform_lanes,
                                .scale = &scale,
                                .multiply = &multiply};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
