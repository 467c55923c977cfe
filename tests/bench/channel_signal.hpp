#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <vector>

#include "phy/phy.hpp"

namespace phy::bench {

/// All resource blocks of a carrier with two DM-RS symbols, and as many layers as antennas.
inline ChannelEstimatorConfig whole_carrier(int layers, std::optional<float> delay_spread = {},
                                            int resource_blocks = 273) {
    ChannelEstimatorConfig config;
    config.allocation.carrier_resource_blocks = resource_blocks;
    config.allocation.resource_blocks = {{0, resource_blocks}};
    config.allocation.dmrs.ports.clear();
    for (int port = 0; port < layers; ++port)
        config.allocation.dmrs.ports.push_back(port);
    config.antennas = layers;
    config.delay_spread = delay_spread;
    return config;
}

/// A slot of it: 256QAM and DM-RS through channels of one path each, with noise at 30 dB.
inline std::vector<cf32> received_slot(const ChannelEstimatorConfig& config,
                                       const std::vector<cf32>& pilots) {
    std::mt19937 random(1);
    const GridMapper to_grid(config.allocation);
    std::vector<cf32> symbols(to_grid.symbols_per_slot());
    for (cf32& symbol : symbols)
        symbol = constellation_point(Modulation::qam256, random() % 256);
    std::vector<cf32> sent(to_grid.grid_size());
    to_grid(symbols, pilots, sent);

    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const std::size_t of_layer = symbols_per_slot * subcarriers;
    std::uniform_real_distribution<float> turns(-3.1F, 3.1F);
    std::normal_distribution<float> part(0.0F, 0.0224F);
    std::vector<cf32> grid(static_cast<std::size_t>(config.antennas) * of_layer);
    for (cf32& element : grid)
        element = {part(random), part(random)};
    for (std::size_t path = 0; path < grid.size() / of_layer * config.allocation.dmrs.ports.size(); ++path) {
        const std::size_t antenna = path % static_cast<std::size_t>(config.antennas);
        const std::size_t layer = path / static_cast<std::size_t>(config.antennas);
        const float at_first = turns(random);
        const float step = -0.001F * static_cast<float>(1 + path % 5);
        for (std::size_t i = 0; i < of_layer; ++i)
            grid[antenna * of_layer + i] +=
                sent[layer * of_layer + i] *
                std::polar(1.0F, at_first + step * static_cast<float>(i % subcarriers));
    }
    return grid;
}

/// Turns the OFDM symbols of a slot's grid, (antennas, symbols, subcarriers), as an oscillator does.
inline void turn_symbols(std::vector<cf32>& grid, std::size_t antennas) {
    const std::size_t subcarriers = grid.size() / antennas / symbols_per_slot;
    for (std::size_t i = 0; i < grid.size(); ++i)
        grid[i] *= std::polar(1.0F, 0.03F * static_cast<float>(i / subcarriers % symbols_per_slot % 4));
}

}  // namespace phy::bench
