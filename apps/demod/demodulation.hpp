#pragma once

#include <variant>

#include "demod/options.hpp"

namespace phy::apps {

/// The result for symbols, or for samples or a grid.
using Demodulated = std::variant<Demodulation, Reception>;

/// Demodulates the capture, and writes the trace on request. Shows progress unless quiet, and logs warnings.
Demodulated demodulate(const DemodOptions& options, bool quiet);

}  // namespace phy::apps
