#pragma once

#include <cstddef>
#include <span>

#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// How little chance explains that received pilots agree with those that are expected, by Fisher's method.
///
/// Pilots of a DM-RS symbol in up to two neighbouring resource blocks are a part, in which the channel counts
/// as flat. The share of a part's energy that agrees with the expected pilots has, where they are not those,
/// the beta distribution of one direction (two with a pair of codes) among as many as there are pilots. The
/// logarithm of its tail is exponentially distributed there, and the sum over parts gamma. Antennas are
/// taken together, as if all received the same, which is the worst case, and so are CDM groups, which have
/// the same sequence.
struct Evidence {
    double surprise = 0.0;  ///< the sum of -ln(tail)
    std::size_t parts = 0;
    double agreeing = 0.0;  ///< energy that agrees
    double energy = 0.0;

    /// Of a slot: grid is (antennas, symbols_per_slot, subcarriers), pilots are those of dmrs_pilots(), and
    /// elements have no more timing offset than turns two resource blocks by little.
    void add(const SlotAllocation& allocation, std::span<const cf32> grid, std::span<const cf32> pilots);

    /// The natural logarithm of the chance that the sum is as large or larger without those pilots.
    [[nodiscard]] double log_chance() const;

    /// The share of energy that agrees.
    [[nodiscard]] double correlation() const { return energy > 0.0 ? agreeing / energy : 0.0; }

private:
    void add_part(const SlotAllocation& allocation, int symbol, ResourceBlocks part,
                  std::span<const cf32> grid, const cf32* pilots);
};

}  // namespace phy::detail
