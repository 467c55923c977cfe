#pragma once

#include "phy/machine/host.hpp"

namespace phy::apps {

/// The scalar backend, whatever PHY_BACKEND says.
inline Host scalar_host() {
    return Host({.backend = Backend::scalar()});
}

}  // namespace phy::apps
