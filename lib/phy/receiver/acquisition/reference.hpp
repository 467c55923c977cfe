#pragma once

#include <cstddef>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/receiver/link.hpp"

namespace phy::detail {

/// A DM-RS symbol in time, without its prefix, as samples of a capture have it.
struct DmrsReference {
    std::size_t begin = 0;                 ///< samples from the start of the slot
    std::vector<std::vector<cf32>> kinds;  ///< by CDM group and code in frequency, of unit energy each
};

/// Those of the first DM-RS symbols of a slot, four at most, for OFDM of the link. Codes in time differ by a
/// sign alone, which powers do not show.
std::vector<DmrsReference> make_references(const Host& host, const Link& link, const OfdmConfig& ofdm,
                                           int slot);

}  // namespace phy::detail
