#pragma once

#include "phy/files/receive.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/capture_slots.hpp"

namespace phy::detail {

/// Follows the slots of a recording: measures their timing and frequency again and again, up to half a second
/// apart, and searches for them where they are not as expected. Sets the places of the slots, from
/// corrected offsets with DM-RS on, and the result's offsets, clock and gaps.
///
/// The recorder's clock is corrected, by resampling, if that brings the equalised symbols clearly nearer to
/// their points: the clock that the timing shows, or the one that the frequency shows if the recorder has one
/// reference for both. The measured slots depend on the recording alone.
void follow_slots(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                  const CorrectedOffsets& corrected, Reception& result, const ReceiveOptions& options);

}  // namespace phy::detail
