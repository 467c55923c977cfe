#pragma once

#include <optional>
#include <string>

#include "phy/receiver/demodulate.hpp"

namespace phy::apps {

/// The command line of demod_app.
struct DemodOptions {
    std::string capture;
    std::string output;
    DemodulateOptions how;  ///< without places
    std::string trace;

    std::string backend = "auto";
    std::string device;  ///< see choose_places
    std::optional<int> threads;
    std::optional<std::uint64_t> chunk;
    std::optional<std::uint64_t> streams;
};

}  // namespace phy::apps
