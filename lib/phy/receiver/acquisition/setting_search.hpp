#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/receiver/chain/plan.hpp"

namespace phy::detail {

/// A link that differs in DM-RS settings and first slot alone, and how well the pilots of a grid match it.
struct FoundSetting {
    Link link = {};
    double coherence = 0.0;
    double surprisal = 0.0;  ///< -ln of the probability of that coherence without such pilots
    double repeats = 1.0;    ///< symbols with the same pilots, which match all or none by chance
};

/// True if check() accepts the link.
bool can_be(const Link& link);

struct SettingSearch {
    FoundSetting own = {};   ///< the link as it is
    FoundSetting best = {};  ///< the most surprising one; the link as it is among equals
    std::size_t tried = 0;
};

/// Tries all combinations of first slot, n_SCID, these identities, type, and DM-RS symbols (those of every
/// mapping type, number of additional positions and length that fit into the allocation). With transform
/// precoding DM-RS without hopping do not depend on the slot, and n_SCID and type 2 are not tried.
///
/// grid: (slots, antennas, symbols_per_slot, subcarriers), from the link's first slot on. goes_on is called
/// before each identity; false ends the search.
SettingSearch search_settings(const ReceiverPlan& plan, std::span<const cf32> grid,
                              std::span<const std::uint32_t> identities,
                              const std::function<bool()>& goes_on);

}  // namespace phy::detail
