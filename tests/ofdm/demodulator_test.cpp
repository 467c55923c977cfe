#include "phy/ofdm/demodulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ofdm/ofdm_cases.hpp"
#include "phy/core/error.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::OfdmDemodulatorConfig;
using phy::OfdmSlots;
using phy::OfdmTiming;
using phy::SampleFormat;

class OfdmDemodulatorOf : public testing::TestWithParam<SampleFormat> {};

TEST_P(OfdmDemodulatorOf, GivesTheGridOfTheReference) {
    const SampleFormat format = GetParam();
    for (OfdmDemodulatorConfig config : ofdm_configs()) {
        if (format == SampleFormat::ci8) config.full_scale = 100.0F;
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmTiming timing(config.ofdm);
        const OfdmSlots slots = {.first = 7, .count = 2};
        const std::size_t of_antenna = samples_of(timing, slots);
        const auto antennas = static_cast<std::size_t>(config.ofdm.antennas);
        const Bytes samples = random_samples(format, antennas * of_antenna);
        const std::vector<cf32> grid = demodulated(phy::Host(), config, {format, samples}, slots);
        const double full_scale = format == SampleFormat::ci8 ? 100.0 : 32768.0;
        for (std::size_t a = 0; a < antennas; ++a) {
            Points of_this(of_antenna);
            for (std::size_t i = 0; i < of_antenna; ++i) {
                const std::size_t at = 2 * (a * of_antenna + i);
                of_this[i] = {component(format, samples, at, full_scale),
                              component(format, samples, at + 1, full_scale)};
            }
            const Points truth = reference_grid(config, of_this, slots.first, slots.count);
            std::vector<cf32> of_grid;
            for (std::size_t slot = 0; slot < slots.count; ++slot) {
                const auto rows = std::span(grid).subspan((slot * antennas + a) * timing.slot_elements(),
                                                          timing.slot_elements());
                of_grid.insert(of_grid.end(), rows.begin(), rows.end());
            }
            EXPECT_LT(relative_error(of_grid, truth), transform_error(timing.fft_size()) + phase_error)
                << "antenna " << a;
        }
    }
}

TEST_P(OfdmDemodulatorOf, EveryBackendAndNumberOfThreads) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmSlots slots = {.first = 3, .count = 3};
        const std::size_t count =
            static_cast<std::size_t>(config.ofdm.antennas) * samples_of(OfdmTiming(config.ofdm), slots);
        const Bytes samples = random_samples(format, count);
        const auto expected = bits_of(demodulated(scalar_host(), config, {format, samples}, slots));
        for (const phy::Backend& backend : host_backends()) {
            for (const int threads : {1, 3}) {
                const auto grid = demodulated(host_of(backend, threads), config, {format, samples}, slots);
                ASSERT_TRUE(bits_of(grid) == expected) << backend.name() << ", " << threads << " threads";
            }
        }
    }
}

TEST_P(OfdmDemodulatorOf, CallsGiveTheBytesOfOneCall) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmTiming timing(config.ofdm);
        const OfdmSlots all = {.first = 1'000'003, .count = 5};
        const std::size_t stride = samples_of(timing, all) + 3;
        const auto antennas = static_cast<std::size_t>(config.ofdm.antennas);
        // One byte off, so that nothing is aligned.
        Bytes bytes = random_samples(format, antennas * stride);
        bytes.insert(bytes.begin(), std::byte{0});
        const phy::SymbolView samples(format, std::span<const std::byte>(bytes).subspan(1));
        const auto expected = bits_of(demodulated(
            phy::Host(), config, samples, {.first = all.first, .count = all.count, .stride = stride}));
        std::vector<cf32> grid;
        for (std::uint64_t slot = all.first; slot < all.first + all.count; ++slot) {
            const std::size_t first = timing.slot_start(slot) - timing.slot_start(all.first);
            const auto rest = samples.subspan(first, samples.size() - first);
            const auto rows =
                demodulated(phy::Host(), config, rest, {.first = slot, .count = 1, .stride = stride});
            grid.insert(grid.end(), rows.begin(), rows.end());
        }
        EXPECT_TRUE(bits_of(grid) == expected);
    }
}

TEST_P(OfdmDemodulatorOf, SlotsApartGiveTheBytesOfSlotsInARow) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmSlots apart = strided_slots(config.ofdm);
        const OfdmSlots in_a_row = {.first = apart.first, .count = apart.count};
        const std::size_t of_antenna = samples_of(OfdmTiming(config.ofdm), in_a_row);
        const Bytes bytes =
            random_samples(format, static_cast<std::size_t>(config.ofdm.antennas) * of_antenna);
        const phy::SymbolView samples(format, bytes);
        const Bytes spread = laid_out(config.ofdm, samples, apart);
        EXPECT_TRUE(bits_of(demodulated(phy::Host(), config, {format, spread}, apart)) ==
                    bits_of(demodulated(phy::Host(), config, samples, in_a_row)));
    }
}

