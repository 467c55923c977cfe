#pragma once

#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/ofdm/ofdm_config.hpp"

/// The smallest configurations of operators.
namespace phy_test {

inline phy::SlotAllocation small_allocation() {
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = 2;
    allocation.resource_blocks = {{0, 2}};
    return allocation;
}

inline phy::ChannelEstimatorConfig estimator_config() {
    phy::ChannelEstimatorConfig config;
    config.allocation = small_allocation();
    config.delay_spread = 100e-9F;
    config.noise_variance = 0.1F;
    return config;
}

inline phy::EqualizerConfig equalizer_config() {
    phy::EqualizerConfig config;
    config.allocation = small_allocation();
    return config;
}

inline phy::OfdmConfig ofdm_config() {
    phy::OfdmConfig config;
    config.resource_blocks = 2;
    config.sample_rate = 128 * config.subcarrier_spacing;
    return config;
}

}  // namespace phy_test
