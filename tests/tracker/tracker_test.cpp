#include "phy/tracker/tracker.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>
#include <string>

#include "phy/core/error.hpp"
#include "phy/tracker/math/plan.hpp"
#include "support/random_seed.hpp"
#include "tracker/tracker_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Modulation;
using phy::PhaseTracker;

/// Of symbols of an OFDM symbol against what was sent, by least squares.
struct PhaseFit {
    double angle = 0.0;
    double deviation = 0.0;  ///< expected of the angle
};

PhaseFit fit(const TrackedSlots& slot, std::span<const cf32> symbols, const std::vector<int>& of, int l) {
    Complex sum = 0.0;
    double information = 0.0;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i] != l) continue;
        const double weight = 1.0 / static_cast<double>(slot.noise_variance[i]);
        sum += weight * Complex(symbols[i]) * std::conj(Complex(slot.sent[i]));
        information += 2.0 * weight * std::norm(slot.sent[i]);
    }
    return {std::arg(sum), 1.0 / std::sqrt(information)};
}

TEST(PhaseTracker, TakesOutTheCommonPhaseError) {
    std::mt19937 random(random_seed());
    for (const Modulation modulation : all_tracked_modulations) {
        for (int run = 0; run < 6; ++run) {
            const PhaseTrackerConfig config = random_tracker(modulation, random);
            const std::vector<int> of = ofdm_symbol_of(config.allocation);
            const double step = std::min(0.05, 0.8 * phy::axis_unit(modulation));
            const Phases phases = random_walk(config.allocation, step, random);
            const TrackedSlots before = random_slot(config, clear_noise(modulation), phases, random);
            const TrackedSlots after = tracked(phy::Host(), config, before);
            const bool is_rotated = after.estimates[0].phase_error > 0.0F;
            double squares = 0.0;
            double energy = 0.0;  // of the phases, over their expected variance
            int count = 0;
            for (int l = 0; l < phy::symbols_per_slot; ++l) {
                const auto all = static_cast<double>(std::ranges::count(of, l));
                if (all == 0.0) continue;
                SCOPED_TRACE(std::string(to_string(modulation)) + ", run " + std::to_string(run) +
                             ", OFDM symbol " + std::to_string(l));
                const auto index = static_cast<std::size_t>(l);
                const Complex said(after.estimates[0].phase[index]);
                if (has_dmrs(config.allocation, l)) {
                    EXPECT_EQ(said, 1.0);
                    continue;
                }
                // At most 512 symbols were asked, and at least half of them.
                const PhaseFit left = fit(before, after.symbols, of, l);
                const double deviation = left.deviation * std::sqrt(std::max(1.0, all / 256.0));
                squares += std::pow(std::arg(said), 2.0);
                energy += std::pow(phases[index] / deviation, 2.0);
                ++count;
                if (!is_rotated) continue;
                EXPECT_LT(std::fabs(left.angle), 8.0 * deviation);
                EXPECT_NEAR(std::arg(said), phases[index], 8.0 * deviation);
                EXPECT_NEAR(std::abs(said), 1.0, 1e-5);
            }
            EXPECT_NEAR(static_cast<double>(after.estimates[0].phase_error),
                        std::sqrt(squares / std::max(count, 1)), 1e-4);
            EXPECT_TRUE(is_rotated || energy < 100.0 + 8.0 * count) << energy << ", " << count;
        }
    }
}

/// Ascending, in runs, at least half of max_tracked_symbols of those there are, and none that is not there.
TEST(PhaseTracker, SymbolsOfAStepAreThere) {
    for (const std::uint32_t count :
         {1U, 15U, 16U, 17U, 300U, 511U, 512U, 513U, 528U, 529U, 1024U, 1025U, 3276U, 9828U, 13104U}) {
        SCOPED_TRACE(count);
        const phy::detail::TrackStep step = {.first = 0,
                                             .count = count,
                                             .stride = phy::detail::stride_of(count),
                                             .symbol = 0,
                                             .first_ptrs = 0,
                                             .ptrs = 0};
        EXPECT_LE(step.used(), phy::detail::max_tracked_symbols);
        EXPECT_GE(step.used(), std::min(count, phy::detail::max_tracked_symbols / 2));
        EXPECT_LT(step.index_of(step.used() - 1), count);
        for (std::uint32_t s = 0; s < step.used(); ++s) {
            EXPECT_EQ(step.index_of(s) % 2, s % 2);
            EXPECT_TRUE(s == 0 || step.index_of(s) > step.index_of(s - 1)) << s;
        }
    }
}

