#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/measure/math/symbol_scale.hpp"
#include "phy/reduce/tree.hpp"

namespace phy::detail {

/// The virtual lanes of a block.
struct SymbolLanes {
    alignas(64) float sums[summed_with_noise][symbol_tree.lanes] = {};
    alignas(64) float peak[symbol_tree.lanes] = {};
    alignas(64) float error_peak[symbol_tree.lanes] = {};
    std::size_t not_finite = 0;
};

/// Neighbouring symbols of a block; the first belongs to lane 0.
struct SymbolPiece {
    const float* iq;
    const float* sent;            ///< null: the nearest points
    const float* noise_variance;  ///< null: none; not with sent points
    std::size_t symbols;
    int phase;  ///< parity of the first symbol's index
};

/// The roots of a block.
struct SymbolRoots {
    float sums[summed_with_noise];
    float peak;
    float error_peak;
    std::size_t not_finite;
};

struct SymbolKernels {
    SymbolRoots (*sum)(const SymbolScale& scale, const SymbolPiece& piece);
};

}  // namespace phy::detail
