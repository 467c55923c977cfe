#pragma once

#include <cstddef>
#include <vector>

#include "phy/ofdm/ofdm_config.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {

/// Where slots may begin in samples, by cyclic prefixes alone, likeliest first: the first position of each
/// symbol that a slot may begin with. Slots with an even number that begin half a subframe begin there.
/// Neither a frequency offset nor an inverted spectrum matters.
std::vector<std::size_t> slot_beginnings(const OfdmTiming& timing, const AntennaSamples& samples);

}  // namespace phy::detail
