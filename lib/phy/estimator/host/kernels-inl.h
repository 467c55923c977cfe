// The arithmetic of the estimator on arrays.
#if defined(PHY_ESTIMATOR_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_ESTIMATOR_KERNELS_INL_H_
#undef PHY_ESTIMATOR_KERNELS_INL_H_
#else
#define PHY_ESTIMATOR_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "phy/estimator/host/kernels.hpp"
#include "phy/estimator/host/matrix-inl.h"
#include "phy/estimator/math/formulas-inl.h"
#include "phy/estimator/math/layout.hpp"
#include "phy/estimator/math/profile-inl.h"
#include "phy/reduce/lanes.hpp"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

using V = Ops::V;
using C = ComplexOf<Ops>;
constexpr int width = static_cast<int>(Lanes::count);
constexpr int vectors = estimator_lanes / width;

// Loads and stores of at most `left` elements, from an address up or, reversed, from an address down.

PHY_INLINE V load(const float* from, int left) {
    if (left >= width) return Lanes::load(from);
    alignas(64) float some[width] = {};
    std::memcpy(some, from, static_cast<std::size_t>(left) * sizeof(float));
    return Lanes::load(some);
}
PHY_INLINE V load_reversed(const float* from, int left) {
    if (left >= width) return Lanes::reversed(Lanes::load(from - (width - 1)));
    alignas(64) float some[width] = {};
    for (int i = 0; i < left; ++i)
        some[i] = from[-i];
    return Lanes::load(some);
}
PHY_INLINE void store(V v, float* to, int left) {
    if (left >= width) return Lanes::store(v, to);
    alignas(64) float some[width];
    Lanes::store(v, some);
    std::memcpy(to, some, static_cast<std::size_t>(left) * sizeof(float));
}
PHY_INLINE void store_reversed(V v, float* to, int left) {
    if (left >= width) return Lanes::store(Lanes::reversed(v), to - (width - 1));
    alignas(64) float some[width];
    Lanes::store(v, some);
    for (int i = 0; i < left; ++i)
        to[-i] = some[i];
}

PHY_INLINE C load(SplitComplex from, int at, int left) {
    return {load(from.re + at, left), load(from.im + at, left)};
}
PHY_INLINE C load_reversed(SplitComplex from, int at, int left) {
    return {load_reversed(from.re - at, left), load_reversed(from.im - at, left)};
}
PHY_INLINE void store(C x, SplitComplexOut to, int at, int left) {
    store(x.re, to.re + at, left);
    store(x.im, to.im + at, left);
}

bool least_squares(SplitComplex received, SplitComplex pilots, float scale, SplitComplexOut out, int count) {
    const V one = Ops::set(1.0F);
    V spoiled = Ops::set(0.0F);
    for (int i = 0; i < count; i += width) {
        const int left = count - i;
        V room;
        store(detail::PHY_TARGET::least_squares(load(received, i, left), load(pilots, i, left),
                                                Ops::set(scale), room),
              out, i, left);
        spoiled = Ops::max(spoiled, Ops::sub(one, Ops::where_positive(room, one)));
    }
    float lanes[width];
    store(spoiled, lanes, width);
    return std::all_of(lanes, lanes + width, [](float lane) { return lane == 0.0F; });
}

void row_sums(SplitComplex pilots, int count, float* lanes) {
    const SplitComplexOut sums = {lanes + estimator_lanes, lanes + 2 * estimator_lanes};
    for (int v = 0; v < vectors; ++v) {
        V energy = load(lanes + v * width, width);
        C neighbours = load({sums.re, sums.im}, v * width, width);
        for (int i = v * width; i < count; i += estimator_lanes) {
            const C x = load(pilots, i, width);
            energy = Ops::fma(x.im, x.im, Ops::fma(x.re, x.re, energy));
            neighbours = add_correlation(neighbours, x, load(pilots, i + 1, width));
        }
        store(energy, lanes + v * width, width);
        store(neighbours, sums, v * width, width);
    }
}

