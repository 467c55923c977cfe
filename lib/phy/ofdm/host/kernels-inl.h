// Transforms and products of complex numbers.
#if defined(PHY_OFDM_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_KERNELS_INL_H_
#undef PHY_OFDM_KERNELS_INL_H_
#else
#define PHY_OFDM_KERNELS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/butterfly-inl.h"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

// Passes whose stride is a multiple of the number of lanes, so that vectors hold neighbours throughout.

PHY_INLINE Complex<Ops> load(const Planes& from, std::size_t at) {
    return {Lanes::load(from.re + at), Lanes::load(from.im + at)};
}

PHY_INLINE void store(const Complex<Ops>& numbers, const Planes& to, std::size_t at) {
    Lanes::store(numbers.re, to.re + at);
    Lanes::store(numbers.im, to.im + at);
}

PHY_INLINE Complex<Ops> all_lanes(const float* pair) {
    return {Ops::set(pair[0]), Ops::set(pair[1])};
}

/// Complex numbers stored as pairs, at any address.
PHY_INLINE Complex<Ops> load_pairs(const void* from) {
    Complex<Ops> numbers;
    Lanes::load_pairs(static_cast<const float*>(from), numbers.re, numbers.im);
    return numbers;
}

PHY_INLINE void store_pairs(const Complex<Ops>& numbers, float* to) {
    Lanes::store_pairs(numbers.re, numbers.im, to);
}

/// Inputs of a butterfly, `step` apart.
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

/// stride: that of the pass times the number of transforms side by side.
template <int radix>
void run_pass(const FftPass& pass, std::size_t stride, const float* table, const Planes& in,
              const Planes& out) {
    const std::size_t step = stride * pass.groups;
    for (std::size_t p = 0; p < pass.groups; ++p) {
        const float* const factors = table + pass.factors + 2 * (radix - 1) * p;
        for (std::size_t q = 0; q < stride; q += Lanes::count) {
            Complex<Ops> x[radix];
            load_points(in, q + stride * p, step, x);
            dft<Ops>(x);
            multiply_points(factors, x);
            store_points(x, out, q + stride * radix * p, stride);
        }
    }
}

/// Where the last pass writes: to planes in order, or to elements. first: bin of x[0]; step: bins from x[i]
/// to x[i + 1].
struct ToPlanes {
    Planes out;

    template <int radix>
    PHY_INLINE void operator()(const Complex<Ops> (&x)[radix], std::size_t first, std::size_t step) const {
        store_points(x, out, first, step);
    }
};

/// True if all numbers are finite. May be false for finite numbers that are too large to be added.
template <int count>
PHY_INLINE bool surely_finite(const Complex<Ops> (&numbers)[count]) {
    Complex<Ops> total = numbers[0];
    PHY_UNROLL
    for (int k = 1; k < count; ++k)
        total = sum<Ops>(total, numbers[k]);
    const auto size = Ops::abs(Ops::add(total.re, total.im));
    return Lanes::all(Lanes::less(size, Ops::set(std::numeric_limits<float>::infinity())));
}

class ToElements {
public:
    ToElements(const Elements& elements, std::size_t size)
        : elements_(elements), size_(size), factor_(all_lanes(elements.factor)) {}

    template <int radix>
    PHY_INLINE void operator()(Complex<Ops> (&x)[radix], std::size_t first, std::size_t step) const {
        PHY_UNROLL
        for (int k = 0; k < radix; ++k)
            x[k] = product<Ops>(x[k], factor_);
        if (!surely_finite(x)) {
            for (int k = 0; k < radix; ++k)
                x[k] = with_one_nan<Ops>(x[k]);
        }
        PHY_UNROLL
        for (int k = 0; k < radix; ++k)
            store_bins(x[k], first + static_cast<std::size_t>(k) * step);
    }

private:
    PHY_INLINE void store_bins(const Complex<Ops>& bins, std::size_t first) const {
        std::size_t element = first + elements_.zero;
        if (element >= size_) element -= size_;
        if (element + Lanes::count <= elements_.count)
            store_pairs(bins, elements_.out + 2 * element);
        else if (element < elements_.count || element + Lanes::count > size_)
            store_some(bins, element);
    }

