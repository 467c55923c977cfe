#pragma once

#include "demod/options.hpp"

namespace phy::apps {

/// Demodulates the capture and writes the trace where that is asked for. Shows progress unless quiet, and
/// logs warnings.
Demodulation demodulate(const DemodOptions& options, bool quiet);

}  // namespace phy::apps
