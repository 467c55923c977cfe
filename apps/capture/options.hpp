#pragma once

#include <optional>
#include <string>

#include "common/app.hpp"
#include "phy/capture/capture.hpp"

namespace phy::apps {

/// Adds --dataset, --from, --interleaved, --raw, --shape, --external-files, --full-scale and --modulation.
void add_capture_options(CaptureOptions& options, po::options_description& list);

/// Parses --gain: a number, or none for "auto". Throws ArgumentError otherwise.
std::optional<float> parse_gain(const std::string& text);

}  // namespace phy::apps
