#pragma once

#include <string>

#include "capture/machine_options.hpp"
#include "phy/files/measure.hpp"

namespace phy::apps {

/// The command line of measure_app.
struct MeasureAppOptions {
    std::string capture;
    std::string link;               ///< link file; empty: the capture's attribute
    std::string survey;             ///< file; empty: none
    bool surveys_if_slots = false;  ///< captures of symbols ignore the survey
    MeasureOptions how;             ///< without places and survey
    MachineOptions machine;
};

void add_measure_app_options(MeasureAppOptions& options, po::options_description& list);

}  // namespace phy::apps
