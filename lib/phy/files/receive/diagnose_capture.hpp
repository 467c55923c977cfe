#pragma once

#include <string>

#include "phy/capture/capture.hpp"
#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

/// diagnose() for captures.
namespace phy::detail {

/// Searches for the link that matches the capture, in the first frame with DM-RS, else in the first one. Sets
/// Reception::diagnosis.
Diagnosis diagnose_reception(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                             Reception& result, const ReceiveOptions& options);

/// Searches for the link that matches samples whose slots were not found, in the loudest frame. Returns the
/// diagnosis as text.
std::string diagnose_search(const Host& host, const ReceiverConfig& config, CaptureSignal& signal,
                            const ReceiveOptions& options);

/// Once all warnings are known. Transport blocks that hold prove the link, whatever the symbols show. Else
/// adds one if the best link is not the given one, and takes back that the given link fits beside other
/// warnings.
void settle_diagnosis(Reception& result, const Diagnosis& diagnosis);

}  // namespace phy::detail
