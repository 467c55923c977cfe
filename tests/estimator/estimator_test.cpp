#include "phy/estimator/estimator.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "estimator/dense_wiener.hpp"
#include "estimator/estimator_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/math/plan.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::ChannelEstimator;
using phy::TimeInterpolation;

struct Errors {
    double estimate = 0.0;
    double dense = 0.0;
    double theory = 0.0;
    double said = 0.0;
    double noise = 0.0;
};

/// Mean square errors of both filters at the first DM-RS, by the same slots.
Errors mean_errors(const EstimatorConfig& config, const Air& air, int slots, bool with_dense = true) {
    ChannelEstimator estimator = make_estimator(config);
    const phy::DmrsConfig& dmrs = config.allocation.dmrs;
    const double amplitude = static_cast<double>(phy::dmrs_amplitude(dmrs));
    const double averaged = static_cast<double>(dmrs.symbols.size()) / estimator.estimates();
    const double noise = air.noise_variance / (amplitude * amplitude) / averaged;
    const std::size_t layers = dmrs.ports.size();
    std::vector<DenseWiener> filters;
    for (std::size_t layer = 0; with_dense && layer < layers; ++layer)
        filters.emplace_back(config, layer, air.delay_spread, noise);
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const auto first = static_cast<std::size_t>(12 * config.allocation.resource_blocks.front().first);
    Errors errors;
    for (const DenseWiener& filter : filters)
        errors.theory += filter.expected_error() / static_cast<double>(layers);
    const auto rows = static_cast<std::size_t>(config.antennas) * layers;
    for (int s = 0; s < slots; ++s) {
        const Slot slot = make_slot(config, air, 100 + static_cast<std::uint64_t>(s));
        const Estimated estimated = estimate(estimator, slot);
        errors.estimate +=
            mean_square_error(config, air, slot, weights_of(estimator), estimated, dmrs.symbols[0]) / slots;
        errors.said += static_cast<double>(estimated.slot.channel_error) / slots;
        errors.noise += static_cast<double>(estimated.slot.noise_variance) / slots;
        for (std::size_t row = 0; with_dense && row < rows; ++row) {
            const std::vector<Complex> dense = filters[row % layers].estimate(least_squares(
                config, slot, row / layers, row % layers, 0, static_cast<std::size_t>(averaged)));
            for (std::size_t k = 0; k < dense.size(); ++k)
                errors.dense += std::norm(dense[k] - slot.channel[row * subcarriers + first + k]) /
                                static_cast<double>(dense.size() * rows) / slots;
        }
    }
    return errors;
}

/// The estimator's error over that of theory, in dB. The dense filter's differs from theory by the chance of
/// the slots alone, which is in both.
double decibels_above_theory(const Errors& errors) {
    return decibels((errors.estimate - errors.dense + errors.theory) / errors.theory);
}

constexpr double spread = Air().delay_spread;

/// 4 antennas, a CDM pair, 52 resource blocks.
EstimatorConfig usual_config() {
    return estimator_config(52, 4, {0, 1});
}

/// CUDA kernels keep matrices of at most this size in registers, and have a thread for each bin.
TEST(ChannelEstimatorTest, MatricesHaveALimitedSize) {
    for (const int type : {1, 2}) {
        for (int blocks = 1; blocks <= 64; ++blocks) {
            for (const std::vector<int>& ports : {std::vector{0}, std::vector{0, 1}, std::vector{0, 1, 2}}) {
                const phy::detail::EstimatorPlan plan(estimator_config(blocks, 4, ports, type));
                EXPECT_LE(plan.largest.rows_of_matrix, phy::detail::estimator_max_rows) << blocks;
                EXPECT_LE(plan.largest.delays, phy::detail::estimator_max_delays) << blocks;
                for (const phy::detail::EstimatorFilter& filter : plan.filters) {
                    for (const phy::detail::EstimatorKind& kind : filter.kinds) {
                        for (const int parity : {0, 1})
                            EXPECT_LE(kind.modes.column_part(parity), phy::detail::estimator_max_part)
                                << blocks;
                    }
                }
                EXPECT_LE(plan.profile.bins, phy::detail::estimator_max_bins) << blocks;
            }
        }
    }
}

