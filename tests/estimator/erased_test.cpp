// Subcarriers that a receiver does not use.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "estimator/estimator_cases.hpp"
#include "phy/core/error.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

/// Lines of any strength, and samples that are no numbers.
void spoil(const EstimatorConfig& config, std::mt19937& random, Slot& slot) {
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    for (std::size_t row = 0; row < slot.grid.size() / subcarriers; ++row)
        for (const int k : config.allocation.erased_subcarriers)
            slot.grid[row * subcarriers + static_cast<std::size_t>(k)] =
                random() % 8 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                  : static_cast<float>(random() % 1000);
}

/// Mean square error of coefficients that are not erased. Those that are must be 0.
double error_beside(const EstimatorConfig& config, const Air& air, const Slot& slot,
                    const phy::ChannelEstimator& estimator, const Estimated& estimated,
                    const std::set<int>& erased) {
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const std::size_t layers = config.allocation.dmrs.ports.size();
    const int symbol = config.allocation.dmrs.symbols[0];
    const phy::ResourceBlocks range = config.allocation.resource_blocks.front();
    double sum = 0.0;
    double count = 0.0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(config.antennas) * layers; ++row) {
        for (int i = 0; i < 12 * range.count; ++i) {
            const auto k = static_cast<std::size_t>(12 * range.first + i);
            const Complex h =
                estimate_at(config, weights_of(estimator), estimated, symbol, row / layers, row % layers, k);
            if (erased.contains(static_cast<int>(k))) {
                EXPECT_TRUE(config.allocation.erased_subcarriers.empty() || h == Complex()) << k;
                continue;
            }
            sum += std::norm(h - slot.channel[row * subcarriers + k] *
                                     offset_at(air, config.subcarrier_spacing, symbol, k));
            count += 1.0;
        }
    }
    return sum / count;
}

struct Draw {
    EstimatorConfig config;
    Air air;
};

Draw draw(std::mt19937& random) {
    const int type = 1 + static_cast<int>(random() % 2);
    const std::vector<std::vector<int>> ports = {{0}, {1}, {0, 1}, {0, 2}, {2, 3}, {0, 1, 2, 3}};
    Draw result;
    result.config = estimator_config(12 + static_cast<int>(random() % 50), 1 + static_cast<int>(random() % 3),
                                     ports[random() % ports.size()], type);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    result.air = {.delay_spread = 10e-9 + 90e-9 * unit(random),
                  .noise_variance = std::pow(10.0, -1.0 - 2.0 * unit(random)),
                  .timing = 100e-9 * (unit(random) - 0.5),
                  .frequency = 200.0 * (unit(random) - 0.5)};
    return result;
}

TEST(ErasedSubcarriers, CostLittle) {
    const unsigned seed = std::random_device()();
    std::mt19937 random(seed);
    for (int trial = 0; trial < 20; ++trial) {
        const auto [config, air] = draw(random);
        EstimatorConfig erasing = config;
        // Of twelve neighbours one is erased, or two.
        std::vector<int>& list = erasing.allocation.erased_subcarriers;
        for (int block = 1; block <= config.allocation.resource_blocks.front().count; block += 8) {
            list.push_back(12 * block + static_cast<int>(random() % 11));
            if (random() % 2 == 0) list.push_back(list.back() + 1);
        }
        const std::set<int> erased(list.begin(), list.end());
        phy::ChannelEstimator usual = make_estimator(config);
        phy::ChannelEstimator estimator = make_estimator(erasing);
        double without = 0.0;
        double with = 0.0;
        double noise = 0.0;
        constexpr int slots = 24;
        for (int s = 0; s < slots; ++s) {
            Slot slot = make_slot(config, air, random());
            without += error_beside(config, air, slot, usual, estimate(usual, slot), erased);
            spoil(erasing, random, slot);
            const Estimated estimated = estimate(estimator, slot);
            with += error_beside(erasing, air, slot, estimator, estimated, erased);
            noise += static_cast<double>(estimated.slot.noise_variance) / slots;
        }
        const std::string what = "trial " + std::to_string(trial) + ", seed " + std::to_string(seed);
        EXPECT_LT(decibels(with / without), 2.0) << what;
        EXPECT_LT(std::fabs(decibels(noise / air.noise_variance)), 1.0) << what;
    }
}

TEST(ErasedSubcarriers, LeaveDmrsInEachRange) {
    EstimatorConfig config = estimator_config(1, 1, {0});
    config.allocation.erased_subcarriers = {12, 16, 20};  // comb 0
    EXPECT_THROW(make_estimator(config), phy::ArgumentError);
    config.allocation.erased_subcarriers = {12, 20, 0, 35};
    EXPECT_NO_THROW(make_estimator(config));
    config.allocation.erased_subcarriers = {36};
    EXPECT_THROW(make_estimator(config), phy::ArgumentError);
}

}  // namespace
