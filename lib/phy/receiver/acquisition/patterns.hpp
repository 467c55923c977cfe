#pragma once

#include <vector>

#include "phy/receiver/link.hpp"

namespace phy::detail {

/// Where DM-RS may stand in a slot.
struct DmrsPattern {
    std::vector<int> symbols;
    int length = 1;
    friend bool operator==(const DmrsPattern&, const DmrsPattern&) = default;
};

/// That of the link first, then those of every mapping type, dmrs-TypeA-Position, length and number of
/// additional positions that lie in the symbols of the allocation.
std::vector<DmrsPattern> dmrs_patterns(const Link& link);

}  // namespace phy::detail