TEST(ChannelEstimatorTest, ErrorIsNearThatOfTheMatchedFilter) {
    std::printf("SNR, dB   error, dB   above theory, dB   and with timing corrected\n");
    for (int snr = 0; snr <= 35; snr += 5) {
        double above[2] = {};
        double error = 0.0;
        for (const bool corrects : {false, true}) {
            EstimatorConfig config = usual_config();
            config.corrects_timing = corrects;
            const Errors errors = mean_errors(config, air_at(snr), fewer_times(40));
            above[corrects ? 1 : 0] = decibels_above_theory(errors);
            error = errors.estimate;
            SCOPED_TRACE("SNR " + std::to_string(snr) + " dB, timing " + std::to_string(corrects) + ": " +
                         std::to_string(decibels_above_theory(errors)) + " dB above theory");
            EXPECT_LT(decibels_above_theory(errors), 0.6);
            EXPECT_NEAR(decibels(errors.dense / errors.theory), 0.0, 0.4);
            // Least squares of a pair that is told apart by sums of neighbours, at best: half the noise.
            EXPECT_LT(errors.estimate, 0.5 * 0.5 * air_at(snr).noise_variance);
            EXPECT_NEAR(decibels(errors.said / errors.estimate), 0.0, 0.6);
            EXPECT_NEAR(errors.noise / air_at(snr).noise_variance, 1.0, 0.02);
        }
        std::printf("%7d %11.1f %18.3f %27.3f\n", snr, decibels(error), above[0], above[1]);
        const std::string at = std::to_string(snr) + "_dB";
        RecordProperty("above_theory_at_" + at, std::to_string(above[0]));
        RecordProperty("above_theory_with_timing_at_" + at, std::to_string(above[1]));
    }
}

TEST(ChannelEstimatorTest, WindowsCostLittle) {
    const EstimatorConfig config = estimator_config(106, 2, {0, 1});
    for (const int snr : {0, 15, 30}) {
        Air air = air_at(snr);
        air.delay_spread = 300e-9;
        const Errors errors = mean_errors(config, air, 4);
        EXPECT_LT(decibels(errors.estimate / errors.dense), 1.0) << snr << " dB";
    }
}

TEST(ChannelEstimatorTest, WrongNoiseOrDelaySpreadDegradesGracefully) {
    for (const int snr : {0, 10, 20, 30}) {
        const double right = mean_errors(usual_config(), air_at(snr), 6, false).estimate;
        for (const double factor : {0.5, 2.0}) {
            EstimatorConfig config = usual_config();
            config.noise_variance = static_cast<float>(factor * air_at(snr).noise_variance);
            const double of_noise = mean_errors(config, air_at(snr), 6, false).estimate;
            EXPECT_LT(decibels(of_noise / right), 1.8) << snr << " dB, noise x " << factor;
        }
        for (const double factor : {0.5, 1.0, 2.0}) {
            EstimatorConfig config = usual_config();
            config.delay_spread = static_cast<float>(factor * spread);
            const double of_spread = mean_errors(config, air_at(snr), 6, false).estimate;
            EXPECT_LT(decibels(of_spread / right), 1.2) << snr << " dB, delay spread x " << factor;
        }
    }
}

TEST(ChannelEstimatorTest, MeasuresTheDelaySpread) {
    for (const double true_spread : {30e-9, 100e-9, 300e-9}) {
        EstimatorConfig config = usual_config();
        config.allocation.dmrs.ports = {0, 1, 2, 3};
        ChannelEstimator estimator = make_estimator(config);
        for (const int snr : {5, 20}) {
            Air air = air_at(snr);
            air.delay_spread = true_spread;
            double mean = 0.0;
            for (std::uint64_t seed = 1; seed <= 8; ++seed)
                mean +=
                    static_cast<double>(estimate(estimator, make_slot(config, air, seed)).slot.delay_spread) /
                    8;
            EXPECT_NEAR(mean / true_spread, 1.0, 0.3) << true_spread << " s, " << snr << " dB";
        }
    }
}

