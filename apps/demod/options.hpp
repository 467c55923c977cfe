#pragma once

#include <string>

#include "capture/machine_options.hpp"
#include "phy/receiver/demodulate.hpp"

namespace phy::apps {

/// The command line of demod_app.
struct DemodOptions {
    std::string capture;
    std::string output;
    DemodulateOptions how;  ///< without places
    std::string trace;

    MachineOptions machine;
};

}  // namespace phy::apps
