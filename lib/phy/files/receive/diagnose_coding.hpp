#pragma once

#include <stop_token>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

namespace phy::detail {

/// Where no transport block holds: searches for scrambling and coding with which some do, by the link that
/// the diagnosis found. Adds to diagnosis and warnings what it found.
void diagnose_coding(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                     const Diagnosis& diagnosis, const std::stop_token& stop, Reception& result);

}  // namespace phy::detail
