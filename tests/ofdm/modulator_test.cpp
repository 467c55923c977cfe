#include "phy/ofdm/modulator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ofdm/ofdm_cases.hpp"
#include "phy/core/error.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::OfdmConfig;
using phy::OfdmDemodulatorConfig;
using phy::OfdmSlots;
using phy::OfdmTiming;

std::vector<cf32> modulated(const phy::Host& host, const OfdmConfig& config, std::span<const cf32> grid,
                            const OfdmSlots& slots) {
    phy::OfdmModulator modulate(host, config);
    const std::size_t count =
        static_cast<std::size_t>(config.antennas) * samples_of(modulate.timing(), slots);
    std::vector<cf32> samples(count);
    modulate(grid, slots, samples);
    return samples;
}

std::size_t elements_of(const OfdmConfig& config, const OfdmSlots& slots) {
    return slots.count * static_cast<std::size_t>(config.antennas) * OfdmTiming(config).slot_elements();
}

TEST(OfdmModulatorTest, TheDemodulatorGivesTheGridBack) {
    for (const OfdmDemodulatorConfig& receiver : ofdm_configs()) {
        const OfdmConfig& config = receiver.ofdm;
        SCOPED_TRACE(name_of(config));
        const OfdmSlots slots = {.first = 1234567, .count = 9};
        const std::vector<cf32> grid = random_numbers(elements_of(config, slots));
        const std::vector<cf32> samples = modulated(phy::Host(), config, grid, slots);
        const Points truth(grid.begin(), grid.end());
        EXPECT_LT(relative_error(demodulated(phy::Host(), receiver, samples, slots), truth), 5e-7);
        for (const phy::SampleFormat format : {phy::SampleFormat::cf16, phy::SampleFormat::ci16}) {
            OfdmDemodulatorConfig scaled = receiver;
            scaled.full_scale = 20000.0F;
            const Bytes rounded = stored(format, samples, 20000.0F);
            EXPECT_LT(relative_error(demodulated(phy::Host(), scaled, {format, rounded}, slots), truth), 2e-3)
                << to_string(format);
        }
    }
}

/// What a receiver without the offsets' knowledge sees is what the standard's equations say.
TEST(OfdmModulatorTest, SamplesAreThoseOfTheStandard) {
    for (const OfdmDemodulatorConfig& receiver : ofdm_configs()) {
        const OfdmConfig& config = receiver.ofdm;
        if (config.antennas != 1) continue;
        SCOPED_TRACE(name_of(config));
        const OfdmSlots slots = {.first = 6, .count = 1};
        const std::vector<cf32> grid = random_numbers(elements_of(config, slots));
        const std::vector<cf32> samples = modulated(phy::Host(), config, grid, slots);
        const Points seen =
            reference_grid(receiver, {samples.begin(), samples.end()}, slots.first, slots.count);
        EXPECT_LT(relative_error(seen, Points(grid.begin(), grid.end())), 5e-7);
    }
}

TEST(OfdmModulatorTest, EveryBackendThreadsAndCalls) {
    for (const OfdmDemodulatorConfig& receiver : ofdm_configs()) {
        const OfdmConfig& config = receiver.ofdm;
        SCOPED_TRACE(name_of(config));
        const OfdmSlots slots = {.first = 2, .count = 3};
        const std::vector<cf32> grid = random_numbers(elements_of(config, slots));
        const auto expected = bits_of(modulated(scalar_host(), config, grid, slots));
        for (const phy::Backend& backend : host_backends())
            for (const int threads : {1, 3})
                ASSERT_TRUE(bits_of(modulated(host_of(backend, threads), config, grid, slots)) == expected)
                    << backend.name() << ", " << threads << " threads";
        phy::OfdmModulator modulate(phy::Host(), config);
        const std::size_t stride = samples_of(modulate.timing(), slots);
        std::vector<cf32> samples(static_cast<std::size_t>(config.antennas) * stride);
        const std::size_t of_slot = elements_of(config, {});
        for (std::uint64_t slot = 2; slot < 5; ++slot) {
            const std::size_t first = modulate.timing().slot_start(slot) - modulate.timing().slot_start(2);
            modulate(std::span(grid).subspan((slot - 2) * of_slot, of_slot),
                     {.first = slot, .stride = stride}, std::span(samples).subspan(first));
        }
        EXPECT_TRUE(bits_of(samples) == expected);
    }
}

TEST(OfdmModulatorTest, SlotsApartHaveTheSamplesOfSlotsInARow) {
    for (const OfdmDemodulatorConfig& receiver : ofdm_configs()) {
        const OfdmConfig& config = receiver.ofdm;
        SCOPED_TRACE(name_of(config));
        const OfdmSlots apart = strided_slots(config);
        const OfdmSlots in_a_row = {.first = apart.first, .count = apart.count};
        const std::vector<cf32> grid = random_numbers(elements_of(config, apart));
        const std::vector<cf32> samples = modulated(phy::Host(), config, grid, in_a_row);
        const Bytes expected = laid_out(config, samples, apart);
        Bytes spread =
            random_samples(phy::SampleFormat::cf32, apart.count * *apart.slot_stride, ofdm_seed + 1);
        phy::OfdmModulator modulate(phy::Host(), config);
        modulate(grid, apart, {reinterpret_cast<cf32*>(spread.data()), spread.size() / sizeof(cf32)});
        EXPECT_TRUE(spread == expected);
    }
}

TEST(OfdmModulatorTest, CallsOfSomeSymbolsGiveTheSamplesOfOneOfAll) {
    for (const OfdmDemodulatorConfig& receiver : ofdm_configs()) {
        const OfdmConfig& config = receiver.ofdm;
        SCOPED_TRACE(name_of(config));
        const OfdmSlots slots = {.first = 2, .count = 3};
        const std::vector<cf32> grid = random_numbers(elements_of(config, slots));
        phy::OfdmModulator modulate(phy::Host(), config);
        std::vector<cf32> samples(static_cast<std::size_t>(config.antennas) *
                                  samples_of(modulate.timing(), slots));
        for (const std::uint32_t symbols : {0x0816U, ~0x0816U})
            modulate(grid, {.first = slots.first, .count = slots.count, .symbols = symbols}, samples);
        EXPECT_TRUE(bits_of(samples) == bits_of(modulated(phy::Host(), config, grid, slots)));
    }
}

TEST(OfdmModulatorTest, WrongSizesThrow) {
    const OfdmConfig config = {.resource_blocks = 20, .sample_rate = 256 * 30000.0};
    phy::OfdmModulator modulate(phy::Host(), config);
    std::vector<cf32> grid(modulate.timing().slot_elements());
    std::vector<cf32> samples(modulate.timing().slot_samples(0));
    EXPECT_NO_THROW(modulate(grid, {}, samples));
    EXPECT_THROW(modulate(grid, {.count = 2}, samples), phy::ArgumentError);
    EXPECT_THROW(modulate(grid, {}, std::span(samples).subspan(1)), phy::ArgumentError);
    EXPECT_THROW(modulate(std::span(grid).subspan(1), {}, samples), phy::ArgumentError);
}

}  // namespace
