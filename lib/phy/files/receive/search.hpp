#pragma once

#include <optional>
#include <string>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_signal.hpp"

namespace phy::detail {

/// Searches a capture for the first slot of the schedule that has DM-RS, and sets the link accordingly: its
/// first slot and sample, and its frequency shift if the offset is more than a tenth of a subcarrier. Throws
/// FileError, with a diagnosis if wanted, if it is not found. None: a stop was requested.
std::optional<FoundSlot> find_slots(const Host& host, ReceiverConfig& config, CaptureSignal& signal,
                                    const ReceiveOptions& options);

/// The link with another searched_slot().
Link searching(Link link, int slot);

/// For errors: the settings of the expected DM-RS, and how samples were read if the capture does not say it.
std::string settings_of(const Link& link, const CaptureDescription& capture);

}  // namespace phy::detail
