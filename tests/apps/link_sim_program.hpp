#pragma once

#include <cstdlib>
#include <string>

namespace phy::test {

/// link_sim where it was built, or in the folder PHY_APPS_DIR of an installation.
inline std::string link_sim_program() {
    const char* const folder = std::getenv("PHY_APPS_DIR");
    return folder == nullptr ? LINK_SIM : folder + std::string("/link_sim");
}

}  // namespace phy::test