/// From noise that hides points to none: without a phase, a slot keeps its bytes.
TEST(PhaseTracker, LeavesOtherSlotsAlone) {
    std::mt19937 random(random_seed());
    for (const Modulation modulation : all_tracked_modulations) {
        for (const double noise : {3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5}) {
            const PhaseTrackerConfig config = random_tracker(modulation, random);
            const TrackedSlots before = random_slot(config, noise, {}, random);
            EXPECT_TRUE(tracked(phy::Host(), config, before) == before)
                << to_string(modulation) << ", N0 " << noise;
        }
    }
}

/// Symbols say nothing about a phase that noise hides; small allocations are left alone.
TEST(PhaseTracker, LeavesAloneWhatItCannotMeasure) {
    std::mt19937 random(random_seed());
    PhaseTrackerConfig config = {.allocation = {}, .modulation = Modulation::qam64};
    config.allocation.carrier_resource_blocks = 20;
    config.allocation.resource_blocks = {{0, 20}};
    const Phases phases = random_walk(config.allocation, 0.2, random);
    const TrackedSlots hidden = random_slot(config, 10.0, phases, random);
    EXPECT_TRUE(tracked(phy::Host(), config, hidden) == hidden);
    config.allocation.resource_blocks = {{0, 1}};
    const TrackedSlots few = random_slot(config, 1e-3, phases, random);
    EXPECT_TRUE(tracked(phy::Host(), config, few) == few);
}

/// A phase that is far beyond what a decision bears, in one step.
TEST(PhaseTracker, FindsALargeStep) {
    std::mt19937 random(random_seed());
    for (const Modulation modulation : {Modulation::qam16, Modulation::qam64, Modulation::qam256}) {
        PhaseTrackerConfig config = {.allocation = {}, .modulation = modulation};
        config.allocation.carrier_resource_blocks = 25;
        config.allocation.resource_blocks = {{0, 25}};
        config.allocation.dmrs.symbols = {2};
        Phases phases = {};
        std::fill(phases.begin() + 5, phases.end(), 0.18);
        std::fill(phases.begin() + 9, phases.end(), -0.01);
        const TrackedSlots after =
            tracked(phy::Host(), config, random_slot(config, clear_noise(modulation), phases, random));
        for (std::size_t l = 0; l < phases.size(); ++l)
            EXPECT_NEAR(std::arg(Complex(after.estimates[0].phase[l])), phases[l], 0.02)
                << to_string(modulation) << ", OFDM symbol " << l;
    }
}

/// All numbers but the phases of the slot that is not turned.
TEST(PhaseTracker, TurnsPairsAsItTurnsSymbols) {
    std::mt19937 random(random_seed());
    PhaseTrackerConfig config = random_tracker(Modulation::qam16, random);
    config.allocation.dmrs.ports = {0, 1};
    config.allocation.dmrs.cdm_groups_without_data = 2;
    Phases phases = {};
    phases.fill(0.3);
    const TrackedSlots before = random_slot(config, clear_noise(config.modulation), phases, random);
    const TrackedSlots after = tracked(phy::Host(), config, before);
    ASSERT_NE(after.symbols, before.symbols);
    for (std::size_t i = 0; i < after.pairs.size(); ++i) {
        EXPECT_EQ(after.pairs[i].matched[0], after.symbols[2 * i]);
        EXPECT_EQ(after.pairs[i].matched[1], 2.0F * after.symbols[2 * i + 1]);
        EXPECT_EQ(after.pairs[i].power[0], 1.0F);
        EXPECT_EQ(after.pairs[i].power[1], 2.0F);
        EXPECT_EQ(after.pairs[i].cross, cf32(0.5F, -0.25F));
    }
}

/// The estimator's own phases stay in SlotEstimate::phase; what an earlier call left in an estimate does not
/// count.
TEST(PhaseTracker, MultipliesThePhasesOfTheEstimate) {
    std::mt19937 random(random_seed());
    const PhaseTrackerConfig config = random_tracker(Modulation::qam16, random);
    Phases phases = {};
    phases.fill(0.2);
    TrackedSlots slot = random_slot(config, clear_noise(config.modulation), phases, random);
    const TrackedSlots plain = tracked(phy::Host(), config, slot);
    for (std::size_t l = 0; l < phases.size(); ++l)
        slot.estimates[0].phase[l] = cf32(std::polar(1.0, 0.1 * static_cast<double>(l)));
    slot.estimates[0].phase_error = 7.0F;
    slot.estimates[0].tracked_symbols = 7;
    const SlotEstimate both = tracked(phy::Host(), config, slot).estimates[0];
    EXPECT_EQ(both.tracked_symbols, tracked_symbols(config.allocation));
    EXPECT_EQ(both.phase_error, plain.estimates[0].phase_error);
    for (std::size_t l = 0; l < phases.size(); ++l)
        EXPECT_LT(std::abs(both.phase[l] - slot.estimates[0].phase[l] * plain.estimates[0].phase[l]), 1e-6F);
}

