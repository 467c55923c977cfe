#pragma once

#include <vector>

#include "phy/receiver/link.hpp"

namespace phy::detail {

/// Symbols of a slot that may have DM-RS.
struct DmrsPattern {
    std::vector<int> symbols;
    int length = 1;
    friend bool operator==(const DmrsPattern&, const DmrsPattern&) = default;
};

/// The link's pattern first, then those of every mapping type, dmrs-TypeA-Position, length and number of
/// additional positions that fit into the allocation's symbols.
std::vector<DmrsPattern> dmrs_patterns(const Link& link);

}  // namespace phy::detail
