#pragma once

#include <optional>
#include <span>
#include <vector>

#include "phy/receiver/acquisition.hpp"
#include "phy/receiver/receive.hpp"
#include "phy/receiver/receive/capture_slots.hpp"

/// What receive_file() does before and after the slots go through the receiver.
namespace phy::detail {

/// Where acquisition runs: the host that receives, else as many threads as demodulation_threads().
Host acquisition_host(const std::vector<Place>& places);

/// Searches the first slot of the schedule through the whole capture, and puts what it finds into the link.
/// Throws FileError if it is nowhere.
FoundSlot find_slots(const Host& host, ReceiverConfig& config, CaptureReader& capture);

/// Measures offsets over the first slots, and has them taken out of all samples, the frequency by the link's
/// frequency_shift; what was taken out.
Offsets correct_offsets(const Host& host, ReceiverConfig& config, CaptureSlots& slots);

/// Powers, not decibels, are averaged, and erasures are added up.
SlotReport mean_of(std::span<const SlotReport> reports);

/// Throws FileError, which says what was tried, if the DM-RS were found in no slot; adds a warning if in
/// some.
void require_pilots(const Host& host, const ReceiverConfig& config, CaptureSlots& slots, Reception& result,
                    const ReceiveOptions& options);

}  // namespace phy::detail