TEST_P(OfdmDemodulatorOf, SymbolsThatAreNotAskedForStayAsTheyAre) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        OfdmSlots slots = strided_slots(config.ofdm);
        const Bytes samples = random_samples(format, slots.count * *slots.slot_stride);
        const std::vector<cf32> whole = demodulated(phy::Host(), config, {format, samples}, slots);
        for (const std::uint32_t symbols : {0U, 1U, 1U << 2 | 1U << 11, 0x3FF0U, ~0U}) {
            slots.symbols = symbols;
            EXPECT_TRUE(bits_of(demodulated(phy::Host(), config, {format, samples}, slots)) ==
                        bits_of(with_symbols(whole, OfdmTiming(config.ofdm), symbols, {})))
                << symbols;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, OfdmDemodulatorOf, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

/// Every backend at every size: of all passes that there are.
TEST(OfdmDemodulatorTest, EverySize) {
    for (const std::size_t size : fft_sizes()) {
        const OfdmDemodulatorConfig config = {
            .ofdm = {.resource_blocks = std::min(275, static_cast<int>(size / 12)),
                     .subcarrier_spacing = 15000.0,
                     .sample_rate = 15000.0 * static_cast<double>(size),
                     .center_frequency = 9.0e8}};
        SCOPED_TRACE(name_of(config.ofdm));
        const std::vector<cf32> samples = random_numbers(OfdmTiming(config.ofdm).slot_samples(0));
        const auto expected = demodulated(scalar_host(), config, samples, {});
        if (size <= 1024 || size == 5760) {
            const Points truth = reference_grid(config, {samples.begin(), samples.end()}, 0, 1);
            EXPECT_LT(relative_error(expected, truth), transform_error(size) + phase_error);
        }
        for (const phy::Backend& backend : host_backends())
            EXPECT_TRUE(bits_of(demodulated(host_of(backend), config, samples, {})) == bits_of(expected))
                << backend.name();
    }
}

/// A tone at a subcarrier's frequency, that begins at the end of a symbol's prefix with phase 0, is N there
/// and nothing elsewhere.
TEST(OfdmDemodulatorTest, ALoneSubcarrierLandsInItsPlace) {
    for (const int k0 : {-6, 0, 6}) {
        const OfdmDemodulatorConfig config = {
            .ofdm = {.resource_blocks = 10, .sample_rate = 256 * 30000.0, .k0 = k0}};
        const OfdmTiming timing(config.ofdm);
        for (const int subcarrier : {0, 53, 54, 60, 66, 67, 119}) {
            const double turns = (subcarrier - (60 - k0)) / 256.0;
            const std::size_t first = timing.symbol_start(1, 5) + timing.prefix_samples(1, 5);
            std::vector<cf32> samples(timing.slot_samples(1));
            for (std::size_t i = 0; i < samples.size(); ++i)
                samples[i] =
                    cf32(phy_test::turns(turns * (static_cast<double>(i) - static_cast<double>(first))));
            const auto grid = demodulated(phy::Host(), config, samples, {.first = 1});
            for (std::size_t i = 0; i < timing.subcarriers(); ++i) {
                const double expected = i == static_cast<std::size_t>(subcarrier) ? 256.0 : 0.0;
                EXPECT_LT(std::abs(std::complex<double>(grid[5 * timing.subcarriers() + i]) - expected), 1e-4)
                    << "k0 " << k0 << ", subcarrier " << subcarrier << ", element " << i;
            }
        }
    }
}

TEST(OfdmDemodulatorTest, WhatIsNotFiniteStaysInItsSymbol) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const OfdmDemodulatorConfig config = {.ofdm = {.resource_blocks = 20,
                                                   .sample_rate = 256 * 30000.0,
                                                   .center_frequency = 3.5e9,
                                                   .frequency_shift = 1000.0,
                                                   .antennas = 2},
                                          .window_offset = 0};
    const OfdmTiming timing(config.ofdm);
    const std::size_t of_antenna = timing.slot_samples(0);
    const std::vector<cf32> clean = random_numbers(2 * of_antenna);
    const auto expected = demodulated(phy::Host(), config, clean, {});
    for (const cf32 bad : {cf32(nan, 0.0F), cf32(0.0F, -nan), cf32(infinity, 1.0F), cf32(0.0F, -infinity),
                           cf32(3e38F, 3e38F)}) {
        for (const phy::Backend& backend : host_backends()) {
            std::vector<cf32> samples = clean;
            const std::size_t symbol = timing.symbol_start(0, 3) + timing.prefix_samples(0, 3);
            for (const std::size_t i : {0U, 13U, 255U})
                samples[of_antenna + symbol + i] = bad;
            samples[timing.symbol_start(0, 9) + 2] = bad;  // in a prefix: nobody looks
            const auto grid = demodulated(host_of(backend), config, samples, {});
            for (std::size_t i = 0; i < grid.size(); ++i) {
                if (i / timing.subcarriers() != 14 + 3) {
                    ASSERT_EQ(grid[i], expected[i]) << backend.name() << " " << i;
                } else {
                    const auto bits = bits_of(std::span(grid).subspan(i, 1));
                    ASSERT_EQ(bits, (std::vector<std::uint32_t>{0x7FC00000U, 0x7FC00000U}))
                        << backend.name() << " " << i << ", " << bad;
                }
            }
        }
    }
}

