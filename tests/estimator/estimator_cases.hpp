#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "phy/dmrs/dmrs.hpp"
#include "phy/estimator/estimator.hpp"

/// Slots of a known channel and the expected estimates, in binary64 and independent of the library.
namespace phy_test {

using Complex = std::complex<double>;
using EstimatorConfig = phy::ChannelEstimatorConfig;

/// A received slot and its channel.
struct Slot {
    std::vector<phy::cf32> grid;    ///< (antennas, symbols, subcarriers)
    std::vector<phy::cf32> pilots;  ///< (DM-RS symbols, pilots)
    std::vector<Complex> channel;   ///< (antennas, layers, subcarriers) at symbol 0, without offsets
};

/// The channel of a slot.
struct Air {
    double delay_spread = 100e-9;
    double noise_variance = 0.01;
    double timing = 0.0;     ///< s
    double frequency = 0.0;  ///< Hz
    double power = 1.0;
    double late_power = 0.0;  ///< of an extra path beyond the profile
    double late_delay = 0.0;  ///< s
};

inline Air air_at(double snr_db) {
    return {.noise_variance = std::pow(10.0, -snr_db / 10.0)};
}

/// From the beginning of symbol 0, in s.
inline double time_of(int symbol, double spacing) {
    return symbol * (1.0 + 144.0 / 2048.0) / spacing;
}

inline Complex gaussian(std::mt19937_64& random, double variance) {
    std::normal_distribution<double> part(0.0, std::sqrt(0.5 * variance));
    const double re = part(random);
    return {re, part(random)};
}

/// One path in each equal part of the exponential profile's range, so that weak and late paths have their
/// proper share.
inline std::vector<Complex> draw_channel(std::mt19937_64& random, int subcarriers, double spacing,
                                         const Air& air) {
    constexpr int paths = 120;
    constexpr double range = 18.0;
    std::uniform_real_distribution<double> within(0.0, 1.0);
    std::vector<Complex> channel(static_cast<std::size_t>(subcarriers));
    for (int path = 0; path < paths; ++path) {
        const double delay = (path + within(random)) * range / paths;
        Complex value = gaussian(random, air.power * std::exp(-delay) * range / paths);
        const Complex turn = std::polar(1.0, -2.0 * std::numbers::pi * delay * air.delay_spread * spacing);
        for (Complex& element : channel) {
            element += value;
            value *= turn;
        }
    }
    if (air.late_power == 0.0) return channel;
    Complex value = gaussian(random, air.late_power);
    const Complex turn = std::polar(1.0, -2.0 * std::numbers::pi * air.late_delay * spacing);
    for (Complex& element : channel) {
        element += value;
        value *= turn;
    }
    return channel;
}

/// The factor of timing and frequency offset for a subcarrier in a symbol.
inline Complex offset_at(const Air& air, double spacing, int symbol, std::size_t subcarrier) {
    const double turns =
        air.frequency * time_of(symbol, spacing) - air.timing * spacing * static_cast<double>(subcarrier);
    return std::polar(1.0, 2.0 * std::numbers::pi * turns);
}

/// Adds the ports' pilots on a subcarrier of a DM-RS symbol, with codes and amplitude.
inline void add_pilots(const EstimatorConfig& config, const Air& air, std::size_t symbol_index, Slot& slot) {
    const phy::SlotAllocation& allocation = config.allocation;
    const phy::DmrsConfig& dmrs = allocation.dmrs;
    const auto subcarriers = static_cast<std::size_t>(allocation.subcarriers());
    const double amplitude = static_cast<double>(phy::dmrs_amplitude(dmrs));
    const int symbol = dmrs.symbols[symbol_index];
    const std::size_t count = slot.pilots.size() / dmrs.symbols.size();
    const int each = phy::pilots_per_resource_block(dmrs.type);
    for (std::size_t layer = 0; layer < dmrs.ports.size(); ++layer) {
        const phy::DmrsPort port = phy::dmrs_port(dmrs.type, dmrs.ports[layer]);
        const int in_time = port.in_time[symbol_index % static_cast<std::size_t>(dmrs.length)];
        std::size_t pilot = symbol_index * count;
        for (const phy::ResourceBlocks& range : allocation.resource_blocks) {
            for (int i = 0; i < range.count * each; ++i, ++pilot) {
                const auto k =
                    static_cast<std::size_t>(12 * (range.first + i / each) +
                                             phy::pilot_subcarrier(dmrs.type, port.cdm_group, i % each));
                const double code = in_time * port.in_frequency[static_cast<std::size_t>(i % 2)];
                const Complex sent = amplitude * code * Complex(slot.pilots[pilot]);
                for (std::size_t a = 0; a < static_cast<std::size_t>(config.antennas); ++a) {
                    const Complex through = slot.channel[(a * dmrs.ports.size() + layer) * subcarriers + k] *
                                            offset_at(air, config.subcarrier_spacing, symbol, k);
                    slot.grid[(a * 14 + static_cast<std::size_t>(symbol)) * subcarriers + k] +=
                        phy::cf32(through * sent);
                }
            }
        }
    }
}

/// A slot with DM-RS and noise only.
inline Slot make_slot(const EstimatorConfig& config, const Air& air, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const phy::SlotAllocation& allocation = config.allocation;
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const auto subcarriers = static_cast<std::size_t>(allocation.subcarriers());
    Slot slot;
    slot.grid.resize(antennas * 14 * subcarriers);
    for (phy::cf32& element : slot.grid)
        element = phy::cf32(gaussian(random, air.noise_variance));
    slot.pilots.resize(phy::dmrs_pilot_count(allocation));
    phy::dmrs_pilots(allocation, static_cast<int>(seed % 20), slot.pilots);
    for (std::size_t i = 0; i < antennas * allocation.dmrs.ports.size(); ++i) {
        const std::vector<Complex> one =
            draw_channel(random, allocation.subcarriers(), config.subcarrier_spacing, air);
        slot.channel.insert(slot.channel.end(), one.begin(), one.end());
    }
    for (std::size_t symbol = 0; symbol < allocation.dmrs.symbols.size(); ++symbol)
        add_pilots(config, air, symbol, slot);
    return slot;
}

/// The output of an estimator for one slot.
struct Estimated {
    std::vector<float> channel;
    phy::SlotEstimate slot;
    std::vector<phy::cf32> covariance;
};

/// The estimate in a symbol, as defined by SlotEstimate.
inline Complex estimate_at(const EstimatorConfig& config, const std::vector<float>& weights,
                           const Estimated& estimated, int symbol, std::size_t antenna, std::size_t layer,
                           std::size_t k) {
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const std::size_t estimates = estimated.channel.size() / static_cast<std::size_t>(config.antennas) /
                                  config.allocation.dmrs.ports.size() / (2 * subcarriers);
    const std::size_t weight_row =
        static_cast<std::size_t>(estimated.slot.time_set) * 14 + static_cast<std::size_t>(symbol);
    Complex sum;
    for (std::size_t e = 0; e < estimates; ++e) {
        const std::size_t row =
            ((e * static_cast<std::size_t>(config.antennas) + antenna) * config.allocation.dmrs.ports.size() +
             layer) *
            2 * subcarriers;
        sum += static_cast<double>(weights[weight_row * estimates + e]) *
               Complex(estimated.channel[row + k], estimated.channel[row + subcarriers + k]);
    }
    return sum * Complex(estimated.slot.phase[static_cast<std::size_t>(symbol)]);
}

/// Mean square error of the estimate over the allocation in a symbol.
inline double mean_square_error(const EstimatorConfig& config, const Air& air, const Slot& slot,
                                const std::vector<float>& weights, const Estimated& estimated, int symbol) {
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const std::size_t layers = config.allocation.dmrs.ports.size();
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(config.antennas) * layers; ++row) {
        for (const phy::ResourceBlocks& range : config.allocation.resource_blocks) {
            for (int i = 0; i < 12 * range.count; ++i) {
                const auto k = static_cast<std::size_t>(12 * range.first + i);
                const Complex truth = slot.channel[row * subcarriers + k] *
                                      offset_at(air, config.subcarrier_spacing, symbol, k);
                sum += std::norm(
                    estimate_at(config, weights, estimated, symbol, row / layers, row % layers, k) - truth);
                count += 1.0;
            }
        }
    }
    return sum / count;
}

