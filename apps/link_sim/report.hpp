#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "link_sim/options.hpp"

namespace phy::apps {

/// Results of all points, or of those done when the user asked to stop.
struct LinkReport {
    LinkSimOptions options;
    std::vector<LinkConfig> points;
    std::vector<PointState> states;  ///< one per point
    int threads = 1;                 ///< of all ranks
    int ranks = 0;                   ///< of an MPI program; 0: there is none
    std::uint64_t slots_before = 0;  ///< simulated by earlier runs
    double seconds = 0.0;
    bool complete = true;
};

Json json_of(const LinkReport& report);
std::string text_of(const LinkReport& report);
std::string csv_of(const LinkReport& report);

}  // namespace phy::apps
