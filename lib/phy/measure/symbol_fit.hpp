#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

namespace phy {

/// How well symbols fit a modulation: the likelihood of its points, equally frequent and with Gaussian noise.
struct PHY_EXPORT SymbolFit {
    double excess = 1.0;  ///< the likeliest factor of N0; 1 if N0 is right
    double evidence =
        0.0;  ///< bits per symbol more than Gaussian symbols with that noise; 0: no constellation

    /// Per symbol that counts: log2 of its likelihood over that of Gaussian symbols of the mean power. 0 for
    /// erased ones.
    std::vector<double> bits = {};

    /// True if this modulation fits the same symbols clearly better: by at least min_bits per symbol in the
    /// mean, and by six standard deviations of chance. Throws ArgumentError for another number of symbols.
    [[nodiscard]] bool is_better_than(const SymbolFit& other, double min_bits) const;
};

/// Fits symbols of unit mean power. noise: N0, one per symbol; symbols without a finite N0 above 0, and those
/// that are not finite, are erased. codeword: symbols per codeword, from 1 on; each begins a sequence of
/// pi/2-BPSK. Every `step`th symbol counts, from the first on. Throws ArgumentError if sizes differ, or for a
/// codeword or step of 0.
PHY_EXPORT SymbolFit fit_symbols(std::span<const cf32> symbols, std::span<const float> noise,
                                 std::size_t codeword, std::size_t step, Modulation modulation);

}  // namespace phy
