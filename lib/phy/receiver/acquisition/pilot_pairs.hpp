#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Of the pilots of a symbol in one CDM group, pairs with one pilot between them: these have the same sign of
/// any code in frequency, so that their phases differ by the channel's alone.
std::size_t pairs_of_symbol(const SlotAllocation& allocation);

/// From the first pilot of a pair to the second.
int subcarriers_of_pair(int type);

/// Products of such pairs, of all symbols of some slots, as if there were DM-RS in each. Antennas and CDM
/// groups are summed beforehand: whatever sequence is tried, it is one product a pair.
class PilotPairs {
public:
    /// grid: (slots, antennas, symbols_per_slot, subcarriers). Of the allocation its resource blocks and the
    /// type and ports of DM-RS matter.
    PilotPairs(const SlotAllocation& allocation, std::span<const cf32> grid, std::size_t antennas);

    /// Of a symbol.
    [[nodiscard]] std::size_t pairs() const { return firsts_.size(); }

    /// The sum over pairs without the phases of pilots, which are those of one symbol.
    [[nodiscard]] std::complex<double> correlation(std::size_t slot, std::size_t symbol,
                                                   std::span<const cf32> pilots) const;

    /// What the sum is where all pairs agree.
    [[nodiscard]] double energy(std::size_t slot, std::size_t symbol) const {
        return energies_[slot * symbols_per_slot + symbol];
    }

private:
    void add_row(const SlotAllocation& allocation, int group, const cf32* row, std::size_t symbol);

    std::vector<std::size_t> firsts_;            ///< of pairs: the first one's number among the pilots
    std::vector<std::complex<float>> products_;  ///< (slots, symbols, pairs)
    std::vector<double> energies_;               ///< (slots, symbols)
};

}  // namespace phy::detail