void correlate(SplitComplex x, SplitComplex y, int count, float* lanes) {
    const SplitComplexOut sums = {lanes, lanes + estimator_lanes};
    for (int v = 0; v < vectors; ++v) {
        C sum = load({sums.re, sums.im}, v * width, width);
        for (int i = v * width; i < count; i += estimator_lanes)
            sum = add_correlation(sum, load(x, i, width), load(y, i, width));
        store(sum, sums, v * width, width);
    }
}

void dot(const float* x, const float* y, const float* keep, int count, float* lanes) {
    V sums[vectors];
    for (int v = 0; v < vectors; ++v)
        sums[v] = load(lanes + v * width, width);
    for (int i = 0; i < count; i += estimator_lanes) {
        for (int v = 0; v < vectors; ++v) {
            const int at = i + v * width;
            if (at >= count) break;
            V factor = load(x + at, count - at);
            if (keep != nullptr) factor = Ops::mul(factor, load(keep + at, count - at));
            sums[v] = Ops::fma(factor, load(y + at, count - at), sums[v]);
        }
    }
    for (int v = 0; v < vectors; ++v)
        store(sums[v], lanes + v * width, width);
}

void residuals(const EstimatorResidualRows& rows, SplitComplexOut out, int count) {
    const C phase = {Ops::set(rows.phase_re), Ops::set(rows.phase_im)};
    for (int k = 0; k < count; k += width) {
        const int left = count - k;
        C sum = {Ops::set(0.0F), Ops::set(0.0F)};
        const float* channel = rows.channel + k;
        const float* signs = rows.signs + k;
        for (int layer = 0; layer < rows.layers; ++layer) {
            const V sign = load(signs, left);
            sum.re = Ops::fma(sign, load(channel, left), sum.re);
            sum.im = Ops::fma(sign, load(channel + rows.of_channel, left), sum.im);
            channel += 2 * rows.of_channel;
            signs += rows.of_signs;
        }
        C received;
        Lanes::load_pairs(rows.received + 2 * k, received.re, received.im);
        store(residual_of<Ops>(received, load(rows.pilots, k, left), times(phase, sum)), out, k, left);
    }
}

void sum_products(SplitComplex x, SplitComplex y, int count, float* sum) {
    alignas(64) float re[estimator_lanes];
    alignas(64) float im[estimator_lanes];
    for (int v = 0; v < vectors; ++v) {
        const V zero = Ops::set(0.0F);
        V sums[4] = {zero, zero, zero, zero};
        for (int at = v * width; at < count; at += estimator_lanes) {
            const C a = load(x, at, count - at);
            const C b = load(y, at, count - at);
            sums[0] = Ops::fma(a.re, b.re, sums[0]);
            sums[1] = Ops::fma(a.im, b.im, sums[1]);
            sums[2] = Ops::fma(a.im, b.re, sums[2]);
            sums[3] = Ops::fma(a.re, b.im, sums[3]);
        }
        Lanes::store(Ops::add(sums[0], sums[1]), re + v * width);
        Lanes::store(Ops::sub(sums[2], sums[3]), im + v * width);
    }
    sum[0] = sum_of_lanes<estimator_lanes>(re);
    sum[1] = sum_of_lanes<estimator_lanes>(im);
}

void rotate(const float* index, float step, SplitComplexOut out, int count) {
    for (int i = 0; i < count; i += width)
        store(phasor<Ops>(load(index + i, count - i), Ops::set(step)), out, i, count - i);
}

void combine(const SplitComplex* rows, const SplitComplex* weights, int rows_count, SplitComplex ramp,
             SplitComplexOut out, int count) {
    for (int i = 0; i < count; i += width) {
        const int left = count - i;
        C sum = {Ops::set(0.0F), Ops::set(0.0F)};
        for (int row = 0; row < rows_count; ++row) {
            const C weight = {Ops::set(*weights[row].re), Ops::set(*weights[row].im)};
            sum = add_product(sum, weight, load(rows[row], i, left));
        }
        store(times(sum, load(ramp, i, left)), out, i, left);
    }
}