/// A symbol whose noise variance is no positive number is not used.
TEST(PhaseTracker, BadNoiseVariancesDoNotCount) {
    std::mt19937 random(random_seed());
    for (const Modulation modulation : {Modulation::qpsk, Modulation::qam16}) {
        const PhaseTrackerConfig config = random_tracker(modulation, random);
        Phases phases = {};
        phases.fill(0.15);
        TrackedSlots slot = random_slot(config, clear_noise(modulation), phases, random);
        for (std::size_t i = 0; i < slot.symbols.size(); i += 7) {
            slot.symbols[i] = {1.0F, -3.0F};
            slot.noise_variance[i] = std::array{0.0F, -1.0F, std::nanf("")}[i / 7 % 3];
        }
        const std::vector<int> of = ofdm_symbol_of(config.allocation);
        const SlotEstimate after = tracked(phy::Host(), config, slot).estimates[0];
        for (std::size_t l = 0; l < phases.size(); ++l) {
            const auto symbol = static_cast<int>(l);
            if (has_dmrs(config.allocation, symbol) || std::ranges::find(of, symbol) == of.end()) continue;
            EXPECT_NEAR(std::arg(Complex(after.phase[l])), phases[l], 0.05) << to_string(modulation);
        }
    }
}

/// Points of a smaller constellation fit to those of a larger one if they are rotated, to both sides.
TEST(PhaseTracker, AWrongModulationIsNotRotatedIntoFitting) {
    std::mt19937 random(random_seed());
    for (const auto& [sent, said] :
         {std::pair(Modulation::qpsk, Modulation::qam16), std::pair(Modulation::qam16, Modulation::qam64),
          std::pair(Modulation::qam16, Modulation::qam256), std::pair(Modulation::qpsk, Modulation::qam64)}) {
        PhaseTrackerConfig config = random_tracker(sent, random);
        config.allocation.ptrs.reset();
        const TrackedSlots before = random_slot(config, 1e-3, {}, random);
        config.modulation = said;
        EXPECT_LT(tracked(phy::Host(), config, before).estimates[0].phase_error, 0.02F)
            << to_string(said) << " said, " << to_string(sent) << " sent";
    }
}

/// Of symbols of an OFDM symbol: how many times as large their noise variances became; 0 if not all alike.
double raised(const TrackedSlots& before, const TrackedSlots& after, const std::vector<int>& of, int l) {
    double ratio = -1.0;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (of[i] != l) continue;
        const double here =
            static_cast<double>(after.noise_variance[i]) / static_cast<double>(before.noise_variance[i]);
        if (ratio >= 0.0 && std::fabs(here / ratio - 1.0) > 1e-6) return 0.0;
        ratio = here;
    }
    return ratio;
}

TEST(PhaseTracker, RaisesNoiseVariancesToTheNoiseOfOfdmSymbols) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (const Modulation modulation : all_tracked_modulations) {
        for (int run = 0; run < 6; ++run) {
            SCOPED_TRACE(std::string(to_string(modulation)) + ", run " + std::to_string(run) + ", seed " +
                         std::to_string(seed));
            const PhaseTrackerConfig config = random_tracker(modulation, random);
            const std::vector<int> of = ofdm_symbol_of(config.allocation);
            Factors factors = {};
            for (double& factor : factors)
                factor = std::pow(10.0, 0.5 * random_int(random, 0, 4));
            TrackedSlots before = random_slot(config, 0.01 * clear_noise(modulation), {}, random);
            add_noise(config, factors, random, before);
            const TrackedSlots after = tracked(phy::Host(), config, before);
            for (int l = 0; l < phy::symbols_per_slot; ++l) {
                const auto count = static_cast<double>(std::ranges::count(of, l));
                if (count == 0.0) continue;
                const double found = raised(before, after, of, l);
                EXPECT_NEAR(static_cast<double>(after.estimates[0].excess_noise[static_cast<std::size_t>(l)]),
                            found, 1e-5 * found);
                if (has_dmrs(config.allocation, l) || count < 50.0) {
                    EXPECT_EQ(found, 1.0) << l;
                    continue;
                }
                // Of at most 512 symbols, and at least half of them.
                const double chance = 6.0 / std::sqrt(std::min(count, 256.0));
                const double sent = factors[static_cast<std::size_t>(l)];
                EXPECT_TRUE(sent > 1.0 || found == 1.0) << l << ", " << found;
                EXPECT_TRUE(sent < 1.0 + 2.0 * chance || std::fabs(found / sent - 1.0) < chance)
                    << l << ", " << found << " in the place of " << sent;
            }
        }
    }
}

