#pragma once

#include <string>

#include "capture/machine_options.hpp"
#include "phy/receiver/measure.hpp"

namespace phy::apps {

/// The command line of measure_app.
struct MeasureAppOptions {
    std::string capture;
    MeasureOptions how;  ///< without places
    MachineOptions machine;
};

}  // namespace phy::apps