TEST(OfdmDemodulatorTest, WrongSizesThrow) {
    const OfdmDemodulatorConfig config = {
        .ofdm = {.resource_blocks = 20, .sample_rate = 256 * 30000.0, .antennas = 2}};
    phy::OfdmDemodulator demodulate(phy::Host(), config);
    const std::size_t needed = 2 * demodulate.timing().slot_samples(0);
    const std::size_t elements = 2 * demodulate.timing().slot_elements();
    std::vector<cf32> samples(2 * needed);
    std::vector<cf32> grid(3 * elements, cf32(7.0F));
    const auto call = [&](std::size_t some, std::size_t of_grid, const OfdmSlots& slots) {
        demodulate(std::span(samples).first(some), slots, std::span(grid).first(of_grid));
    };
    EXPECT_THROW(call(needed - 1, elements, {}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements - 1, {}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements + 1, {}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements, {.count = 0}), phy::ArgumentError);
    EXPECT_THROW(call(needed, 2 * elements, {.count = 2}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements, {.stride = 0}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements, {.stride = needed / 2 - 1}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements, {.stride = needed / 2 + 1}), phy::ArgumentError);
    EXPECT_THROW(call(needed, elements, {.count = SIZE_MAX / 2}), phy::ArgumentError);
    EXPECT_THROW(call(2 * needed, elements, {.stride = SIZE_MAX}), phy::ArgumentError);
    EXPECT_EQ(grid, std::vector<cf32>(3 * elements, cf32(7.0F)));
    EXPECT_NO_THROW(call(0, 0, {.count = 0}));
    EXPECT_NO_THROW(call(needed + 1, elements, {.stride = needed / 2 + 1}));
    EXPECT_EQ(grid[elements], cf32(7.0F));
}

TEST(OfdmDemodulatorTest, WrongStridesOfSlotsThrow) {
    // Of 15 kHz, every slot is as long as any other.
    const OfdmDemodulatorConfig config = {.ofdm = {.resource_blocks = 20,
                                                   .subcarrier_spacing = 15000.0,
                                                   .sample_rate = 256 * 15000.0,
                                                   .antennas = 2}};
    phy::OfdmDemodulator demodulate(phy::Host(), config);
    const std::size_t longest = demodulate.timing().slot_samples(0);
    const std::vector<cf32> samples(6 * longest);
    std::vector<cf32> grid(4 * demodulate.timing().slot_elements(), cf32(7.0F));
    const auto call = [&](std::size_t some, const OfdmSlots& slots) {
        demodulate(std::span(samples).first(some), slots, grid);
    };
    const std::size_t of_slot = 2 * longest;
    EXPECT_THROW(call(6 * longest, {.count = 2, .slot_stride = 0}), phy::ArgumentError);
    EXPECT_THROW(call(6 * longest, {.count = 2, .slot_stride = 1}), phy::ArgumentError);
    EXPECT_THROW(call(6 * longest, {.count = 2, .slot_stride = of_slot - 1}), phy::ArgumentError);
    EXPECT_THROW(call(6 * longest, {.count = 2, .stride = longest - 1, .slot_stride = of_slot}),
                 phy::ArgumentError);
    EXPECT_THROW(call(6 * longest, {.count = 2, .stride = longest + 1, .slot_stride = of_slot}),
                 phy::ArgumentError);
    EXPECT_THROW(call(6 * longest, {.count = 2, .slot_stride = SIZE_MAX}), phy::ArgumentError);
    EXPECT_THROW(call(2 * of_slot - 1, {.count = 2, .slot_stride = of_slot}), phy::ArgumentError);
    EXPECT_THROW(call(2 * of_slot, {.count = 2, .slot_stride = of_slot + 1}), phy::ArgumentError);
    EXPECT_THROW(call(6 * longest, {.count = 3, .slot_stride = of_slot}), phy::ArgumentError);
    EXPECT_EQ(grid, std::vector<cf32>(grid.size(), cf32(7.0F)));
    EXPECT_NO_THROW(call(2 * of_slot, {.count = 2, .slot_stride = of_slot}));
    EXPECT_NO_THROW(call(2 * of_slot + 2, {.count = 2, .stride = longest + 1, .slot_stride = of_slot + 1}));
}

}  // namespace
