#pragma once

#include <string>

#include "common/json.hpp"
#include "phy/files/measure.hpp"

namespace phy::apps {

/// The measurement of a capture, for programs and for people.
Json json_of(const Measured& done);
std::string text_of(const Measured& done);

}  // namespace phy::apps
