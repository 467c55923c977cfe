#pragma once

#include "capture_gen/options.hpp"

namespace phy::apps {

/// Writes a capture of equalised symbols (random bits, mapped, with noise) and prints the result.
void capture_symbols(const CaptureGenOptions& options, const CommonOptions& common);

/// Writes a capture of samples or of a grid (see checked_kind()) with its link and its codewords. Prints the
/// result.
void capture_link(const CaptureGenOptions& options, const CommonOptions& common);

}  // namespace phy::apps
