#pragma once

#include "phy/machine/host.hpp"

namespace phy::apps {

/// Which is there whatever PHY_BACKEND says.
inline Host scalar_host() {
    return Host({.backend = Backend::scalar()});
}

}  // namespace phy::apps
