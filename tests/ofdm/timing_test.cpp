#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ofdm/ofdm_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/ofdm/modulator.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::OfdmConfig;
using phy::OfdmTiming;

TEST(OfdmTimingTest, PrefixesAreThoseOfTheStandard) {
    for (const phy::OfdmDemodulatorConfig& receiver : ofdm_configs()) {
        const OfdmConfig& config = receiver.ofdm;
        SCOPED_TRACE(name_of(config));
        const OfdmTiming timing(config);
        const ReferenceTiming reference(config);
        ASSERT_EQ(timing.symbols(), reference.symbols());
        ASSERT_EQ(timing.slots_per_subframe(), reference.slots());
        for (std::uint64_t slot = 0; slot < 21; ++slot) {
            EXPECT_EQ(timing.slot_samples(slot), reference.slot_samples(slot)) << slot;
            EXPECT_EQ(timing.slot_start(slot), reference.slot_start(slot)) << slot;
            for (std::size_t l = 0; l < timing.symbols(); ++l) {
                EXPECT_EQ(timing.prefix_samples(slot, l), reference.symbol(slot, l).prefix)
                    << slot << " " << l;
                EXPECT_EQ(timing.symbol_start(slot, l), reference.symbol(slot, l).start) << slot << " " << l;
            }
        }
    }
}

/// Figures that everybody knows: 100 MHz at 30 kHz, 20 MHz at 15 kHz, 100 MHz at 120 kHz.
TEST(OfdmTimingTest, KnownCarriers) {
    const OfdmTiming wide(
        {.resource_blocks = 273, .subcarrier_spacing = 30000.0, .sample_rate = 122'880'000.0});
    EXPECT_EQ(wide.fft_size(), 4096U);
    EXPECT_EQ(wide.slot_samples(0), 61'440U);
    EXPECT_EQ(wide.slot_samples(1), 61'440U);
    EXPECT_EQ(wide.prefix_samples(1, 0), 352U);
    EXPECT_EQ(wide.prefix_samples(1, 1), 288U);
    EXPECT_EQ(wide.zero_subcarrier(), 1638U);
    const OfdmTiming narrow(
        {.resource_blocks = 106, .subcarrier_spacing = 15000.0, .sample_rate = 30'720'000.0});
    EXPECT_EQ(narrow.prefix_samples(0, 0), 160U);
    EXPECT_EQ(narrow.prefix_samples(0, 7), 160U);
    EXPECT_EQ(narrow.prefix_samples(0, 8), 144U);
    EXPECT_EQ(narrow.slot_samples(3), 30'720U);
    const OfdmTiming fast(
        {.resource_blocks = 66, .subcarrier_spacing = 120000.0, .sample_rate = 122'880'000.0});
    EXPECT_EQ(fast.slot_samples(0), 15'408U);
    EXPECT_EQ(fast.slot_samples(1), 15'344U);
    EXPECT_EQ(fast.slot_start(8), 122'880U);
}

double rate_of(double size) {
    return size * 30000.0;
}

TEST(OfdmTimingTest, WrongValuesThrow) {
    const OfdmConfig good = {.resource_blocks = 24, .sample_rate = rate_of(512)};
    EXPECT_NO_THROW(OfdmTiming{good});
    const auto throws = [&](auto change) {
        OfdmConfig config = good;
        change(config);
        EXPECT_THROW(OfdmTiming{config}, phy::ArgumentError);
        EXPECT_THROW(phy::OfdmDemodulator(phy::Host(), {.ofdm = config}), phy::ArgumentError);
        EXPECT_THROW(phy::OfdmModulator(phy::Host(), config), phy::ArgumentError);
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int blocks : {0, -1, 276, 43})
        throws([&](OfdmConfig& config) { config.resource_blocks = blocks; });
    for (const double spacing : {0.0, 7500.0, 45000.0, 240000.0, nan})
        throws([&](OfdmConfig& config) { config.subcarrier_spacing = spacing; });
    for (const double size : {0.0, 64.0, 127.0, 192.0, 896.0, 8320.0, 16384.0, 512.5, -512.0, nan})
        throws([&](OfdmConfig& config) { config.sample_rate = rate_of(size); });
    for (const int k0 : {-7, 1, 12})
        throws([&](OfdmConfig& config) { config.k0 = k0; });
    throws([](OfdmConfig& config) { config.cyclic_prefix = phy::CyclicPrefix::extended; });
    throws([](OfdmConfig& config) { config.cyclic_prefix = static_cast<phy::CyclicPrefix>(2); });
}

TEST(OfdmTimingTest, OnlyAllowedSizesOfFft) {
    for (std::size_t size = 1; size < 9000; ++size) {
        const OfdmConfig config = {.resource_blocks = 1, .sample_rate = rate_of(static_cast<double>(size))};
        const bool is_allowed = std::find(fft_sizes().begin(), fft_sizes().end(), size) != fft_sizes().end();
        if (is_allowed)
            EXPECT_EQ(OfdmTiming(config).fft_size(), size);
        else
            EXPECT_THROW(OfdmTiming{config}, phy::ArgumentError) << size;
    }
}

TEST(OfdmTimingTest, WrongValuesOfOperatorsThrow) {
    const OfdmConfig good = {.resource_blocks = 24, .sample_rate = rate_of(512)};
    const auto throws = [&](auto change) {
        OfdmConfig config = good;
        change(config);
        EXPECT_NO_THROW(OfdmTiming{config});
        EXPECT_THROW(phy::OfdmDemodulator(phy::Host(), {.ofdm = config}), phy::ArgumentError);
        EXPECT_THROW(phy::OfdmModulator(phy::Host(), config), phy::ArgumentError);
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int antennas : {0, -1, 65})
        throws([&](OfdmConfig& config) { config.antennas = antennas; });
    for (const int offset : {-1, 37})
        EXPECT_THROW(phy::OfdmDemodulator(phy::Host(), {.ofdm = good, .window_offset = offset}),
                     phy::ArgumentError);
    for (const double frequency : {0x1.1p40, -0x1.1p40, nan})
        throws([&](OfdmConfig& config) { config.center_frequency = frequency; });
    for (const double shift : {rate_of(257), -rate_of(257), nan})
        throws([&](OfdmConfig& config) { config.frequency_shift = shift; });
}

}  // namespace
