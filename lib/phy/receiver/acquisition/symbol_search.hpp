#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy::detail {

/// Slots of a link whose DM-RS were found.
struct SlotGrids {
    ReceiverConfig config = {};                 ///< with that link
    std::optional<OfdmTiming> timing = {};      ///< of samples; f0 of a grid is not decided on
    std::vector<cf32> grid = {};                ///< (slots, antennas, symbols_per_slot, subcarriers)
    std::vector<std::uint64_t> occasions = {};  ///< of the slots
};

/// What symbols show of a link.
struct SymbolSearch {
    Link link;                                ///< the one that fits best
    double evidence = 0.0;                    ///< of a constellation: see SymbolFit
    double excess = 1.0;                      ///< noise of the symbols over what is expected of them
    double evm = 0.0;                         ///< a ratio, of the median symbol
    double timing_offset = 0.0;               ///< s
    std::vector<std::string> agreeing = {};   ///< keys that other values fit worse, for people
    std::vector<std::string> undecided = {};  ///< keys that other values fit as well
    std::size_t tried = 0;
};

/// Decides on what DM-RS leave open: ports, CDM groups without data, power of the DM-RS, f0 and modulation,
/// one after the other. A value replaces the link's if the symbols of some slots fit it clearly better.
/// goes_on is called before each trial; false ends the search.
SymbolSearch search_by_symbols(const Host& host, const SlotGrids& slots,
                               std::span<const double> center_frequencies,
                               const std::function<bool()>& goes_on);

}  // namespace phy::detail
