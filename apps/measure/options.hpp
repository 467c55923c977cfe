#pragma once

#include <string>

#include "capture/machine_options.hpp"
#include "phy/files/measure.hpp"

namespace phy::apps {

/// The command line of measure_app.
struct MeasureAppOptions {
    std::string capture;
    MeasureOptions how;  ///< without places
    MachineOptions machine;
};

void add_measure_app_options(MeasureAppOptions& options, po::options_description& list);

}  // namespace phy::apps
