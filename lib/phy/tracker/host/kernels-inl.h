// The kernels of kernels.hpp: vectors of symbols.
#if defined(PHY_TRACKER_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_TRACKER_KERNELS_INL_H_
#undef PHY_TRACKER_KERNELS_INL_H_
#else
#define PHY_TRACKER_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "phy/reduce/lanes.hpp"
#include "phy/simd/lanes-inl.h"
#include "phy/tracker/host/kernels.hpp"
#include "phy/tracker/math/track-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

using V = Ops::V;

/// Symbols of 0 without weight fill the last run, and the lanes after it.
void take(const SymbolScale& scale, const TrackStep& step, const cf32* symbols, const float* noise_variance,
          UsedSymbols& used) {
    static_assert(tracked_run % Lanes::count == 0);
    const LaneScale<Ops> of_lanes = lane_scale<Ops>(scale, Ops::set(0.0F));
    const auto take_run = [&](const float* numbers, const float* noise, std::size_t to) {
        for (std::size_t lane = 0; lane < tracked_run; lane += Lanes::count, to += Lanes::count) {
            V re, im;
            Lanes::load_pairs(numbers + 2 * lane, re, im);
            Lanes::store(re, used.re + to);
            Lanes::store(im, used.im + to);
            Lanes::store(weight_of<Ops>(Lanes::load(noise + lane), of_lanes), used.weight + to);
        }
    };
    const std::uint32_t count = step.used();
    const std::uint32_t whole = count - count % tracked_run;
    const cf32* const from = symbols + step.first;
    for (std::uint32_t s = 0; s < whole; s += tracked_run)
        take_run(reinterpret_cast<const float*>(from + step.index_of(s)),
                 noise_variance + step.first + step.index_of(s), s);

    used.first = step.first;
    used.count = (count + tracker_lanes - 1) / tracker_lanes * tracker_lanes;
    alignas(64) float numbers[2 * tracked_run] = {};
    alignas(64) float noise[tracked_run] = {};
    const std::size_t rest = whole < count ? step.index_of(whole) : 0;
    std::memcpy(numbers, from + rest, (count - whole) * sizeof(cf32));
    std::memcpy(noise, noise_variance + step.first + rest, (count - whole) * sizeof(float));
    for (std::size_t s = whole; s < used.count; s += tracked_run) {
        take_run(numbers, noise, s);
        std::ranges::fill(numbers, 0.0F);
        std::ranges::fill(noise, 0.0F);
    }
}

template <bool diagonal>
UsedSums sum_all(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase) {
    alignas(64) float lanes[sizeof(UsedSums) / sizeof(float)][tracker_lanes];
    const ComplexOf<Ops> by = {Ops::set(phase.real()), Ops::set(phase.imag())};
    for (std::size_t lane = 0; lane < tracker_lanes; lane += Lanes::count) {
        const V odd = scale.rotating ? Lanes::odd_signs(symbols.first + lane) : Ops::set(0.0F);
        const LaneScale<Ops> of_lanes = lane_scale<Ops>(scale, odd);
        const V zero = Ops::set(0.0F);
        PhaseSums<Ops> of_lane = {zero, zero, zero, zero, zero};
        for (std::size_t s = lane; s < symbols.count; s += tracker_lanes) {
            const V weight = Lanes::load(symbols.weight + s);
            const SymbolTerms<Ops> terms = terms_of<Ops, diagonal>(
                Lanes::load(symbols.re + s), Lanes::load(symbols.im + s), weight, by, of_lanes);
            add_terms<Ops>(terms, weight, of_lane);
        }
        Lanes::store(of_lane.score, lanes[0] + lane);
        Lanes::store(of_lane.agreement, lanes[1] + lane);
        Lanes::store(of_lane.lost, lanes[2] + lane);
        Lanes::store(of_lane.misfit, lanes[3] + lane);
        Lanes::store(of_lane.used, lanes[4] + lane);
    }
    return {sum_of_lanes<tracker_lanes>(lanes[0]), sum_of_lanes<tracker_lanes>(lanes[1]),
            sum_of_lanes<tracker_lanes>(lanes[2]), sum_of_lanes<tracker_lanes>(lanes[3]),
            sum_of_lanes<tracker_lanes>(lanes[4])};
}

