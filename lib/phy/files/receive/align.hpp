#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"

namespace phy::detail {

/// How the delays of files are measured, in samples.
struct AlignConfig {
    std::uint64_t max_delay = 0;
    std::uint64_t harmless = 0;  ///< between all files: left to the receiver
    std::uint64_t spread = 0;    ///< between the paths of a channel, at most
    std::stop_token stop = {};   ///< ends it; files that were not compared count as simultaneous
};

/// CaptureOptions::skip that aligns files of antennas. It comes from the correlation of their samples, which
/// needs no knowledge of the signal. empty: nothing to skip. Adds a warning for each file whose samples do
/// not correlate with those of another, or that is skipped by a doubtful delay.
std::vector<std::uint64_t> aligning_skip(const std::filesystem::path& first, const CaptureOptions& options,
                                         const AlignConfig& config, std::vector<std::string>& warnings);

}  // namespace phy::detail
