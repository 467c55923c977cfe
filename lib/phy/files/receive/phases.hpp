#pragma once

#include <array>
#include <span>

#include "phy/files/receive.hpp"

namespace phy::detail {

/// The mean over slots with DM-RS of the common phase error that was taken out of each OFDM symbol, in rad.
std::array<double, symbols_per_slot> mean_phase_errors(const Reception& result,
                                                       std::span<const ReceivedSlot> received);

}  // namespace phy::detail
