#pragma once

#include <optional>
#include <string>

#include "capture/machine_options.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/files/receive.hpp"

namespace phy::apps {

/// The command line of demod_app.
struct DemodOptions {
    std::string capture;
    std::string output;
    DemodulateOptions how;  ///< without places; of the capture and soft bits, for all kinds of captures
    std::optional<SoftBitFormat> llr;
    std::string trace;

    std::string link;        ///< a file; empty: the capture's
    ReceiveOptions receive;  ///< what only samples and grids have

    MachineOptions machine;
};

void add_demod_options(DemodOptions& options, po::options_description& list);

}  // namespace phy::apps
