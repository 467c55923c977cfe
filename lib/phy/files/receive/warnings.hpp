#pragma once

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/receiver/acquisition/examine.hpp"

namespace phy::detail {

/// Max error_over_noise() of a reception: 1.8 dB.
inline constexpr double max_error_over_noise = 1.5;

/// N0 of slots with this allocation is at most so many times what is measured.
double noise_uncertainty(const SlotAllocation& allocation);

/// Examines occasions spread over the capture.
Examination examine_capture(const Host& host, const ReceiverConfig& config, CaptureSlots& slots);

/// True if nearly all transport blocks hold. What looks like a wrong link is then something else.
bool proves_link(const Reception& result);

/// Adds a warning, which names the likely cause, for each sign that the capture or its link is not what it
/// was received as. No right link shows one. Those of the link are left out if nearly all transport blocks
/// have a valid CRC, which proves it. docs/troubleshooting.md lists them.
void warn_of_signs(Reception& result, const ReceiverConfig& config, const Examination& examination);

}  // namespace phy::detail
