#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"
#include "link_sim/options.hpp"

namespace phy::apps {

/// What came of all points.
struct LinkReport {
    LinkSimOptions options;
    std::vector<LinkConfig> points;
    std::vector<PointState> states;  ///< of each point
    int threads = 1;
    double seconds = 0.0;
};

Json json_of(const LinkReport& report);
std::string text_of(const LinkReport& report);
std::string csv_of(const LinkReport& report);

}  // namespace phy::apps
