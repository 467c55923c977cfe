#pragma once

#include <string>

#include "common/json.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/files/receive.hpp"

namespace phy::apps {

/// Result and speed of a demodulation, for programs and for people.
Json json_of(const Demodulation& done);
std::string text_of(const Demodulation& done);

/// The same for a reception.
Json json_of(const Reception& done);
std::string text_of(const Reception& done);

}  // namespace phy::apps