/// What lies beyond the cyclic prefix may count as noise.
TEST(ChannelEstimatorTest, MeasuresNoiseOfAnyProfile) {
    constexpr double prefix = 9.0 / 128.0 / 30e3;
    struct Case {
        std::optional<double> given;
        double real;
    };
    for (const Case& spreads : {Case{{}, 30e-9}, Case{{}, 100e-9}, Case{{}, 200e-9}, Case{{}, 300e-9},
                                Case{60e-9, 30e-9}, Case{200e-9, 100e-9}}) {
        EstimatorConfig config = usual_config();
        if (spreads.given) config.delay_spread = static_cast<float>(*spreads.given);
        for (const int snr : {10, 30, 35}) {
            Air air = air_at(snr);
            air.delay_spread = spreads.real;
            const double noise = mean_errors(config, air, 8, false).noise;
            SCOPED_TRACE(testing::Message() << spreads.real << " s, given " << spreads.given.value_or(0.0)
                                            << " s, " << snr << " dB");
            EXPECT_GT(noise, 0.97 * air.noise_variance);
            EXPECT_LT(noise, 1.03 * air.noise_variance + 0.3 * std::exp(-prefix / spreads.real));
        }
    }
}

/// One DM-RS symbol of a CDM pair: a comb has hardly more pilots than the channel has modes.
TEST(ChannelEstimatorTest, MeasuresNoiseOfFewPilots) {
    std::mt19937 random(random_seed());
    for (int i = 0; i < 12; ++i) {
        const int type = 1 + i % 2;
        const int blocks = 2 + i % 3;
        const int pair = static_cast<int>(random() % (type == 1 ? 2 : 3));
        EstimatorConfig config = estimator_config(blocks, 4, {2 * pair, 2 * pair + 1}, type);
        config.allocation.dmrs.symbols = {2};
        const int snr = 10 + static_cast<int>(random() % 31);
        Air air = air_at(snr);
        air.delay_spread = std::uniform_real_distribution<double>(5e-9, 40e-9)(random);
        const double noise = mean_errors(config, air, 24, false).noise;
        SCOPED_TRACE(testing::Message() << "type " << type << ", " << blocks << " blocks, " << snr << " dB, "
                                        << air.delay_spread << " s");
        EXPECT_GT(noise, 0.7 * air.noise_variance);
        EXPECT_LT(noise, 1.4 * air.noise_variance);
    }
}

/// Two pilots per comb differ by noise and delays alike. What they differ by counts as noise, and tells
/// nothing of delays on top.
TEST(ChannelEstimatorTest, TwoPilotsPerCombShowNoDelays) {
    EstimatorConfig config = estimator_config(1, 8, {2, 3}, 2);
    config.allocation.dmrs.symbols = {2};
    for (const auto& [snr, most_over_noise] : {std::pair{25, -4.0}, std::pair{30, -0.4}}) {
        const Errors errors = mean_errors(config, air_at(snr), 50, false);
        EXPECT_LT(decibels(errors.estimate / air_at(snr).noise_variance), most_over_noise) << snr << " dB";
    }
}

TEST(ChannelEstimatorTest, KeepsLatePaths) {
    // A path at -20 dB, far beyond the profile. Cut off, it would be an error ten times the noise.
    Air air = air_at(30);
    for (const int antennas : {2, 4}) {
        const EstimatorConfig config = estimator_config(52, antennas, {0, 1});
        air.late_power = 0.0;
        const double without = mean_errors(config, air, 12, false).estimate;
        air.late_power = 0.01;
        air.late_delay = 1.5e-6;
        EXPECT_LT(decibels(mean_errors(config, air, 12, false).estimate / without), 2.0)
            << antennas << " antennas";
    }
}

