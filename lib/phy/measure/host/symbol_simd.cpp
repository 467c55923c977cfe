// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include "phy/measure/host/symbol_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "phy/simd/kernels.hpp"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/measure/host/symbol_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/measure/math/symbol_step-inl.h"
#include "phy/simd/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

enum class Points { square, diagonal, sent };

constexpr std::size_t turn_symbols = symbol_tree.lanes;
static_assert(turn_symbols % lanes == 0);

HWY_INLINE SymbolAccumulators<Ops> load_lanes(const SymbolLanes& from, std::size_t first) {
    SymbolAccumulators<Ops> loaded;
    for (unsigned k = 0; k < summed_of_symbols; ++k)
        loaded.sums[k] = hn::Load(d, from.sums[k] + first);
    loaded.peak = hn::Load(d, from.peak + first);
    loaded.error_peak = hn::Load(d, from.error_peak + first);
    return loaded;
}

HWY_INLINE void store_lanes(const SymbolAccumulators<Ops>& from, SymbolLanes& to, std::size_t first) {
    for (unsigned k = 0; k < summed_of_symbols; ++k)
        hn::Store(from.sums[k], d, to.sums[k] + first);
    hn::Store(from.peak, d, to.peak + first);
    hn::Store(from.error_peak, d, to.error_peak + first);
}

/// What is a block further on than these symbols, so that memory is asked for evenly. Its address may be
/// beyond the array: it is a number, and nothing is read.
HWY_INLINE void ask_for_next_block(const float* iq) {
    constexpr std::size_t cache_line = 64;
    const auto next = reinterpret_cast<std::uintptr_t>(iq) + 2 * symbol_tree.block * sizeof(float);
    for (std::size_t byte = 0; byte < 2 * lanes * sizeof(float); byte += cache_line)
        hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(next + byte));
}

/// Leaves the virtual lanes of the others as they are, to the sign of a zero.
template <class Mask>
HWY_INLINE void add_usable_symbols(SymbolAccumulators<Ops>& to, Mask usable, Ops::V i, Ops::V q, Ops::V power,
                                   const Decision<Ops>& made) {
    SymbolAccumulators<Ops> added = to;
    add_symbol<Ops>(added, i, q, power, made);
    for (unsigned k = 0; k < summed_of_symbols; ++k)
        to.sums[k] = hn::IfThenElse(usable, added.sums[k], to.sums[k]);
    to.peak = hn::IfThenElse(usable, added.peak, to.peak);
    to.error_peak = hn::IfThenElse(usable, added.error_peak, to.error_peak);
}

/// A vector of symbols in every turn, for the virtual lanes from `first` on; returns how many are not finite.
template <Points points>
HWY_INLINE std::size_t add_turns(const SymbolScale& scale, const SymbolPiece& piece, std::size_t first,
                                 SymbolLanes& to) {
    const LaneScale<Ops> of_lanes =
        lane_scale<Ops>(scale, scale.rotating ? sign_of_odd_lanes(piece.phase) : hn::Zero(d));
    SymbolAccumulators<Ops> sums = load_lanes(to, first);
    const auto usable_power = hn::Set(d, scale.usable_power);
    std::size_t not_finite = 0;
    for (std::size_t s = first; s < piece.symbols; s += turn_symbols) {
        Ops::V i, q;
        hn::LoadInterleaved2(d, piece.iq + 2 * s, i, q);
        ask_for_next_block(piece.iq + 2 * s);
        Decision<Ops> made;
        if constexpr (points == Points::sent) {
            Ops::V sent_i, sent_q;
            hn::LoadInterleaved2(d, piece.sent + 2 * s, sent_i, sent_q);
            made = compare<Ops>(i, q, sent_i, sent_q, of_lanes);
        } else {
            made = decide<Ops, points == Points::diagonal>(i, q, of_lanes);
        }
        const auto power = power_of<Ops>(i, q);
        const auto usable = hn::Lt(power, usable_power);
        if (HWY_LIKELY(hn::AllTrue(d, usable))) {
            add_symbol<Ops>(sums, i, q, power, made);
        } else {
            add_usable_symbols(sums, usable, i, q, power, made);
            not_finite += lanes - hn::CountTrue(d, usable);
        }
    }
    store_lanes(sums, to, first);
    return not_finite;
}

template <Points points>
void add_whole_turns(const SymbolScale& scale, const SymbolPiece& piece, SymbolLanes& to) {
    for (std::size_t first = 0; first < turn_symbols; first += lanes)
        to.not_finite += add_turns<points>(scale, piece, first, to);
}

template <Points points>
void add_all(const SymbolScale& scale, const SymbolPiece& piece, SymbolLanes& to) {
    const std::size_t rest = piece.symbols % turn_symbols;
    SymbolPiece whole = piece;
    whole.symbols -= rest;
    add_whole_turns<points>(scale, whole, to);
    if (rest == 0) return;
    HWY_ALIGN float iq[2 * turn_symbols];
    HWY_ALIGN float sent[2 * turn_symbols] = {};
    std::fill(iq, iq + 2 * turn_symbols, std::numeric_limits<float>::quiet_NaN());
    std::memcpy(iq, piece.iq + 2 * whole.symbols, 2 * rest * sizeof(float));
    if (points == Points::sent) std::memcpy(sent, piece.sent + 2 * whole.symbols, 2 * rest * sizeof(float));
    add_whole_turns<points>(scale, {iq, sent, turn_symbols, piece.phase}, to);
    to.not_finite -= turn_symbols - rest;
}

void add(const SymbolScale& scale, const SymbolPiece& piece, SymbolLanes& to) {
    if (piece.sent != nullptr) {
        add_all<Points::sent>(scale, piece, to);
    } else if (scale.diagonal) {
        add_all<Points::diagonal>(scale, piece, to);
    } else {
        add_all<Points::square>(scale, piece, to);
    }
}

}  // namespace

extern constinit const SymbolKernels symbol_kernels_of_target;
constinit const SymbolKernels symbol_kernels_of_target = {&add};

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const SymbolKernels& symbol_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<SymbolKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(symbol_kernels_of_target);
    return kernels_of(backend, scalar_symbol_kernels, by_target);
}

}  // namespace phy::detail
#endif
