#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

#include "equalizer/equalizer_cases.hpp"
#include "estimator/estimator_cases.hpp"

#include <gtest/gtest.h>

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::ChannelEstimator;
using std::numbers::pi;

/// All resource blocks of a carrier.
EstimatorConfig whole_carrier(int blocks, int antennas, std::vector<int> ports) {
    EstimatorConfig config = estimator_config(blocks, antennas, std::move(ports));
    config.allocation.carrier_resource_blocks = blocks;
    config.allocation.resource_blocks = {{0, blocks}};
    return config;
}

/// Adds an interferer of unit power, whose phase turns from antenna to antenna, and once over `blocks`
/// resource blocks.
void add_turning_interferer(Slot& slot, int antennas, double blocks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::size_t of_antenna = slot.grid.size() / static_cast<std::size_t>(antennas);
    const std::size_t subcarriers = of_antenna / 14;
    for (std::size_t i = 0; i < of_antenna; ++i) {
        const Complex interference = gaussian(random, 1.0);
        const double turns = static_cast<double>(i % subcarriers) / (12.0 * blocks);
        for (int a = 0; a < antennas; ++a)
            slot.grid[static_cast<std::size_t>(a) * of_antenna + i] +=
                phy::cf32(interference * std::polar(1.0, 2.0 * pi * turns * a));
    }
}

/// The mean over antennas of |R - expected|^2, where expected is that of the interferer and N0 of 0.01.
double error_of_matrix(const phy::cf32* covariance, int antennas, double middle, double width,
                       double blocks) {
    double sum = 0.0;
    for (int a = 0; a < antennas; ++a) {
        for (int b = 0; b < antennas; ++b) {
            const double turn = pi * (a - b) * width / blocks;
            const double kept = a == b ? 1.0 : std::sin(turn) / turn;
            const Complex expected =
                kept * std::polar(1.0, 2.0 * pi * (a - b) * middle / blocks) + (a == b ? 0.01 : 0.0);
            sum += std::norm(Complex(covariance[a * antennas + b]) - expected);
        }
    }
    return sum / (antennas * antennas);
}

TEST(Covariance, MeasuresCovariance) {
    EstimatorConfig config = estimator_config(52, 3, {0, 1});
    ChannelEstimator estimator = make_estimator(config);
    Slot slot = make_slot(config, air_at(20.0), 9);
    // An interferer with the signature (1, j, -0.5) at 10 dB below the signal.
    const Complex signature[] = {1.0, {0.0, 1.0}, -0.5};
    std::mt19937_64 random(3);
    const std::size_t of_antenna = slot.grid.size() / 3;
    for (std::size_t i = 0; i < of_antenna; ++i) {
        const Complex interference = gaussian(random, 0.1);
        for (std::size_t a = 0; a < 3; ++a)
            slot.grid[a * of_antenna + i] += phy::cf32(signature[a] * interference);
    }
    const Estimated estimated = estimate(estimator, slot, 1);
    for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
            const Complex expected = 0.1 * signature[a] * std::conj(signature[b]) + (a == b ? 0.01 : 0.0);
            EXPECT_LT(std::abs(Complex(estimated.covariance[3 * a + b]) - expected), 0.012) << a << ", " << b;
        }
    }
    EXPECT_NEAR(static_cast<double>(estimated.slot.noise_variance), 0.01 + 0.1 * 2.25 / 3.0, 0.009);
}

TEST(Covariance, FollowsInterferenceOverTheBand) {
    constexpr int blocks = 52;
    for (const int antennas : {2, 4, 8}) {
        const double turn = antennas == 2 ? 13.0 : 60.0;
        const int of_subband = antennas <= 4 ? 4 : 8;
        const int subbands = (blocks + of_subband - 1) / of_subband;
        ASSERT_EQ(phy::subbands(antennas, blocks), subbands);
        const EstimatorConfig config = whole_carrier(blocks, antennas, {0, 1});
        ChannelEstimator estimator = make_estimator(config);
        double error = 0.0;
        double of_slot = 0.0;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            Slot slot = make_slot(config, air_at(20.0), seed);
            add_turning_interferer(slot, antennas, turn, 100 + seed);
            const Estimated estimated = estimate(estimator, slot, subbands);
            const Estimated one = estimate(estimator, slot, 1);
            for (int i = 0; i < subbands; ++i) {
                const double width = std::min(of_subband, blocks - of_subband * i);
                const double middle = of_subband * i + 0.5 * width;
                const phy::cf32* const own =
                    &estimated.covariance[static_cast<std::size_t>(i * antennas * antennas)];
                error += error_of_matrix(own, antennas, middle, width, turn) / (4.0 * subbands);
                of_slot +=
                    error_of_matrix(one.covariance.data(), antennas, middle, width, turn) / (4.0 * subbands);
            }
        }
        // Of 24 pilots a resource block has.
        EXPECT_LT(error, 2.0 / (12 * of_subband)) << antennas;
        EXPECT_GT(of_slot, 0.2) << antennas;
    }
}

