#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/tracker/math/plan.hpp"

/// The interface between the tracker, which follows phases, and the code that is compiled once per
/// instruction set.
namespace phy::detail {

/// The symbols of an OFDM symbol that are asked, component by component. Those beyond `count`, up to a
/// multiple of tracker_lanes, have no weight.
struct AskedSymbols {
    alignas(64) float re[max_tracked_symbols];
    alignas(64) float im[max_tracked_symbols];
    alignas(64) float noise_variance[max_tracked_symbols];
    std::size_t count;
    std::size_t first;  ///< index of the first one in the slot
};

/// PhaseSums of numbers.
struct TurnSums {
    float turned;
    float agreed;
    float missing;
    float misfit;
    float asked;
};

struct TrackerKernels {
    TurnSums (*ask)(const SymbolScale& scale, const AskedSymbols& symbols, cf32 phase);
    float (*misfit)(const SymbolScale& scale, const AskedSymbols& symbols, cf32 phase);

    /// Divides `count` symbols by the phase.
    void (*turn_symbols)(cf32* symbols, std::size_t count, cf32 phase);
    void (*turn_pairs)(LayerPair* pairs, std::size_t count, cf32 phase);
};

}  // namespace phy::detail
