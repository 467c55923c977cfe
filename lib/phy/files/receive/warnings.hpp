#pragma once

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/receiver/acquisition/examine.hpp"

namespace phy::detail {

/// Examines occasions spread over the capture.
Examination examine_capture(const Host& host, const ReceiverConfig& config, CaptureSlots& slots);

/// Adds a warning, which names the likely cause, for each sign that the capture or its link is not what it
/// was received as. No right link shows one. docs/troubleshooting.md lists them.
void warn_of_signs(Reception& result, const ReceiverConfig& config, const Examination& examination);

}  // namespace phy::detail
