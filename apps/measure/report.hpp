#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"
#include "phy/files/measure.hpp"

namespace phy::apps {

/// The measurement of a capture, for programs and for people.
std::vector<Json::Member> members_of(const Measured& done);
std::string text_of(const Measured& done);

}  // namespace phy::apps
