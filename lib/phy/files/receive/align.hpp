#pragma once

#include <cstdint>
#include <vector>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_signal.hpp"

namespace phy::detail {

/// Finds by how much the signal comes later in further files of antennas than in the first, each from its own
/// DM-RS, modulo frames, and aligns the samples. Returns the delays per antenna, in recorded samples. empty:
/// there is one file, a file alone does not show its DM-RS, or the delays are within a part of a prefix,
/// where they do no harm. config: with the link of the signal.
std::vector<std::int64_t> align_files(const Host& host, const ReceiverConfig& config, CaptureSignal& signal,
                                      const ReceiveOptions& options);

}  // namespace phy::detail