UsedSums sums(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase) {
    return (scale.diagonal ? sum_all<true> : sum_all<false>)(scale, symbols, phase);
}

template <bool diagonal, bool has_limit>
float misfit_of_all(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase, float limit) {
    alignas(64) float sums[tracker_lanes];
    const ComplexOf<Ops> by = {Ops::set(phase.real()), Ops::set(phase.imag())};
    for (std::size_t lane = 0; lane < tracker_lanes; lane += Lanes::count) {
        const V odd = scale.rotating ? Lanes::odd_signs(symbols.first + lane) : Ops::set(0.0F);
        const LaneScale<Ops> of_lanes = lane_scale<Ops>(scale, odd);
        V sum = Ops::set(0.0F);
        for (std::size_t s = lane; s < symbols.count; s += tracker_lanes) {
            const V weight = Lanes::load(symbols.weight + s);
            const V misfit = misfit_of<Ops, diagonal>(Lanes::load(symbols.re + s),
                                                      Lanes::load(symbols.im + s), by, of_lanes);
            if constexpr (has_limit)
                sum = Ops::add(sum, limited<Ops>(misfit, weight, Ops::set(limit)));
            else
                sum = Ops::fma(misfit, weight, sum);
        }
        Lanes::store(sum, sums + lane);
    }
    return sum_of_lanes<tracker_lanes>(sums);
}

float misfit(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase) {
    return (scale.diagonal ? misfit_of_all<true, false> : misfit_of_all<false, false>)(scale, symbols, phase,
                                                                                       0.0F);
}

float limited_misfit(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase, float limit) {
    return (scale.diagonal ? misfit_of_all<true, true> : misfit_of_all<false, true>)(scale, symbols, phase,
                                                                                     limit);
}

/// Rotates a vector of complex numbers in place.
PHY_INLINE void rotate_vector(float* numbers, V re, V im) {
    V x, y;
    Lanes::load_pairs(numbers, x, y);
    rotate_back<Ops>(re, im, x, y);
    Lanes::store_pairs(x, y, numbers);
}

void rotate_symbols(cf32* symbols, std::size_t count, cf32 phase) {
    const V re = Ops::set(phase.real());
    const V im = Ops::set(phase.imag());
    auto* const numbers = reinterpret_cast<float*>(symbols);
    const std::size_t whole = count / Lanes::count * Lanes::count;
    for (std::size_t s = 0; s < whole; s += Lanes::count)
        rotate_vector(numbers + 2 * s, re, im);
    alignas(64) float rest[2 * Lanes::count] = {};
    const std::size_t bytes = (count - whole) * sizeof(cf32);
    std::memcpy(rest, numbers + 2 * whole, bytes);
    rotate_vector(rest, re, im);
    std::memcpy(numbers + 2 * whole, rest, bytes);
}

void rotate_pairs(LayerPair* pairs, std::size_t count, cf32 phase) {
    constexpr std::size_t block = std::max<std::size_t>(Lanes::count / 2, 1);
    alignas(64) cf32 matched[2 * block];
    for (std::size_t first = 0; first < count; first += block) {
        const std::size_t here = std::min(block, count - first);
        for (std::size_t i = 0; i < here; ++i)
            std::memcpy(matched + 2 * i, pairs[first + i].matched, 2 * sizeof(cf32));
        rotate_symbols(matched, 2 * here, phase);
        for (std::size_t i = 0; i < here; ++i)
            std::memcpy(pairs[first + i].matched, matched + 2 * i, 2 * sizeof(cf32));
    }
}

constexpr TrackerKernels kernels = {&take, &sums, &misfit, &limited_misfit, &rotate_symbols, &rotate_pairs};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
