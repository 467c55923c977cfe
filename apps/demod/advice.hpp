#pragma once

#include <optional>
#include <string>

#include "demod/options.hpp"

namespace phy::apps {

/// One line that names the mismatch of a capture and the option that fixes it; none without a mismatch.
std::optional<std::string> advice_of(const Demodulation& done, const DemodOptions& options);

}  // namespace phy::apps
