#pragma once

#include <cstddef>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/receiver/link.hpp"

namespace phy::detail {

/// A DM-RS symbol in time, without its prefix, as it appears in samples of a capture.
struct DmrsReference {
    std::size_t begin = 0;                 ///< samples from the start of the slot
    std::vector<std::vector<cf32>> kinds;  ///< one per CDM group and code in frequency, each of unit energy
};

/// The references of a slot's first DM-RS symbols, at most four, with the link's OFDM. Codes in time differ
/// by a sign only, which does not affect powers.
std::vector<DmrsReference> make_references(const Host& host, const Link& link, const OfdmConfig& ofdm,
                                           int slot);

}  // namespace phy::detail
