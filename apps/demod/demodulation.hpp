#pragma once

#include "common/demod_report.hpp"
#include "demod/options.hpp"

namespace phy::apps {

/// Reads the capture, demaps it, compares with the transmitted bits if there are any, and writes the soft
/// bits and the trace where they are asked for. Shows progress unless quiet.
DemodReport demodulate(const DemodOptions& options, bool quiet);

}  // namespace phy::apps
