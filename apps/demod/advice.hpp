#pragma once

#include <optional>
#include <string>

#include "demod/options.hpp"

namespace phy::apps {

/// In one line what of the capture does not fit the rest, and which option mends that; none where nothing is
/// doubted.
std::optional<std::string> advice_of(const Demodulation& done, const DemodOptions& options);

}  // namespace phy::apps