TEST(ChannelEstimatorTest, OffsetsCostLittle) {
    const double half_prefix = 0.5 * 144.0 / 2048.0 / 30e3;
    for (const int snr : {0, 10, 20, 30}) {
        const double without = mean_errors(usual_config(), air_at(snr), 6, false).estimate;
        for (const double sign : {-1.0, 1.0}) {
            Air late = air_at(snr);
            late.timing = sign * half_prefix;
            EXPECT_LT(decibels(mean_errors(usual_config(), late, 6, false).estimate / without), 0.3)
                << snr << " dB, timing " << sign;
            Air high = air_at(snr);
            high.frequency = sign * 0.02 * 30e3;
            EXPECT_LT(decibels(mean_errors(usual_config(), high, 6, false).estimate / without), 0.3)
                << snr << " dB, frequency " << sign;
        }
    }
}

TEST(ChannelEstimatorTest, TellsOffsets) {
    EstimatorConfig config = usual_config();
    for (const auto time : {TimeInterpolation::average, TimeInterpolation::linear}) {
        config.time = time;
        ChannelEstimator estimator = make_estimator(config);
        Air air = air_at(20.0);
        air.timing = 0.8e-6;
        air.frequency = -450.0;
        const Slot slot = make_slot(config, air, 5);
        const Estimated estimated = estimate(estimator, slot);
        EXPECT_NEAR(static_cast<double>(estimated.slot.timing_offset), air.timing, 60e-9);
        EXPECT_NEAR(static_cast<double>(estimated.slot.frequency_offset), air.frequency, 5.0);
        for (const int symbol : {0, 2, 6, 11, 13})
            EXPECT_LT(mean_square_error(config, air, slot, weights_of(estimator), estimated, symbol), 1e-3)
                << symbol;
    }
}

TEST(ChannelEstimatorTest, RangesWithGapsAreFilteredByThemselves) {
    EstimatorConfig config = usual_config();
    config.allocation.carrier_resource_blocks = 60;
    config.allocation.resource_blocks = {{40, 7}, {0, 20}, {20, 1}, {50, 10}};
    config.allocation.dmrs.ports = {0, 1, 2};
    ChannelEstimator estimator = make_estimator(config);
    const Air air = air_at(20.0);
    const Slot slot = make_slot(config, air, 4);
    Estimated estimated;
    estimated.channel.assign(estimator.channel_size(), -7.0F);
    estimator(slot.grid, slot.pilots, estimated.channel, std::span(&estimated.slot, 1));
    EXPECT_LT(mean_square_error(config, air, slot, weights_of(estimator), estimated, 2), 2e-3);
    for (std::size_t i = 0; i < estimated.channel.size(); ++i) {
        const std::size_t block = i % 720 / 12;
        const bool is_inside = block <= 20 || (block >= 40 && block < 47) || block >= 50;
        ASSERT_EQ(estimated.channel[i] != -7.0F, is_inside) << i;
    }
}