/// A twentieth of the symbols, which something makes 20 times as strong.
TEST(PhaseTracker, FewSpoiltSymbolsDoNotRaiseTheNoiseOfAll) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    for (const Modulation modulation : all_tracked_modulations) {
        const PhaseTrackerConfig config = random_tracker(modulation, random);
        TrackedSlots before = random_slot(config, clear_noise(modulation), {}, random);
        for (cf32& symbol : before.symbols)
            if (random() % 20 == 0) symbol *= 20.0F;
        const TrackedSlots after = tracked(phy::Host(), config, before);
        if (after.estimates[0].phase_error > 0.0F) continue;  // they are not what phases bear
        for (const float factor : after.estimates[0].excess_noise)
            EXPECT_LT(factor, 1.8F) << to_string(modulation) << ", seed " << seed;
    }
}

TEST(PhaseTracker, WeakensPairsAsItRaisesNoise) {
    std::mt19937 random(random_seed());
    PhaseTrackerConfig config = random_tracker(Modulation::qam16, random);
    config.allocation.dmrs.ports = {0, 1};
    config.allocation.dmrs.cdm_groups_without_data = 2;
    config.allocation.ptrs.reset();
    TrackedSlots before = random_slot(config, 0.01 * clear_noise(config.modulation), {}, random);
    Factors factors;
    factors.fill(25.0);
    add_noise(config, factors, random, before);
    for (std::size_t i = 0; i < before.pairs.size(); ++i)
        before.pairs[i].matched[0] = before.symbols[2 * i],
        before.pairs[i].matched[1] = before.symbols[2 * i + 1];
    const TrackedSlots after = tracked(phy::Host(), config, before);
    ASSERT_GT(*std::ranges::max_element(after.estimates[0].excess_noise), 10.0F);
    ASSERT_EQ(after.estimates[0].tracked_symbols, 0);
    float weakest = 1.0F;
    for (std::size_t i = 0; i < after.pairs.size(); ++i) {
        const float share = before.noise_variance[2 * i] / after.noise_variance[2 * i];
        const float unit = 1e-5F;
        weakest = std::min(weakest, share);
        EXPECT_NEAR(after.pairs[i].power[0], share, unit);
        EXPECT_NEAR(after.pairs[i].power[1], 2.0F * share, unit);
        EXPECT_LT(std::abs(after.pairs[i].cross - share * cf32(0.5F, -0.25F)), unit);
        EXPECT_LT(std::abs(after.pairs[i].matched[0] - share * before.symbols[2 * i]), unit);
        EXPECT_LT(std::abs(after.pairs[i].matched[1] - share * before.symbols[2 * i + 1]), unit);
    }
    EXPECT_LT(weakest, 0.1F);
}

/// As with DM-RS of another power than the link says: an amplitude is no phase. A few symbols of 16QAM may
/// fit better in another phase: about one in 3,000 of these slots does.
TEST(PhaseTracker, AWrongAmplitudeIsNotRotatedIntoFitting) {
    const unsigned seed = random_seed();
    std::mt19937 random(seed);
    std::string rotated;
    int count = 0;
    for (int run = 0; run < 5; ++run) {
        for (const Modulation modulation : {Modulation::qam16, Modulation::qam64, Modulation::qam256}) {
            for (const float gain : {0.6F, 1.4F, 2.0F}) {
                PhaseTrackerConfig config = random_tracker(modulation, random);
                config.allocation.ptrs.reset();
                TrackedSlots before = random_slot(config, 0.1 * clear_noise(modulation), {}, random);
                for (cf32& symbol : before.symbols)
                    symbol *= gain;
                const float error = tracked(phy::Host(), config, before).estimates[0].phase_error;
                if (error < 0.1F) continue;
                ++count;
                rotated += std::string(to_string(modulation)) + ", gain " + std::to_string(gain) + ": " +
                           std::to_string(error) + "\n";
            }
        }
    }
    EXPECT_LE(count, 1) << rotated << "seed " << seed;
}

