#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/tracker/math/plan.hpp"

/// The interface between the tracker, which follows phases, and the code that is compiled once per
/// instruction set.
namespace phy::detail {

/// The symbols of an OFDM symbol that are used, component by component. Padded to a multiple of tracker_lanes
/// by symbols without weight.
struct UsedSymbols {
    alignas(64) float re[max_tracked_symbols];
    alignas(64) float im[max_tracked_symbols];
    alignas(64) float weight[max_tracked_symbols];  ///< see weight_of()
    std::size_t count;
    std::size_t first;  ///< index of the first one in the slot
};

/// PhaseSums of numbers.
struct UsedSums {
    float score;
    float agreement;
    float lost;
    float misfit;
    float used;
};

struct TrackerKernels {
    /// Takes the symbols of a step from those of a slot.
    void (*take)(const SymbolScale& scale, const TrackStep& step, const cf32* symbols,
                 const float* noise_variance, UsedSymbols& used);

    UsedSums (*sums)(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase);
    float (*misfit)(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase);
    float (*limited_misfit)(const SymbolScale& scale, const UsedSymbols& symbols, cf32 phase, float limit);

    /// Divides `count` symbols by the phase.
    void (*rotate_symbols)(cf32* symbols, std::size_t count, cf32 phase);
    void (*rotate_pairs)(LayerPair* pairs, std::size_t count, cf32 phase);
};

}  // namespace phy::detail
