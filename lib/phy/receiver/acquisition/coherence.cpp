#include <algorithm>
#include <cmath>

#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/pilot_pairs.hpp"

namespace phy {

double min_coherence(const SlotAllocation& allocation) {
    // Pairs that do not agree have a coherence whose square is exponentially distributed with the mean 1 / n,
    // for one antenna as for several that receive the same.
    const double n = static_cast<double>(detail::pairs_of_symbol(allocation)) *
                     static_cast<double>(allocation.dmrs.symbols.size());
    const double log_chance = detail::elementary::log(1e6);
    return std::clamp(std::sqrt(log_chance / std::max(n, 1.0)), 0.15, 0.7);
}

}  // namespace phy
