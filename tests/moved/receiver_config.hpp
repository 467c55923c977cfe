#pragma once

#include "moved/configs.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy_test {

inline phy::ReceiverConfig receiver_config() {
    phy::ReceiverConfig config;
    config.input = phy::ReceiverInput::grid;
    config.link.allocation = small_allocation();
    config.delay_spread = 100e-9F;
    config.noise_variance = 0.1F;
    return config;
}

}  // namespace phy_test
