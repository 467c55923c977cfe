// Sums over the symbols of a block.
#if defined(PHY_MEASURE_SYMBOL_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_MEASURE_SYMBOL_KERNELS_INL_H_
#undef PHY_MEASURE_SYMBOL_KERNELS_INL_H_
#else
#define PHY_MEASURE_SYMBOL_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>

#include "phy/measure/host/symbol_kernels.hpp"
#include "phy/measure/math/symbol_step-inl.h"
#include "phy/reduce/lanes.hpp"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

enum class Points { square, diagonal, sent };

constexpr std::size_t turn_symbols = symbol_tree.lanes;
static_assert(turn_symbols % Lanes::count == 0);

template <unsigned count>
PHY_INLINE SymbolAccumulators<Ops, count> load_lanes(const SymbolLanes& from, std::size_t first) {
    SymbolAccumulators<Ops, count> loaded;
    for (unsigned k = 0; k < count; ++k)
        loaded.sums[k] = Lanes::load(from.sums[k] + first);
    loaded.peak = Lanes::load(from.peak + first);
    loaded.error_peak = Lanes::load(from.error_peak + first);
    return loaded;
}

template <unsigned count>
PHY_INLINE void store_lanes(const SymbolAccumulators<Ops, count>& from, SymbolLanes& to, std::size_t first) {
    for (unsigned k = 0; k < count; ++k)
        Lanes::store(from.sums[k], to.sums[k] + first);
    Lanes::store(from.peak, to.peak + first);
    Lanes::store(from.error_peak, to.error_peak + first);
}

/// Prefetches the symbols one block further on, which spreads memory accesses evenly.
PHY_INLINE void ask_for_next_block(const float* iq) {
    const auto next = reinterpret_cast<std::uintptr_t>(iq) + 2 * symbol_tree.block * sizeof(float);
    Lanes::prefetch(next, 2 * Lanes::count * sizeof(float));
}

/// What add() makes of the sums, without changing the virtual lanes of unusable symbols, to the sign of a
/// zero.
template <unsigned count, class Add>
PHY_INLINE void add_usable_symbols(SymbolAccumulators<Ops, count>& to, Lanes::Mask usable, const Add& add) {
    SymbolAccumulators<Ops, count> added = to;
    add(added);
    for (unsigned k = 0; k < count; ++k)
        to.sums[k] = Lanes::select(usable, added.sums[k], to.sums[k]);
    to.peak = Lanes::select(usable, added.peak, to.peak);
    to.error_peak = Lanes::select(usable, added.error_peak, to.error_peak);
}

/// Adds a vector of symbols per turn, for the virtual lanes from `first` on; returns how many are not finite.
template <Points points, unsigned count>
PHY_INLINE std::size_t add_turns(const SymbolScale& scale, const SymbolPiece& piece, std::size_t first,
                                 SymbolLanes& to) {
    const auto turn =
        scale.rotating ? Lanes::odd_signs(first + static_cast<std::size_t>(piece.phase)) : Ops::set(0.0F);
    const LaneScale<Ops> of_lanes = lane_scale<Ops>(scale, turn);
    SymbolAccumulators<Ops, count> sums = load_lanes<count>(to, first);
    const auto usable_power = Ops::set(scale.usable_power);
    std::size_t not_finite = 0;
    for (std::size_t s = first; s < piece.symbols; s += turn_symbols) {
        Ops::V i, q;
        Lanes::load_pairs(piece.iq + 2 * s, i, q);
        ask_for_next_block(piece.iq + 2 * s);
        Decision<Ops> made;
        if constexpr (points == Points::sent) {
            Ops::V sent_i, sent_q;
            Lanes::load_pairs(piece.sent + 2 * s, sent_i, sent_q);
            made = compare<Ops>(i, q, sent_i, sent_q, of_lanes);
        } else {
            made = decide<Ops, points == Points::diagonal>(i, q, of_lanes);
        }
        const auto power = power_of<Ops>(i, q);
        auto tested = power;
        Ops::V noise = Ops::set(0.0F);
        if constexpr (count == summed_with_noise) {
            noise = Lanes::load(piece.noise_variance + s);
            // Not a number unless the noise is finite.
            tested = Ops::fma(noise, Ops::set(0.0F), power);
        }
        const auto add = [&](SymbolAccumulators<Ops, count>& added) {
            add_symbol<Ops>(added, i, q, power, made);
            if constexpr (count == summed_with_noise) add_noise<Ops>(added, noise, made, of_lanes);
        };
        const auto usable = Lanes::less(tested, usable_power);
        if (Lanes::all(usable)) [[likely]] {
            add(sums);
        } else {
            add_usable_symbols(sums, usable, add);
            not_finite += Lanes::count - Lanes::count_true(usable);
        }
    }
    store_lanes(sums, to, first);
    return not_finite;
}

