#pragma once

#include <string>

#include "common/json.hpp"
#include "phy/receiver/demodulate.hpp"

namespace phy::apps {

/// What a demodulation did and how fast it was, for programs and for people.
Json json_of(const Demodulation& done);
std::string text_of(const Demodulation& done);

}  // namespace phy::apps
