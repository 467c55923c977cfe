#pragma once

#include <cstddef>
#include <span>

#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// How improbable it is that received pilots match expected ones by chance, by Fisher's method.
///
/// A part is the pilots of a DM-RS symbol in up to two neighbouring resource blocks, where the channel counts
/// as flat. For wrong pilots, the share of a part's energy that matches has the beta distribution of one
/// direction (two with a pair of codes) among as many as there are pilots. The logarithm of its tail is then
/// exponentially distributed, and the sum over parts has a gamma distribution. Antennas are taken together,
/// as if all received the same, which is the worst case. So are CDM groups, which have the same sequence.
struct Evidence {
    double surprisal = 0.0;  ///< the sum of -ln(tail)
    std::size_t parts = 0;
    double agreeing = 0.0;  ///< energy that matches
    double energy = 0.0;

    /// Adds a slot. grid: (antennas, symbols_per_slot, subcarriers); pilots: from dmrs_pilots(). The timing
    /// offset must rotate two resource blocks only a little.
    void add(const SlotAllocation& allocation, std::span<const cf32> grid, std::span<const cf32> pilots);

    /// The natural logarithm of the probability that the sum is at least as large without those pilots.
    [[nodiscard]] double log_chance() const;

    /// The share of energy that matches.
    [[nodiscard]] double correlation() const { return energy > 0.0 ? agreeing / energy : 0.0; }

private:
    void add_part(const SlotAllocation& allocation, int symbol, ResourceBlocks part,
                  std::span<const cf32> grid, const cf32* pilots);
};

}  // namespace phy::detail
