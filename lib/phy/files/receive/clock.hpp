#pragma once

#include <cstdint>
#include <vector>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"

namespace phy::detail {

/// Sets the track of the slots from measured stretches, and the result's clock. Of the clock that the timing
/// shows, the one that the frequency shows, and none, it takes the one with which the equalised symbols of
/// some slots from occasion `first` on lie nearest to their points. Samples are resampled if one of the first
/// two is clearly better.
void choose_clock(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                  std::vector<Track::Stretch> stretches, std::uint64_t first, Reception& result);

}  // namespace phy::detail