TEST(PhaseTracker, EveryBackendAndSplitGivesTheSameBytes) {
    std::mt19937 random(random_seed());
    for (const Modulation modulation : all_tracked_modulations) {
        const PhaseTrackerConfig config = random_tracker(modulation, random);
        const TrackedSlots slots = awkward_slots(config, random);
        const std::vector<std::uint32_t> expected = bits_of(tracked(scalar_host(), config, slots));
        for (const phy::Backend& backend : host_backends())
            for (const int threads : {1, 3})
                EXPECT_TRUE(bits_of(tracked(host_of(backend, threads), config, slots)) == expected)
                    << to_string(modulation) << ", " << backend.name() << ", " << threads << " threads";
        TrackedSlots parts = slots;
        PhaseTracker tracker(phy::Host(), config);
        const std::size_t of_slot = tracker.symbols_per_slot();
        const std::size_t of_pairs = slots.pairs.size() / slots.estimates.size();
        const std::size_t of_ptrs = slots.ptrs.size() / slots.estimates.size();
        const std::size_t of_pilots = slots.pilots.size() / slots.estimates.size();
        for (std::size_t i = 0; i < slots.estimates.size(); ++i)
            tracker(std::span(parts.symbols).subspan(i * of_slot, of_slot),
                    std::span(parts.noise_variance).subspan(i * of_slot, of_slot),
                    std::span(parts.estimates).subspan(i, 1),
                    std::span(parts.pairs).subspan(i * of_pairs, of_pairs),
                    {std::span(slots.ptrs).subspan(i * of_ptrs, of_ptrs),
                     std::span(slots.ptrs_noise_variance).subspan(i * of_ptrs, of_ptrs),
                     std::span(slots.pilots).subspan(i * of_pilots, of_pilots)});
        tracker.raise_noise(parts.estimates, parts.noise_variance, parts.pairs);
        EXPECT_TRUE(bits_of(parts) == expected) << to_string(modulation);
    }
}

TEST(PhaseTracker, RefusesSizesThatDoNotFit) {
    PhaseTrackerConfig config;
    config.allocation.carrier_resource_blocks = 2;
    config.allocation.resource_blocks = {{0, 2}};
    PhaseTracker tracker(phy::Host(), config);
    const std::size_t count = tracker.symbols_per_slot();
    std::vector<cf32> symbols(count, cf32(3.0F));
    std::vector<float> noise(count, 1.0F);
    std::vector<SlotEstimate> slots(1);
    std::vector<LayerPair> pairs(count / 2);
    EXPECT_THROW(tracker(symbols, std::span(noise).first(count - 1), slots), phy::ArgumentError);
    EXPECT_THROW(tracker(std::span(symbols).first(count - 1), noise, slots), phy::ArgumentError);
    EXPECT_THROW(tracker(symbols, noise, {}), phy::ArgumentError);
    EXPECT_THROW(tracker(symbols, noise, slots, pairs), phy::ArgumentError);
    EXPECT_THROW(PhaseTracker(phy::Host(),
                              {.allocation = config.allocation, .modulation = static_cast<Modulation>(99)}),
                 phy::ArgumentError);
    EXPECT_THROW(PhaseTracker(phy::Host(), {}), phy::ArgumentError);
    config.allocation.ptrs.emplace();
    PhaseTracker by_ptrs(phy::Host(), config);
    const TrackedSlots slot = [&] {
        std::mt19937 random(1);
        return random_slot(config, 0.1, {}, random);
    }();
    const auto refuses = [&](const phy::PtrsSymbols& ptrs) {
        TrackedSlots tried = slot;
        EXPECT_THROW(by_ptrs(tried.symbols, tried.noise_variance, tried.estimates, {}, ptrs),
                     phy::ArgumentError);
        EXPECT_TRUE(tried == slot);
    };
    const std::span<const cf32> pilots = slot.pilots;
    const std::span<const float> noise_of_ptrs = slot.ptrs_noise_variance;
    refuses({std::span(slot.ptrs).first(1), noise_of_ptrs.first(1), pilots});
    refuses({slot.ptrs, noise_of_ptrs.first(1), pilots});
    refuses({slot.ptrs, noise_of_ptrs, pilots.first(1)});
    refuses({slot.ptrs, noise_of_ptrs, {}});
    refuses({{}, {}, pilots});
    EXPECT_EQ(symbols.front(), cf32(3.0F));
}

}  // namespace
