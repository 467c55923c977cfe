#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "phy/tracker/tracker.hpp"
#include "support/random_seed.hpp"
#include "tracker/tracker_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Modulation;

PhaseTrackerConfig with_ptrs(Modulation modulation, int time_density) {
    PhaseTrackerConfig config = {.allocation = {}, .modulation = modulation};
    config.allocation.carrier_resource_blocks = 32;
    config.allocation.resource_blocks = {{0, 32}};
    config.allocation.dmrs.symbols = {2};
    config.allocation.ptrs = phy::PtrsConfig{.time_density = time_density, .rnti = 7};
    return config;
}

TrackedSlots without_ptrs(TrackedSlots slots) {
    slots.ptrs = {}, slots.ptrs_noise_variance = {}, slots.pilots = {};
    return slots;
}

/// Any phase of any OFDM symbol, where noise hides all points: 16 PT-RS of 9 dB leave 0.06 rad.
TEST(PtrsOfPhaseTracker, FindAnyPhase) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> any(-std::numbers::pi, std::numbers::pi);
    for (const Modulation modulation : all_tracked_modulations) {
        for (const double noise : {clear_noise(modulation), 0.125}) {
            const PhaseTrackerConfig config = with_ptrs(modulation, 1);
            Phases phases = {};
            for (double& phase : phases)
                phase = any(random);
            phases[2] = 0.0;
            const TrackedSlots after =
                tracked(phy::Host(), config, random_slot(config, noise, phases, random));
            EXPECT_EQ(after.estimates[0].tracked_symbols, 13) << to_string(modulation);
            const double bound = 5.5 * std::sqrt(noise / 2.0 / 16.0);
            for (std::size_t l = 0; l < phases.size(); ++l)
                EXPECT_LT(
                    std::abs(std::arg(Complex(after.estimates[0].phase[l]) * std::polar(1.0, -phases[l]))),
                    bound)
                    << to_string(modulation) << ", N0 " << noise << ", OFDM symbol " << l << ", seed "
                    << seed;
        }
    }
}

/// A drift of 0.35 rad from symbol to symbol, beyond what decisions find: PT-RS before and behind say it.
TEST(PtrsOfPhaseTracker, LeadTheSymbolsBetweenThem) {
    std::mt19937 random(random_seed());
    for (const int density : {2, 4}) {
        const PhaseTrackerConfig config = with_ptrs(Modulation::qam64, density);
        Phases phases = {};
        for (int l = 0; l < phy::symbols_per_slot; ++l)
            phases[static_cast<std::size_t>(l)] = 0.35 * (l - 2);
        const TrackedSlots sent = random_slot(config, clear_noise(config.modulation), phases, random);
        const TrackedSlots after = tracked(phy::Host(), config, sent);
        const TrackedSlots alone = tracked(phy::Host(), config, without_ptrs(sent));
        const auto error = [&](const TrackedSlots& slot, std::size_t l) {
            return std::abs(std::arg(Complex(slot.estimates[0].phase[l]) * std::polar(1.0, -phases[l])));
        };
        // From the DM-RS to the last PT-RS; L = 4 has 6 and 10, L = 2 the even ones.
        for (std::size_t l = 2; l <= 10; ++l)
            EXPECT_LT(error(after, l), 0.03) << "every " << density << ", OFDM symbol " << l;
        EXPECT_GT(error(alone, 10), 0.3);
    }
}

/// The link has PT-RS where the signal has nothing.
TEST(PtrsOfPhaseTracker, ThatWereNotSentChangeNothing) {
    std::mt19937 random(random_seed());
    for (const Modulation modulation : {Modulation::qpsk, Modulation::qam64}) {
        const PhaseTrackerConfig config = with_ptrs(modulation, 1);
        const Phases phases = random_walk(config.allocation, 0.03, random);
        TrackedSlots sent = random_slot(config, clear_noise(modulation), phases, random);
        for (cf32& x : sent.ptrs)
            x *= 0.01F;
        EXPECT_TRUE(bits_of(tracked(phy::Host(), config, sent)) ==
                    bits_of(tracked(phy::Host(), config, without_ptrs(sent))))
            << to_string(modulation);
    }
}

/// And where it has data, which fit PT-RS by chance once in some 20,000 slots.
TEST(PtrsOfPhaseTracker, DataInThePlaceOfPtrsDoNotMislead) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    std::string misled;
    int count = 0;
    for (int run = 0; run < 8; ++run) {
        for (const Modulation modulation : all_tracked_modulations) {
            const PhaseTrackerConfig config = with_ptrs(modulation, 1);
            const double step = std::min(0.05, 0.8 * phy::axis_unit(modulation));
            const Phases phases = random_walk(config.allocation, step, random);
            TrackedSlots sent = random_slot(config, clear_noise(modulation), phases, random);
            for (cf32& x : sent.ptrs)
                x = phy::constellation_point(
                    modulation, static_cast<unsigned>(random()) % (1U << bits_per_symbol(modulation)), 0);
            const TrackedSlots after = tracked(phy::Host(), config, sent);
            const TrackedSlots expected = tracked(phy::Host(), config, without_ptrs(sent));
            const float most = 0.1F * static_cast<float>(phy::axis_unit(modulation));
            const auto is_near = [most](cf32 a, cf32 b) { return std::abs(a - b) < most; };
            if (std::ranges::equal(after.symbols, expected.symbols, is_near)) continue;
            ++count;
            misled += std::string(to_string(modulation)) + " ";
        }
    }
    EXPECT_LE(count, 1) << misled << ", seed " << seed;
}

/// One to four PT-RS in each OFDM symbol, where the signal has data: nothing shows that they do not fit.
TEST(PtrsOfPhaseTracker, FewDoNotOverruleData) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (const Modulation modulation : {Modulation::qpsk, Modulation::qam16}) {
        for (const int blocks : {2, 4, 8}) {
            PhaseTrackerConfig config = with_ptrs(modulation, 1);
            config.allocation.carrier_resource_blocks = blocks;
            config.allocation.resource_blocks = {{0, blocks}};
            TrackedSlots sent = random_slot(config, 0.01, {}, random);
            for (cf32& x : sent.ptrs)
                x = phy::constellation_point(
                    modulation, static_cast<unsigned>(random()) % (1U << bits_per_symbol(modulation)), 0);
            const TrackedSlots after = tracked(phy::Host(), config, sent);
            for (std::size_t i = 0; i < after.symbols.size(); ++i)
                ASSERT_LT(std::abs(after.symbols[i] - sent.symbols[i]), 0.3)
                    << to_string(modulation) << ", " << blocks << " resource blocks, seed " << seed;
        }
    }
}

}  // namespace