TEST(ChannelEstimatorTest, TimeWeights) {
    EstimatorConfig config = usual_config();
    const std::vector<float> linear = weights_of(make_estimator(config));
    for (int l = 0; l < 14; ++l) {
        const double right = std::clamp((l - 2) / 9.0, 0.0, 1.0);
        EXPECT_NEAR(static_cast<double>(linear[static_cast<std::size_t>(2 * l + 1)]), right, 1e-6);
        EXPECT_NEAR(static_cast<double>(linear[static_cast<std::size_t>(2 * l)]), 1.0 - right, 1e-6);
    }
    config.time = TimeInterpolation::wiener;
    config.doppler_spread = 300.0F;
    const std::vector<float> all = weights_of(make_estimator(config));
    ASSERT_EQ(make_estimator(config).time_sets(), 5);
    ASSERT_EQ(all.size(), 5U * 14U * 2U);
    const double c = std::cyl_bessel_j(0.0, 2.0 * std::numbers::pi * 300.0 * time_of(9, 30e3));
    for (std::size_t set = 0; set < 5; ++set) {
        const std::span wiener = std::span(all).subspan(set * 28, 28);
        // [[g, c], [c, g]] x = g [1, c] for symbol 2, where c is the correlation over 9 symbols, and g is 1
        // and the noise of an estimate: error / (1 - error).
        const double gain = 1.0 / (1.0 - std::array{1e-5, 1e-4, 1e-3, 1e-2, 1e-1}[set]);
        const double scale = gain / (gain * gain - c * c);
        EXPECT_NEAR(static_cast<double>(wiener[4]), (gain - c * c) * scale, 1e-5);
        EXPECT_NEAR(static_cast<double>(wiener[5]), (gain - 1.0) * c * scale, 1e-5);
        EXPECT_NEAR(static_cast<double>(wiener[12]), static_cast<double>(wiener[15]), 1e-6);
    }
    config.time = TimeInterpolation::average;
    config.doppler_spread = {};
    EXPECT_EQ(weights_of(make_estimator(config)), std::vector<float>(14, 1.0F));
}

