#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy::detail {

/// Number of pairs among the pilots of a symbol and CDM group. A pair has one pilot in between, so both have
/// the same sign in every code in frequency and their phases differ by the channel only.
PHY_EXPORT std::size_t pairs_of_symbol(const SlotAllocation& allocation);

/// Subcarriers from the first pilot of a pair to the second.
int subcarriers_of_pair(int type);

/// Products of such pairs in all symbols of some slots, as if each had DM-RS. Antennas and CDM groups are
/// summed beforehand, so trying a sequence takes one product per pair.
class PilotPairs {
public:
    /// grid: (slots, antennas, symbols_per_slot, subcarriers). Uses the allocation's resource blocks and the
    /// type and ports of its DM-RS.
    PilotPairs(const SlotAllocation& allocation, std::span<const cf32> grid, std::size_t antennas);

    /// Pairs per symbol.
    [[nodiscard]] std::size_t pairs() const { return firsts_.size(); }

    /// The sum over pairs after removing the phases of `pilots`, those of one symbol.
    [[nodiscard]] std::complex<double> correlation(std::size_t slot, std::size_t symbol,
                                                   std::span<const cf32> pilots) const;

    /// The sum if all pairs agree.
    [[nodiscard]] double energy(std::size_t slot, std::size_t symbol) const {
        return energies_[slot * symbols_per_slot + symbol];
    }

    /// The sum over pairs of their squared products: few loud pairs are worth as little as few pairs.
    [[nodiscard]] double squares(std::size_t slot, std::size_t symbol) const {
        return squares_[slot * symbols_per_slot + symbol];
    }

private:
    void add_row(const SlotAllocation& allocation, int group, const cf32* row, std::size_t symbol);
    double take_pilots(int type, int group, const ResourceBlocks& range, const cf32* row);

    std::vector<std::size_t> firsts_;  ///< per pair: the index of its first pilot
    std::vector<float> products_re_;   ///< (slots, symbols, pairs)
    std::vector<float> products_im_;   ///< the same
    std::vector<double> energies_;     ///< (slots, symbols)
    std::vector<double> squares_;      ///< the same
    std::vector<float> pilots_re_;     ///< that take_pilots() took
    std::vector<float> pilots_im_;
};

}  // namespace phy::detail
