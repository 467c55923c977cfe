#pragma once

#include <span>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"

namespace phy::detail {

/// Whether the common phase errors that were taken out can be those of an oscillator: OFDM symbols are
/// rotated against their neighbours as much to one side as to the other. What rotates all to one side, such
/// as a wrong f0, may rotate them by a quarter of a circle more, which decisions do not see. True if none
/// were taken out.
bool is_oscillator(const Reception& result, std::span<const ReceivedSlot> received);

/// The reception without phase tracking, for warnings: of up to 64 slots, spread over the capture.
Reception without_tracking(const Reception& result, const Host& host, const ReceiverConfig& config,
                           CaptureSlots& slots);

}  // namespace phy::detail
