#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"

/// The steps of receive_file() before and after the receiver.
namespace phy::detail {

/// Occasions for measuring offsets.
inline constexpr std::uint64_t measured_slots = 8;

/// Measures over occasions from `first` on.
Offsets measured_from(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                      std::uint64_t first, std::uint64_t most = measured_slots);

/// Receives occasions from `first` on, where the track of the slots says.
std::vector<SlotReport> received_slots(const Host& host, const ReceiverConfig& config, CaptureSlots& slots,
                                       std::uint64_t first, std::uint64_t count);

/// Offsets, and where they were measured.
struct CorrectedOffsets {
    Offsets offsets;
    std::uint64_t first = 0;  ///< occasion
    double late = 0.0;        ///< samples: the timing
};

/// Measures offsets over the first slots that have DM-RS, and corrects them in all samples; the frequency via
/// the link's frequency_shift, the timing via the track of slots. Warns of an implausible timing offset.
/// is_searched: the first slot was searched for.
CorrectedOffsets correct_offsets(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                                 bool is_searched, std::vector<std::string>& warnings);

/// The mean over slots of at least that coherence, if any: averages powers, not decibels. Adds the erasures
/// of all slots.
SlotReport mean_of(std::span<const SlotReport> reports, double min_coherence);

/// True if a slot has the DM-RS. Else throws FileError, which names the expected DM-RS and the diagnosis,
/// unless the result is a part of a capture that may have them elsewhere: then that is a warning. Adds a
/// warning if only some slots have them, and if all symbols of some slots are erased.
bool require_pilots(Reception& result, const CaptureSlots& slots);

/// Throws FileError if none of the capture's slots is an occasion.
void require_occasions(const CaptureSlots& slots, const Reception& result);

}  // namespace phy::detail