void fold(SplitComplex x, SplitComplex mirror, int half, SplitComplexOut out, int distance) {
    for (int i = 0; i < half; i += width) {
        const int left = half - i;
        const C here = load(x, i, left);
        const C there = load_reversed(mirror, i, left);
        store(folded_sum(here, there), out, i, left);
        store(folded_difference(here, there), out, distance + i, left);
    }
}

/// Keeps `wide` vectors of rows times `deep` columns in registers.
template <int wide, int deep>
PHY_INLINE void multiply_block(const float* a, std::ptrdiff_t a_stride, int k_count, const float* x,
                               std::ptrdiff_t x_stride, float* y, std::ptrdiff_t y_stride, bool accumulates) {
    Ops::V sums[deep][wide];
    for (int c = 0; c < deep; ++c)
        for (int n = 0; n < wide; ++n)
            sums[c][n] = accumulates ? Lanes::load(y + c * y_stride + n * width) : Ops::set(0.0F);
    for (int k = 0; k < k_count; ++k, a += a_stride) {
        Ops::V row[wide];
        for (int n = 0; n < wide; ++n)
            row[n] = Lanes::load(a + n * width);
        for (int c = 0; c < deep; ++c) {
            const auto factor = Ops::set(x[c * x_stride + k]);
            for (int n = 0; n < wide; ++n)
                sums[c][n] = Ops::fma(row[n], factor, sums[c][n]);
        }
    }
    for (int c = 0; c < deep; ++c)
        for (int n = 0; n < wide; ++n)
            Lanes::store(sums[c][n], y + c * y_stride + n * width);
}

template <int wide>
PHY_INLINE void multiply_rows(const float* a, std::ptrdiff_t a_stride, int k_count, const float* x,
                              std::ptrdiff_t x_stride, float* y, std::ptrdiff_t y_stride, int columns,
                              bool accumulates) {
    constexpr int deep = width >= 16 ? 8 : width > 1 ? 4 : 1;
    int c = 0;
    for (; c + deep <= columns; c += deep)
        multiply_block<wide, deep>(a, a_stride, k_count, x + c * x_stride, x_stride, y + c * y_stride,
                                   y_stride, accumulates);
    for (; c + 2 <= columns; c += 2)
        multiply_block<wide, 2>(a, a_stride, k_count, x + c * x_stride, x_stride, y + c * y_stride, y_stride,
                                accumulates);
    if (c < columns)
        multiply_block<wide, 1>(a, a_stride, k_count, x + c * x_stride, x_stride, y + c * y_stride, y_stride,
                                accumulates);
}

void multiply(const float* a, int a_stride, int k_count, const float* x, int x_stride, float* y, int y_stride,
              int columns, int n_count, bool accumulates) {
    // The scalar fma may be a call, across which sums are not kept in registers.
    constexpr int widest = width > 1 ? 3 : 1;
    int n = 0;
    for (; n + widest * width <= n_count; n += widest * width)
        multiply_rows<widest>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, columns, accumulates);
    for (; n + 2 * width <= n_count; n += 2 * width)
        multiply_rows<2>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, columns, accumulates);
    for (; n < n_count; n += width)
        multiply_rows<1>(a + n, a_stride, k_count, x, x_stride, y + n, y_stride, columns, accumulates);
}

void add_powers(const float* lanes_of_bins, int bins, float* to) {
    for (int i = 0; i < bins; ++i) {
        const float* const re = lanes_of_bins + 2 * i * width;
        const C x = {Lanes::load(re), Lanes::load(re + width)};
        float* const sum = to + i * estimator_transform_lanes;
        store(Ops::add(load(sum, width), power_of<Ops>(x)), sum, width);
    }
}

