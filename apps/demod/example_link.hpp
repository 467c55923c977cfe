#pragma once

#include <string>

namespace phy::apps {

/// The text of a link with comments. Throws ArgumentError unless channel is "pusch" or "pdsch".
std::string example_link(const std::string& channel);

}  // namespace phy::apps