/// Nothing, nothing finite, and nothing that sums can hold.
TEST(ChannelEstimatorTest, EqualizersEraseSlotsWithoutPower) {
    EstimatorConfig config = estimator_config(12, 2, {0, 1});
    config.time = TimeInterpolation::wiener;
    ChannelEstimator estimator = make_estimator(config);
    const Slot slot = make_slot(config, air_at(10.0), 1);
    phy::Equalizer equalize(phy::Host(), {.allocation = config.allocation,
                                          .antennas = 2,
                                          .time_weights = weights_of(estimator),
                                          .time_sets = estimator.time_sets()});
    std::vector<float> channel(estimator.channel_size());
    std::vector<phy::SlotEstimate> slots(1);
    std::vector<phy::cf32> symbols(equalize.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    for (const float sample : {0.0F, std::numeric_limits<float>::quiet_NaN(), 1e15F}) {
        const std::vector<phy::cf32> grid(slot.grid.size(), sample);
        estimator(grid, slot.pilots, channel, slots);
        EXPECT_EQ(slots[0].noise_variance,
                  sample == 0.0F ? 0x1p-126F : std::numeric_limits<float>::infinity())
            << sample;
        EXPECT_EQ(slots[0].coherence, 0.0F) << sample;
        EXPECT_EQ(channel, std::vector<float>(channel.size(), 0.0F)) << sample;
        ASSERT_NO_THROW(equalize(grid, channel, slots, symbols, noise)) << sample;
        EXPECT_EQ(symbols, std::vector<phy::cf32>(symbols.size())) << sample;
        EXPECT_EQ(noise, std::vector<float>(noise.size(), std::numeric_limits<float>::infinity())) << sample;
    }
}

/// Also where a covariance stands for the noise.
TEST(ChannelEstimatorTest, EqualizersEraseSlotsOfWhichAPilotIsNotFinite) {
    EstimatorConfig config = estimator_config(12, 4, {0, 1});
    ChannelEstimator estimator = make_estimator(config);
    Slot slot = make_slot(config, air_at(30.0), 1);
    phy::Equalizer equalize(
        phy::Host(), {.allocation = config.allocation, .antennas = 4, .time_weights = weights_of(estimator)});
    std::vector<float> channel(estimator.channel_size());
    std::vector<phy::SlotEstimate> slots(1);
    std::vector<phy::cf32> covariance(16);
    std::vector<phy::cf32> symbols(equalize.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    const auto erased = [&] {
        estimator(slot.grid, slot.pilots, channel, slots, covariance);
        equalize(slot.grid, channel, slots, symbols, noise, covariance);
        return std::ranges::count(noise, std::numeric_limits<float>::infinity());
    };
    EXPECT_EQ(erased(), 0);
    const auto dmrs = static_cast<std::size_t>(config.allocation.dmrs.symbols.front());
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const auto first = 12 * static_cast<std::size_t>(config.allocation.resource_blocks.front().first);
    slot.grid[dmrs * subcarriers + first] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(erased(), static_cast<std::ptrdiff_t>(noise.size()));
    EXPECT_EQ(slots[0].noise_variance, std::numeric_limits<float>::infinity());
    equalize(slot.grid, channel, slots, symbols, noise);
    EXPECT_EQ(std::ranges::count(noise, std::numeric_limits<float>::infinity()),
              static_cast<std::ptrdiff_t>(noise.size()));
}

void expect_throws(const EstimatorConfig& config, const std::string& named) {
    try {
        make_estimator(config);
        ADD_FAILURE() << named << ": no error";
    } catch (const phy::ArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
    }
}

TEST(ChannelEstimatorTest, WrongArgumentsThrow) {
    const auto with = [](auto change) {
        EstimatorConfig config = usual_config();
        change(config);
        return config;
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    for (const int antennas : {0, 17})
        expect_throws(with([&](auto& c) { c.antennas = antennas; }), "antennas");
    for (const float value : {0.0F, -1e-9F, nan, 1.0F, 1e-12F})
        expect_throws(with([&](auto& c) { c.delay_spread = value; }), "delay_spread");
    for (const float value : {0.0F, -1.0F, nan, std::numeric_limits<float>::infinity()})
        expect_throws(with([&](auto& c) { c.noise_variance = value; }), "noise_variance");
    for (const float value : {0.0F, -1.0F, nan, 30001.0F})
        expect_throws(with([&](auto& c) {
                          c.time = TimeInterpolation::wiener;
                          c.doppler_spread = value;
                      }),
                      "doppler_spread");
    expect_throws(with([&](auto& c) { c.doppler_spread = 5.0F; }), "doppler_spread 5");
    for (const double value : {0.0, -30e3, static_cast<double>(nan), std::numeric_limits<double>::infinity()})
        expect_throws(with([&](auto& c) { c.subcarrier_spacing = value; }), "subcarrier_spacing");
    expect_throws(with([&](auto& c) { c.allocation.dmrs.ports = {}; }), "ports");
    ChannelEstimator estimator = make_estimator(usual_config());
    const Slot slot = make_slot(usual_config(), air_at(10.0), 1);
    std::vector<float> channel(estimator.channel_size());
    std::vector<phy::SlotEstimate> slots(1);
    const auto all = [&](std::size_t grid, std::size_t pilots, std::size_t count, std::size_t covariance) {
        const std::vector<phy::cf32> some(slot.grid.size());
        std::vector<phy::cf32> products(covariance);
        channel.resize(count);
        estimator(std::span(some).first(grid), std::span(slot.pilots).first(pilots), channel, slots,
                  products);
    };
    const std::size_t count = channel.size();
    EXPECT_THROW(all(slot.grid.size() - 1, slot.pilots.size(), count, 0), phy::ArgumentError);
    EXPECT_THROW(all(slot.grid.size(), slot.pilots.size() - 1, count, 0), phy::ArgumentError);
    EXPECT_THROW(all(slot.grid.size(), slot.pilots.size(), count - 1, 0), phy::ArgumentError);
    EXPECT_THROW(all(slot.grid.size(), slot.pilots.size(), count, 15), phy::ArgumentError);
    EXPECT_NO_THROW(all(slot.grid.size(), slot.pilots.size(), count, 16));
    slots.clear();
    try {
        all(slot.grid.size(), slot.pilots.size(), count, 0);
        ADD_FAILURE() << "a grid without slots: no error";
    } catch (const phy::ArgumentError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("slots has 0 elements")) << error.what();
    }
}

}  // namespace
