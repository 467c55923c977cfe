#pragma once

#include <cstdlib>
#include <string>

namespace phy::test {

/// Where it was built, or in the folder that PHY_APPS_DIR names: an installation's.
inline std::string link_sim_program() {
    const char* const folder = std::getenv("PHY_APPS_DIR");
    return folder == nullptr ? LINK_SIM : folder + std::string("/link_sim");
}

}  // namespace phy::test
