#pragma once

#include "phy/files/receive/capture_slots.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::detail {

/// DM-RS of another CDM group look like those of the link's in a signal that is whole subcarriers too high or
/// low. Its data then fit with an f0 that differs by as much. If the diagnosis names one of these causes, and
/// nothing else, this names the one whose subcarriers all have a signal, or both.
///
/// config: what the diagnosis was given, with the link at the measured frequency; offset: that frequency, Hz.
void settle_ports(const Host& host, const ReceiverConfig& config, CaptureSlots& slots, double offset,
                  Diagnosis& diagnosis);

}  // namespace phy::detail
