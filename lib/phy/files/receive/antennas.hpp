#pragma once

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"

namespace phy::detail {

/// Warns of antennas that are left out. Throws FileError if too few remain for the layers of the link.
void warn_of_left_out(Reception& result, const CaptureSignal& signal, const Link& link);

/// Warns of antennas that have far less noise than others, and no signal, as without a cable. With gains that
/// make up for it they do no harm; without, they lower N0, which is a mean over antennas.
void warn_of_weak_antennas(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                           Reception& result);

}  // namespace phy::detail
