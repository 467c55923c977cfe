// The arithmetic of the estimator on arrays, for vectors of any width.
#if defined(PHY_ESTIMATOR_ARRAYS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_ESTIMATOR_ARRAYS_INL_H_
#undef PHY_ESTIMATOR_ARRAYS_INL_H_
#else
#define PHY_ESTIMATOR_ARRAYS_INL_H_
#endif

#include <algorithm>
#include <cstddef>

#include "phy/estimator/host/kernels.hpp"
#include "phy/estimator/math/formulas-inl.h"
#include "phy/estimator/math/layout.hpp"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// Memory defines how vectors are loaded and stored: width, load(from, left), store(v, to, left), and the
/// same for elements in reverse order from an address down.
template <class Ops, class Memory>
struct EstimatorArrays {
    using V = typename Ops::V;
    using C = ComplexOf<Ops>;
    static constexpr int width = Memory::width;
    static constexpr int vectors = estimator_lanes / width;

    static PHY_INLINE C load(Planes from, int at, int left) {
        return {Memory::load(from.re + at, left), Memory::load(from.im + at, left)};
    }
    static PHY_INLINE C load_reversed(Planes from, int at, int left) {
        return {Memory::load_reversed(from.re - at, left), Memory::load_reversed(from.im - at, left)};
    }
    static PHY_INLINE void store(C x, PlanesOut to, int at, int left) {
        Memory::store(x.re, to.re + at, left);
        Memory::store(x.im, to.im + at, left);
    }

    static bool least_squares(Planes received, Planes pilots, float scale, PlanesOut out, int count) {
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
        Memory::store(spoiled, lanes, width);
        return std::all_of(lanes, lanes + width, [](float lane) { return lane == 0.0F; });
    }

    static void row_sums(Planes pilots, int count, float* lanes) {
        V energy[vectors];
        C correlations[estimator_lags.size()][vectors];
        for (int v = 0; v < vectors; ++v) {
            energy[v] = Memory::load(lanes + v * width, width);
            for (std::size_t lag = 0; lag < estimator_lags.size(); ++lag)
                correlations[lag][v] = load(lag_lanes(lanes, lag), v * width, width);
        }
        for (int i = 0; i < count; i += estimator_lanes) {
            for (int v = 0; v < vectors; ++v) {
                const C x = load(pilots, i + v * width, width);
                energy[v] = Ops::fma(x.im, x.im, Ops::fma(x.re, x.re, energy[v]));
                for (std::size_t lag = 0; lag < estimator_lags.size(); ++lag) {
                    const C y = load(pilots, i + v * width + estimator_lags[lag], width);
                    correlations[lag][v] = add_correlation(correlations[lag][v], x, y);
                }
            }
        }
        for (int v = 0; v < vectors; ++v) {
            Memory::store(energy[v], lanes + v * width, width);
            for (std::size_t lag = 0; lag < estimator_lags.size(); ++lag) {
                const Planes at = lag_lanes(lanes, lag);
                const PlanesOut to = {const_cast<float*>(at.re), const_cast<float*>(at.im)};
                store(correlations[lag][v], to, v * width, width);
            }
        }
    }

    static void correlate(Planes x, Planes y, int count, float* lanes) {
        const PlanesOut sums = {lanes, lanes + estimator_lanes};
        for (int v = 0; v < vectors; ++v) {
            C sum = load({sums.re, sums.im}, v * width, width);
            for (int i = v * width; i < count; i += estimator_lanes)
                sum = add_correlation(sum, load(x, i, width), load(y, i, width));
            store(sum, sums, v * width, width);
        }
    }

    static void dot(const float* x, const float* y, const float* keep, int count, float* lanes) {
        V sums[vectors];
        for (int v = 0; v < vectors; ++v)
            sums[v] = Memory::load(lanes + v * width, width);
        for (int i = 0; i < count; i += estimator_lanes) {
            for (int v = 0; v < vectors; ++v) {
                const int at = i + v * width;
                if (at >= count) break;
                V factor = Memory::load(x + at, count - at);
                if (keep != nullptr) factor = Ops::mul(factor, Memory::load(keep + at, count - at));
                sums[v] = Ops::fma(factor, Memory::load(y + at, count - at), sums[v]);
            }
        }
        for (int v = 0; v < vectors; ++v)
            Memory::store(sums[v], lanes + v * width, width);
    }

    static void turn(const float* index, float step, PlanesOut out, int count) {
        for (int i = 0; i < count; i += width)
            store(turned<Ops>(Memory::load(index + i, count - i), Ops::set(step)), out, i, count - i);
    }

    static void combine(const Planes* rows, const Planes* weights, int rows_count, Planes ramp, PlanesOut out,
                        int count) {
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

    static void fold(Planes x, Planes mirror, int half, PlanesOut out, int distance) {
        for (int i = 0; i < half; i += width) {
            const int left = half - i;
            const C here = load(x, i, left);
            const C there = load_reversed(mirror, i, left);
            store(folded_sum(here, there), out, i, left);
            store(folded_difference(here, there), out, distance + i, left);
        }
    }

    static void gains(const float* lambda, float noise_over_power, float* out, int count) {
        for (int i = 0; i < count; i += width)
            Memory::store(wiener_gain<Ops>(Memory::load(lambda + i, count - i), Ops::set(noise_over_power)),
                          out + i, count - i);
    }

    static void scale(float* x, const float* factors, int count) {
        for (int i = 0; i < count; i += width)
            Memory::store(Ops::mul(Memory::load(x + i, count - i), Memory::load(factors + i, count - i)),
                          x + i, count - i);
    }

    static void sum_and_difference(float* x, float* y, int count) {
        for (int i = 0; i < count; i += width) {
            const int left = count - i;
            const V first = Memory::load(x + i, left);
            const V second = Memory::load(y + i, left);
            Memory::store(Ops::add(first, second), x + i, left);
            Memory::store(Ops::sub(first, second), y + i, left);
        }
    }

    static void unfold(Planes a, Planes b, int half, PlanesOut out) {
        const PlanesOut last = {out.re + 2 * half - 1, out.im + 2 * half - 1};
        for (int i = 0; i < half; i += width) {
            const int left = half - i;
            const C first = load(a, i, left);
            const C second = load(b, i, left);
            store(unfolded(first, second), out, i, left);
            const C mirrored = unfolded_mirror(first, second);
            Memory::store_reversed(mirrored.re, last.re - i, left);
            Memory::store_reversed(mirrored.im, last.im - i, left);
        }
    }

    static void turn_back(Planes x, Planes y, PlanesOut out, int count) {
        for (int i = 0; i < count; i += width) {
            const int left = count - i;
            store(times_conjugate(load(x, i, left), load(y, i, left)), out, i, left);
        }
    }

    static constexpr EstimatorKernels kernels(decltype(EstimatorKernels::multiply) multiply) {
        return {&least_squares, &row_sums, &correlate,          &dot,    &turn,     &combine, &fold, multiply,
                &gains,         &scale,    &sum_and_difference, &unfold, &turn_back};
    }

private:
    static PHY_INLINE Planes lag_lanes(float* lanes, std::size_t lag) {
        float* const re = lanes + (1 + 2 * lag) * estimator_lanes;
        return {re, re + estimator_lanes};
    }
};

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
