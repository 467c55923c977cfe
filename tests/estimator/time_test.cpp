#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "estimator/estimator_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

/// The channel between DM-RS, of users of any speed.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::TimeInterpolation;

/// The channel in each symbol: plane waves from all directions.
using MovingChannel = std::array<std::vector<Complex>, 14>;

MovingChannel moving_channel(const EstimatorConfig& config, const Air& air, double doppler,
                             std::mt19937_64& random) {
    constexpr int waves = 60;
    constexpr double pi = std::numbers::pi;
    std::uniform_real_distribution<double> within(0.0, 1.0);
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const std::size_t rows = static_cast<std::size_t>(config.antennas) * config.allocation.dmrs.ports.size();
    MovingChannel channel;
    for (auto& symbol : channel)
        symbol.resize(rows * subcarriers);
    for (std::size_t row = 0; row < rows; ++row) {
        for (int wave = 0; wave < waves; ++wave) {
            const double delay = -air.delay_spread * std::log(1.0 - within(random));
            const double shift = doppler * std::cos(2.0 * pi * within(random));
            const Complex value = gaussian(random, 1.0 / waves);
            const Complex turn = std::polar(1.0, -2.0 * pi * delay * config.subcarrier_spacing);
            for (int symbol = 0; symbol < 14; ++symbol) {
                Complex at =
                    value * std::polar(1.0, 2.0 * pi * shift * time_of(symbol, config.subcarrier_spacing));
                for (std::size_t k = 0; k < subcarriers; ++k, at *= turn)
                    channel[static_cast<std::size_t>(symbol)][row * subcarriers + k] += at;
            }
        }
    }
    return channel;
}

Slot moving_slot(const EstimatorConfig& config, const Air& air, const MovingChannel& channel,
                 std::mt19937_64& random) {
    Slot slot;
    slot.grid.resize(static_cast<std::size_t>(config.antennas) * 14 *
                     static_cast<std::size_t>(config.allocation.subcarriers()));
    for (phy::cf32& element : slot.grid)
        element = phy::cf32(gaussian(random, air.noise_variance));
    slot.pilots.resize(phy::dmrs_pilot_count(config.allocation));
    phy::dmrs_pilots(config.allocation, 0, slot.pilots);
    const std::vector<int>& symbols = config.allocation.dmrs.symbols;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        slot.channel = channel[static_cast<std::size_t>(symbols[i])];
        add_pilots(config, air, i, slot);
    }
    return slot;
}

/// A link and a user.
struct Drawn {
    EstimatorConfig config;
    Air air;
    double turn = 0.0;  ///< of the fastest wave from the first to the last DM-RS, in radians
    double doppler = 0.0;
    std::string text;
};

Drawn draw(std::mt19937_64& random) {
    const auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    std::uniform_real_distribution<double> within(0.0, 1.0);
    const std::vector<std::vector<int>> all_symbols = {{2, 11}, {3, 10}, {2, 7, 11}, {2, 5, 8, 11}};
    const std::vector<std::vector<int>> all_ports = {{0}, {0, 1}, {0, 2}, {0, 1, 2, 3}};
    const std::vector<int>& ports = all_ports[static_cast<std::size_t>(below(4))];
    const int layers = static_cast<int>(ports.size());
    Drawn drawn;
    drawn.config = estimator_config(2 + below(40), layers + below(3), ports);
    drawn.config.allocation.dmrs.symbols = all_symbols[static_cast<std::size_t>(below(4))];
    drawn.air.noise_variance = std::pow(10.0, -0.1 * (40.0 * within(random)));
    drawn.air.delay_spread = std::pow(10.0, -8.0 + 1.5 * within(random));
    drawn.air.frequency = 1000.0 * (within(random) - 0.5);
    if (below(5) > 0) drawn.turn = std::pow(10.0, -2.5 + 2.5 * within(random));
    const std::vector<int>& symbols = drawn.config.allocation.dmrs.symbols;
    drawn.doppler = drawn.turn / (2.0 * std::numbers::pi *
                                  time_of(symbols.back() - symbols.front(), drawn.config.subcarrier_spacing));
    drawn.text = std::to_string(drawn.config.allocation.resource_blocks[0].count) + " blocks, " +
                 std::to_string(layers) + " layers, " + std::to_string(drawn.config.antennas) +
                 " antennas, " + std::to_string(symbols.size()) + " DM-RS, " +
                 std::to_string(-decibels(drawn.air.noise_variance)) + " dB, turn " +
                 std::to_string(drawn.turn);
    return drawn;
}

/// Over the symbols of some slots.
struct TimeErrors {
    double squared = 0.0;
    double said = 0.0;
};

/// With `average`, `linear` and `wiener`.
std::array<TimeErrors, 3> errors_of(const Drawn& drawn, int slots, std::mt19937_64& random) {
    std::array<TimeErrors, 3> errors;
    std::vector<phy::ChannelEstimator> estimators;
    for (const auto time :
         {TimeInterpolation::average, TimeInterpolation::linear, TimeInterpolation::wiener}) {
        EstimatorConfig config = drawn.config;
        config.time = time;
        estimators.push_back(make_estimator(config));
    }
    for (int s = 0; s < slots; ++s) {
        const MovingChannel channel = moving_channel(drawn.config, drawn.air, drawn.doppler, random);
        Slot slot = moving_slot(drawn.config, drawn.air, channel, random);
        for (std::size_t i = 0; i < estimators.size(); ++i) {
            const Estimated estimated = estimate(estimators[i], slot);
            errors[i].said += static_cast<double>(estimated.slot.channel_error) / slots;
            for (int symbol = 0; symbol < 14; ++symbol) {
                slot.channel = channel[static_cast<std::size_t>(symbol)];
                errors[i].squared += mean_square_error(drawn.config, drawn.air, slot,
                                                       weights_of(estimators[i]), estimated, symbol) /
                                     (14.0 * slots);
            }
        }
    }
    return errors;
}

/// Weights that a slot's DM-RS choose are as good as the better of the two that are the same for all, for
/// users of any speed: in dB of the noise of an element, with that of the errors of all layers.
TEST(TimeInterpolationTest, MeasuredDopplerIsNeverWorse) {
    std::mt19937_64 random(random_seed());
    const int draws = takes_fewer_cases() ? 4 : 24;
    double mean_gain = 0.0;
    double mean_said = 0.0;
    for (int i = 0; i < draws; ++i) {
        const Drawn drawn = draw(random);
        const std::array<TimeErrors, 3> errors = errors_of(drawn, 4, random);
        const auto noise_of = [&](double error) {
            return decibels(drawn.air.noise_variance + drawn.config.allocation.layers() * error);
        };
        const double noise = noise_of(errors[2].squared);
        const double loss_of_linear = noise - noise_of(errors[1].squared);
        const double loss = std::max(noise - noise_of(errors[0].squared), loss_of_linear);
        mean_gain -= loss_of_linear / draws;
        mean_said += (noise_of(errors[2].said) - noise) / draws;
        EXPECT_LT(loss_of_linear, 0.3) << drawn.text;
        EXPECT_LT(loss, 0.5) << drawn.text;
    }
    EXPECT_TRUE(takes_fewer_cases() || mean_gain > 0.1) << mean_gain;
    EXPECT_NEAR(mean_said, 0.0, 1.0);
    RecordProperty("mean_gain_db", std::to_string(mean_gain));
}

}  // namespace