/// What a whitener of R leaves of the noise at subcarriers of a subband, over what R says: the mean over
/// slots, of the combiner of a signal whose antennas are alike.
double noise_over_claim(const EstimatorConfig& config, double blocks, int subband) {
    const int antennas = config.antennas;
    const int all = config.allocation.carrier_resource_blocks;
    const int subbands = phy::subbands(antennas, all);
    const auto size = static_cast<std::size_t>(antennas);
    ChannelEstimator estimator = make_estimator(config);
    double sum = 0.0;
    constexpr int slots = 20;
    for (std::uint64_t seed = 1; seed <= slots; ++seed) {
        Slot slot = make_slot(config, air_at(20.0), seed);
        add_turning_interferer(slot, antennas, blocks, 100 + seed);
        const Estimated estimated = estimate(estimator, slot, subbands);
        const phy::cf32* const r = &estimated.covariance[static_cast<std::size_t>(subband) * size * size];
        const int first = phy::subband_blocks(antennas) * subband;
        const double middle = 0.5 * (first + std::min(first + phy::subband_blocks(antennas), all));
        std::vector<Complex> matrix(r, r + size * size);
        std::vector<Complex> weights(size, 1.0);
        eliminate(matrix, weights, size, 1);
        Complex real = 0.0;
        Complex claimed = 0.0;
        for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < size; ++b) {
                const double turns = (static_cast<double>(a) - static_cast<double>(b)) * middle / blocks;
                const Complex truth = std::polar(1.0, 2.0 * pi * turns) + (a == b ? 0.01 : 0.0);
                real += std::conj(weights[a]) * truth * weights[b];
                claimed += std::conj(weights[a]) * Complex(r[a * size + b]) * weights[b];
            }
        }
        sum += real.real() / claimed.real() / slots;
    }
    return sum;
}

/// The last subband is a resource block alone, whose few pilots say little of many antennas.
TEST(Covariance, OfFewPilotsClaimsNoLessNoiseThanThereIs) {
    for (const int antennas : {4, 8, 16}) {
        const EstimatorConfig config = whole_carrier(49, antennas, {0});
        EXPECT_LT(noise_over_claim(config, 30.0 * antennas, 2), 2.0) << antennas;
        EXPECT_LT(noise_over_claim(config, 30.0 * antennas, phy::subbands(antennas, 49) - 1), 2.5)
            << antennas;
    }
}

/// Noise of a part of the band is known there, with one antenna too.
TEST(Covariance, FollowsNoiseOverTheBand) {
    const EstimatorConfig config = whole_carrier(52, 1, {0});
    ChannelEstimator estimator = make_estimator(config);
    Slot slot = make_slot(config, air_at(20.0), 5);
    std::mt19937_64 random(6);
    for (std::size_t i = 0; i < slot.grid.size(); ++i)
        if (i % 624 / 48 == 5) slot.grid[i] += phy::cf32(gaussian(random, 1.0));
    const Estimated estimated = estimate(estimator, slot, 13);
    for (std::size_t i = 0; i < 13; ++i) {
        const double noise = static_cast<double>(estimated.covariance[i].real());
        if (i == 5)
            EXPECT_NEAR(noise, 1.0, 0.5);
        else
            EXPECT_LT(noise, 0.1) << i;
    }
}

/// What chance makes of 24 pilots counts little if all subbands are alike.
TEST(Covariance, IsThatOfTheSlotInWhiteNoise) {
    for (const int antennas : {2, 4, 8}) {
        const EstimatorConfig config = whole_carrier(52, antennas, {0, 1});
        ChannelEstimator estimator = make_estimator(config);
        const int subbands = phy::subbands(antennas, 52);
        double error = 0.0;
        constexpr int slots = 10;
        for (std::uint64_t seed = 1; seed <= slots; ++seed) {
            const Estimated estimated = estimate(estimator, make_slot(config, air_at(10.0), seed), subbands);
            const std::size_t pairs = estimated.covariance.size() / static_cast<std::size_t>(subbands);
            for (std::size_t i = 0; i < estimated.covariance.size(); ++i) {
                const bool on_diagonal = i % pairs % static_cast<std::size_t>(antennas + 1) == 0;
                error += std::norm(Complex(estimated.covariance[i]) / 0.1 - (on_diagonal ? 1.0 : 0.0)) /
                         static_cast<double>(slots * estimated.covariance.size());
            }
        }
        EXPECT_LT(error, 0.25 / (12 * phy::subband_blocks(antennas))) << antennas;
    }
}

}  // namespace
