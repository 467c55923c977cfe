#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "phy/phy.hpp"

namespace phy::bench {

/// As many layers as antennas in 273 resource blocks, with two DM-RS symbols.
inline ChannelEstimatorConfig whole_carrier(int layers, float delay_spread) {
    ChannelEstimatorConfig config;
    config.allocation.carrier_resource_blocks = 273;
    config.allocation.resource_blocks = {{0, 273}};
    config.allocation.dmrs.ports.clear();
    for (int port = 0; port < layers; ++port)
        config.allocation.dmrs.ports.push_back(port);
    config.antennas = layers;
    config.delay_spread = delay_spread;
    return config;
}

/// A slot of that: noise at 30 dB everywhere, and DM-RS through channels of a path each.
inline std::vector<cf32> received_slot(const ChannelEstimatorConfig& config,
                                       const std::vector<cf32>& pilots) {
    const DmrsConfig& dmrs = config.allocation.dmrs;
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    std::mt19937 random(1);
    std::normal_distribution<float> part(0.0F, 0.0224F);
    std::vector<cf32> grid(static_cast<std::size_t>(config.antennas) * symbols_per_slot * subcarriers);
    for (cf32& element : grid)
        element = {part(random), part(random)};
    const std::size_t count = pilots.size() / dmrs.symbols.size();
    for (std::size_t a = 0; a < static_cast<std::size_t>(config.antennas); ++a) {
        for (std::size_t layer = 0; layer < dmrs.ports.size(); ++layer) {
            const DmrsPort port = dmrs_port(dmrs.type, dmrs.ports[layer]);
            for (std::size_t i = 0; i < dmrs.symbols.size() * count; ++i) {
                const int m = static_cast<int>(i % count);
                const int k = 12 * (m / 6) + pilot_subcarrier(dmrs.type, port.cdm_group, m % 6);
                const float turn = -0.002F * static_cast<float>(k) * static_cast<float>(1 + a + layer);
                const float code = static_cast<float>(port.in_frequency[static_cast<std::size_t>(m % 2)]);
                const std::size_t symbol = static_cast<std::size_t>(dmrs.symbols[i / count]);
                grid[(a * symbols_per_slot + symbol) * subcarriers + static_cast<std::size_t>(k)] +=
                    dmrs_amplitude(dmrs) * code * pilots[i] * std::polar(1.0F, turn);
            }
        }
    }
    return grid;
}

}  // namespace phy::bench