inline phy::ChannelEstimator make_estimator(const EstimatorConfig& config) {
    return {phy::Host(), config};
}

/// matrices: of the covariance.
inline Estimated estimate(phy::ChannelEstimator& estimator, const Slot& slot, int matrices = 0) {
    Estimated result;
    result.channel.resize(estimator.channel_size());
    const int antennas = estimator.config().antennas;
    result.covariance.resize(static_cast<std::size_t>(matrices * antennas * antennas));
    estimator(slot.grid, slot.pilots, result.channel, std::span(&result.slot, 1), result.covariance);
    return result;
}

inline std::vector<float> weights_of(const phy::ChannelEstimator& estimator) {
    return {estimator.time_weights().begin(), estimator.time_weights().end()};
}

/// One range of resource blocks, from the carrier's second on.
inline EstimatorConfig estimator_config(int blocks, int antennas, std::vector<int> ports, int type = 1,
                                        int length = 1) {
    EstimatorConfig config;
    config.allocation.carrier_resource_blocks = blocks + 2;
    config.allocation.resource_blocks = {{1, blocks}};
    config.allocation.dmrs.type = type;
    config.allocation.dmrs.length = length;
    config.allocation.dmrs.ports = std::move(ports);
    config.allocation.dmrs.cdm_groups_without_data = type == 1 ? 2 : 3;
    if (length == 2) config.allocation.dmrs.symbols = {2, 3, 10, 11};
    config.antennas = antennas;
    return config;
}

inline double decibels(double ratio) {
    return 10.0 * std::log10(ratio);
}

}  // namespace phy_test