    void store_some(const Complex<Ops>& bins, std::size_t first) const {
        alignas(64) float pairs[2 * Lanes::count];
        store_pairs(bins, pairs);
        for (std::size_t i = 0; i < Lanes::count; ++i) {
            const std::size_t element = first + i < size_ ? first + i : first + i - size_;
            if (element < elements_.count)
                std::memcpy(elements_.out + 2 * element, pairs + 2 * i, 2 * sizeof(float));
        }
    }

    Elements elements_;
    std::size_t size_;
    Complex<Ops> factor_;
};

template <int radix, class Store>
PHY_INLINE void run_last_pass(std::size_t stride, const Planes& in, const Store& store_bins) {
    for (std::size_t q = 0; q < stride; q += Lanes::count) {
        Complex<Ops> x[radix];
        load_points(in, q, stride, x);
        dft<Ops>(x);
        store_bins(x, q, stride);
    }
}

/// Calls visit with the radix of a pass as a constant.
template <class Visitor>
PHY_INLINE void with_radix(std::uint32_t radix, const Visitor& visit) {
    if (radix == 8)
        visit.template run<8>();
    else if (radix == 4)
        visit.template run<4>();
    else if (radix == 3)
        visit.template run<3>();
    else
        visit.template run<5>();
}

struct RunPass {
    const FftPass& pass;
    std::size_t stride;
    const float* table;
    const Planes& in;
    const Planes& out;

    template <int radix>
    PHY_INLINE void run() const {
        run_pass<radix>(pass, stride, table, in, out);
    }
};

template <class Store>
struct RunLastPass {
    std::size_t stride;
    const Planes& in;
    const Store& store_bins;

    template <int radix>
    PHY_INLINE void run() const {
        run_last_pass<radix>(stride, in, store_bins);
    }
};

/// Runs the passes from `first` on except the last, for all transforms side by side. in: index of the plane
/// with the inputs. Returns that of the outputs.
inline std::size_t run_passes(const Fft& fft, std::size_t first, std::size_t side_by_side,
                              const TwoPlanes& work, std::size_t in) {
    for (std::size_t i = first; i + 1 < fft.passes; ++i, in = 1 - in) {
        const FftPass& pass = fft.pass[i];
        with_radix(pass.radix, RunPass{pass, pass.stride * side_by_side, fft.table, work[in], work[1 - in]});
    }
    return in;
}

template <class Store>
void finish(const Fft& fft, std::size_t side_by_side, const Planes& in, const Store& store_bins) {
    const FftPass& last = fft.pass[fft.passes - 1];
    with_radix(last.radix, RunLastPass<Store>{last.stride * side_by_side, in, store_bins});
}

// Stores eight vectors transposed, for the first pass: element i of vector k goes to out[8 i + k].

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
HWY_INLINE void store_transposed(const Ops::V (&x)[8], float* out) {
    // Pairs of neighbouring vectors; then pairs of pairs, and pairs of those, by halves of a vector.
    const __m512i low_pairs = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high_pairs = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const __m512i low_blocks = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high_blocks = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int half = 0; half < 2; ++half) {
        __m512d pairs[4];
        for (int k = 0; k < 4; ++k)
            pairs[k] = _mm512_castps_pd(half == 0 ? _mm512_unpacklo_ps(x[2 * k].raw, x[2 * k + 1].raw)
                                                  : _mm512_unpackhi_ps(x[2 * k].raw, x[2 * k + 1].raw));
        for (int part = 0; part < 2; ++part) {
            const __m512i by = part == 0 ? low_pairs : high_pairs;
            const __m512d a = _mm512_permutex2var_pd(pairs[0], by, pairs[1]);
            const __m512d b = _mm512_permutex2var_pd(pairs[2], by, pairs[3]);
            float* const to = out + 16 * half + 64 * part;
            _mm512_storeu_ps(to, _mm512_castpd_ps(_mm512_permutex2var_pd(a, low_blocks, b)));
            _mm512_storeu_ps(to + 32, _mm512_castpd_ps(_mm512_permutex2var_pd(a, high_blocks, b)));
        }
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
        hn::StoreU(hn::ConcatLowerLower(d, b[i], a[i]), d, out + 8 * i);
        hn::StoreU(hn::ConcatUpperUpper(d, b[i], a[i]), d, out + 8 * (i + 4));
#else
        hn::StoreU(a[i], d, out + 8 * i);
        hn::StoreU(b[i], d, out + 8 * i + 4);
#endif
    }
}
#endif
#else
inline void store_transposed(const float (&x)[8], float* out) {
    std::memcpy(out, x, sizeof x);
}
#endif

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