/// Keeps `wide` vectors of y in registers.
template <int wide>
PHY_INLINE void convolve_block(const float* x, const float* kernel, int taps, float* y) {
    V sums[wide];
    for (int n = 0; n < wide; ++n)
        sums[n] = Ops::set(0.0F);
    for (int k = 0; k < taps; ++k) {
        const V factor = Ops::set(kernel[k]);
        for (int n = 0; n < wide; ++n)
            sums[n] = Ops::fma(factor, Lanes::load(x + k + n * width), sums[n]);
    }
    for (int n = 0; n < wide; ++n)
        Lanes::store(sums[n], y + n * width);
}

/// Blocks of `wide` vectors; narrower ones follow.
template <int wide>
PHY_INLINE void convolve_from(int i, const float* x, const float* kernel, int taps, float* y, int count) {
    for (; i + (wide - 1) * width < count; i += wide * width)
        convolve_block<wide>(x + i, kernel, taps, y + i);
    if constexpr (wide > 1) convolve_from<wide / 2>(i, x, kernel, taps, y, count);
}

void convolve(const float* x, const float* kernel, int taps, float* y, int count) {
    convolve_from<8>(0, x, kernel, taps, y, count);
}

void first_guesses(const float* powers, float noise, const EstimatorProfileShape& profile, float* out) {
    for (int i = 0; i < profile.extent; i += width) {
        const int left = profile.extent - i;
        store(first_guess<Ops>(load(powers + i, left), Ops::set(noise), profile), out + i, left);
    }
}

void ratios(const float* measured, const float* expected, float noise, float* out, int count) {
    for (int i = 0; i < count; i += width) {
        const int left = count - i;
        store(
            measured_over_expected<Ops>(load(measured + i, left), load(expected + i, left), Ops::set(noise)),
            out + i, left);
    }
}

void next_guesses(const float* ratios, const float* over, float* x, int count) {
    for (int i = 0; i < count; i += width) {
        const int left = count - i;
        store(next_guess<Ops>(load(x + i, left), load(ratios + i, left), load(over + i, left)), x + i, left);
    }
}

void sum_and_difference(float* x, float* y, int count) {
    for (int i = 0; i < count; i += width) {
        const int left = count - i;
        const V first = load(x + i, left);
        const V second = load(y + i, left);
        store(Ops::add(first, second), x + i, left);
        store(Ops::sub(first, second), y + i, left);
    }
}

void unfold(SplitComplex a, SplitComplex b, int count, SplitComplexOut out) {
    const SplitComplexOut last = {out.re + count - 1, out.im + count - 1};
    const int half = count / 2;
    for (int i = 0; i < half; i += width) {
        const int left = half - i;
        const C first = load(a, i, left);
        const C second = load(b, i, left);
        store(unfolded(first, second), out, i, left);
        const C mirrored = unfolded_mirror(first, second);
        store_reversed(mirrored.re, last.re - i, left);
        store_reversed(mirrored.im, last.im - i, left);
    }
    if (count % 2 == 0) return;
    out.re[half] = a.re[half];
    out.im[half] = a.im[half];
}

void rotate_back(SplitComplex x, SplitComplex y, SplitComplexOut out, int count) {
    for (int i = 0; i < count; i += width) {
        const int left = count - i;
        store(times_conjugate(load(x, i, left), load(y, i, left)), out, i, left);
    }
}

constexpr EstimatorKernels kernels = {.least_squares = &least_squares,
                                      .row_sums = &row_sums,
                                      .correlate = &correlate,
                                      .dot = &dot,
                                      .residuals = &residuals,
                                      .sum_products = &sum_products,
                                      .rotate = &rotate,
                                      .combine = &combine,
                                      .fold = &fold,
                                      .multiply = &multiply,
                                      .add_powers = &add_powers,
                                      .convolve = &convolve,
                                      .first_guesses = &first_guesses,
                                      .ratios = &ratios,
                                      .next_guesses = &next_guesses,
                                      .multiply_exactly = &multiply_exactly,
                                      .scale_delays = &scale_delays,
                                      .eliminate = &eliminate,
                                      .sum_and_difference = &sum_and_difference,
                                      .unfold = &unfold,
                                      .rotate_back = &rotate_back};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
