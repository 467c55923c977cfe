#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

/// What receive_file() does before and after the slots go through the receiver.
namespace phy::detail {

/// Where acquisition runs: the host that receives, else as many threads as demodulation_threads().
Host acquisition_host(const std::vector<Place>& places);

/// Searches the first slot of the schedule through the whole capture, and puts what it finds into the link.
/// Throws FileError if it is nowhere. None: a stop was asked for.
std::optional<FoundSlot> find_slots(const Host& host, ReceiverConfig& config, CaptureReader& capture,
                                    const ReceiveOptions& options);

/// Measures offsets over the first slots that have DM-RS, and has them taken out of all samples, the
/// frequency by the link's frequency_shift; what was taken out. Warns of a timing offset that is none.
Offsets correct_offsets(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                        std::vector<std::string>& warnings);

/// Over the slots of at least that coherence, if there are any: powers, not decibels, are averaged. Erasures
/// of all slots are added up.
SlotReport mean_of(std::span<const SlotReport> reports, double min_coherence);

/// Searches what agrees with the capture, from the first slot on that has DM-RS, else from its first, and
/// says it in Reception::diagnosis; the warning where that is not the link as it is, else "".
std::string diagnose_reception(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                               Reception& result, const ReceiveOptions& options);

/// Throws FileError, which says what was looked for and what a diagnosis found, if the DM-RS were found in no
/// slot; adds a warning if in some, and where what was received does not fit its SNR.
void require_pilots(Reception& result);

/// Throws FileError if none of the capture's slots is of the schedule.
void require_occasions(const CaptureSlots& slots, const Reception& result);

}  // namespace phy::detail