template <Points points, unsigned count>
void add_whole_turns(const SymbolScale& scale, const SymbolPiece& piece, SymbolLanes& to) {
    for (std::size_t first = 0; first < turn_symbols; first += Lanes::count)
        to.not_finite += add_turns<points, count>(scale, piece, first, to);
}

template <Points points, unsigned count = summed_of_symbols>
void add_all(const SymbolScale& scale, const SymbolPiece& piece, SymbolLanes& to) {
    const std::size_t rest = piece.symbols % turn_symbols;
    SymbolPiece whole = piece;
    whole.symbols -= rest;
    add_whole_turns<points, count>(scale, whole, to);
    if (rest == 0) return;
    alignas(64) float iq[2 * turn_symbols];
    alignas(64) float sent[2 * turn_symbols] = {};
    alignas(64) float noise[turn_symbols] = {};
    std::fill(iq, iq + 2 * turn_symbols, std::numeric_limits<float>::quiet_NaN());
    std::memcpy(iq, piece.iq + 2 * whole.symbols, 2 * rest * sizeof(float));
    if (points == Points::sent) std::memcpy(sent, piece.sent + 2 * whole.symbols, 2 * rest * sizeof(float));
    if (count == summed_with_noise)
        std::memcpy(noise, piece.noise_variance + whole.symbols, rest * sizeof(float));
    add_whole_turns<points, count>(scale, {iq, sent, noise, turn_symbols, piece.phase}, to);
    to.not_finite -= turn_symbols - rest;
}

/// Joins the virtual lanes to one vector. Op: Ops::add or Ops::max.
template <class Op>
PHY_INLINE Ops::V join_vectors(const float* lanes, const Op& op) {
    constexpr std::size_t count = symbol_tree.lanes / Lanes::count;
    Ops::V vectors[count];
    for (std::size_t i = 0; i < count; ++i)
        vectors[i] = Lanes::load(lanes + i * Lanes::count);
    for (std::size_t width = count / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i)
            vectors[i] = op(vectors[i], vectors[i + width]);
    }
    return vectors[0];
}

/// Step 3 of the tree for the first `count` sums; the others are 0.
PHY_INLINE SymbolRoots roots_of(const SymbolLanes& lanes, unsigned count) {
    const auto max = [](Ops::V left, Ops::V right) { return Ops::max(left, right); };
    SymbolRoots roots;
    for (unsigned k = 0; k < summed_with_noise; ++k) {
        if (k >= count) {
            roots.sums[k] = 0.0F;
            continue;
        }
        alignas(64) float joined[Lanes::count];
        Lanes::store(join_vectors(lanes.sums[k], [](Ops::V l, Ops::V r) { return Ops::add(l, r); }), joined);
        roots.sums[k] = sum_of_lanes<Lanes::count>(joined);
    }
    roots.peak = Lanes::max_of(join_vectors(lanes.peak, max));
    roots.error_peak = Lanes::max_of(join_vectors(lanes.error_peak, max));
    roots.not_finite = lanes.not_finite;
    return roots;
}

SymbolRoots sum(const SymbolScale& scale, const SymbolPiece& piece) {
    SymbolLanes lanes;
    if (piece.noise_variance != nullptr) {
        if (scale.diagonal)
            add_all<Points::diagonal, summed_with_noise>(scale, piece, lanes);
        else
            add_all<Points::square, summed_with_noise>(scale, piece, lanes);
        return roots_of(lanes, summed_with_noise);
    }
    if (piece.sent != nullptr) {
        add_all<Points::sent>(scale, piece, lanes);
    } else if (scale.diagonal) {
        add_all<Points::diagonal>(scale, piece, lanes);
    } else {
        add_all<Points::square>(scale, piece, lanes);
    }
    return roots_of(lanes, summed_of_symbols);
}

constexpr SymbolKernels kernels = {&sum};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
