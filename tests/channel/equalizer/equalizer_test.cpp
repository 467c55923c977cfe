#include "phy/channel/equalizer.hpp"

#include <gtest/gtest.h>

#include "channel/equalizer/equalizer_cases.hpp"
#include "demapper/signals.hpp"
#include "phy/core/error.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Equalization;
using phy::Equalizer;

Equalized equalize(const phy::Host& host, const EqualizerConfig& config, const Slots& slots) {
    Equalizer equalizer(host, config);
    Equalized out{std::vector<cf32>(slots.count * equalizer.symbols_per_slot(), cf32(-7.0F)),
                  std::vector<float>(slots.count * equalizer.symbols_per_slot(), -7.0F)};
    equalizer(slots.grid, slots.channel, slots.estimates, out.symbols, out.noise, slots.covariance);
    return out;
}

/// That of a slot: with a covariance its smallest eigenvalue is above this.
double smallest_noise(const Slots& slots, std::size_t slot) {
    return slots.covariance.empty() ? double{slots.estimates[slot].noise_variance} : 0.1;
}

/// The largest deviations, of symbols in the amplitude of their noise and 1, of noise relative to it.
void expect_near(const EqualizerConfig& config, const Slots& slots, const Equalized& out, double tolerance) {
    const auto elements = data_elements(config.allocation);
    const std::size_t layers = config.allocation.dmrs.ports.size();
    ASSERT_EQ(out.symbols.size(), slots.count * elements.size() * layers);
    for (std::size_t slot = 0; slot < slots.count; ++slot) {
        for (std::size_t e = 0; e < elements.size(); ++e) {
            const ElementResult expected =
                expected_element(config, slots, slot, elements[e].first, elements[e].second);
            for (std::size_t l = 0; l < layers; ++l) {
                const std::size_t i = (slot * elements.size() + e) * layers + l;
                const double scale = 1.0 + std::abs(expected.symbols[l]);
                // Equations that lose more digits than binary32 can spare are no matter of this test.
                if (expected.noise[l] > 20.0 * smallest_noise(slots, slot)) continue;
                ASSERT_LE(std::abs(Complex(out.symbols[i]) - expected.symbols[l]), tolerance * scale)
                    << "slot " << slot << ", element " << e << ", layer " << l;
                ASSERT_NEAR(out.noise[i] / expected.noise[l], 1.0, tolerance)
                    << "slot " << slot << ", element " << e << ", layer " << l;
            }
        }
    }
}

TEST(EqualizerTest, EveryPairOfLayersAndAntennas) {
    for (int layers = 1; layers <= 4; ++layers) {
        for (int antennas = layers; antennas <= 16; ++antennas) {
            for (const Equalization method : {Equalization::mmse, Equalization::zero_forcing}) {
                for (const bool linear : {false, true}) {
                    EqualizerConfig config = plain_config(layers, antennas, 2);
                    config.method = method;
                    if (linear) config.time_weights = linear_weights();
                    SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) +
                                 (linear ? ", linear" : ", one estimate") + ", method " +
                                 std::to_string(static_cast<int>(method)) + ", seed " +
                                 std::to_string(equalizer_seed));
                    const Slots slots = random_slots(config, 2, equalizer_seed);
                    expect_near(config, slots, equalize(phy::Host(), config, slots), 1e-4);
                    if (HasFatalFailure()) return;
                }
            }
        }
    }
}

/// The same bytes from every backend and number of threads.
void expect_same_everywhere(const EqualizerConfig& config, const Slots& slots) {
    const Equalized expected = equalize(scalar_host(), config, slots);
    for (const phy::Backend& backend : host_backends())
        for (const int threads : {1, 3})
            EXPECT_TRUE(equalize(host_of(backend, threads), config, slots) == expected)
                << backend.name() << ", " << threads << " threads";
}

TEST(EqualizerTest, ScatteredAllocations) {
    for (int layers = 1; layers <= 4; ++layers) {
        for (const int antennas : {layers, 5}) {
            for (const bool with_covariance : {false, true}) {
                SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) + ", seed " +
                             std::to_string(equalizer_seed));
                const EqualizerConfig config = scattered_config(layers, antennas);
                const Slots slots = random_slots(config, 2, equalizer_seed, with_covariance);
                expect_near(config, slots, equalize(phy::Host(), config, slots), 1e-4);
                expect_same_everywhere(config, slots);
                if (HasFatalFailure()) return;
            }
        }
    }
}

}  // namespace
