#pragma once

#include <cstdint>
#include <vector>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"

namespace phy::detail {

/// Takes lines at frequency 0 out of all samples that are strong enough to harm the search for slots and the
/// measurement of offsets.
void take_out_harmful_lines(CaptureSignal& signal, const Link& link);

/// Sets the track of the slots from measured stretches, and what is corrected of the samples: the clock that
/// the timing shows or the one that the frequency shows; a line at frequency 0 and a mirror image that the
/// samples show; and gains of antennas that their noise shows. Except for harmful lines, each is corrected,
/// in samples that are resampled for it, if the equalised symbols of some slots from occasion `first` on are
/// then clearly nearer to their points.
void choose_corrections(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                        const std::vector<Track::Stretch>& stretches, std::uint64_t first, Reception& result);

}  // namespace phy::detail
