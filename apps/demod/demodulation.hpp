#pragma once

#include <variant>

#include "demod/options.hpp"

namespace phy::apps {

/// Of symbols, or of samples or a grid.
using Demodulated = std::variant<Demodulation, Reception>;

/// Demodulates the capture and writes the trace where that is asked for. Shows progress unless quiet, and
/// logs warnings.
Demodulated demodulate(const DemodOptions& options, bool quiet);

}  // namespace phy::apps
