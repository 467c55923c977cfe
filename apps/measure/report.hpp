#pragma once

#include <string>

#include "common/json.hpp"
#include "phy/files/measure.hpp"

namespace phy::apps {

/// What the symbols of a capture are like, for programs and for people.
Json json_of(const Measured& done);
std::string text_of(const Measured& done);

}  // namespace phy::apps
