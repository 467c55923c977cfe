#pragma once

#include "capture_gen/options.hpp"

namespace phy::apps {

/// Writes a capture of equalised symbols (random bits, mapped, with noise) and prints the result.
void capture_symbols(const CaptureGenOptions& options, const CommonOptions& common);

}  // namespace phy::apps
