#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "common/error_rate.hpp"
#include "support/random_seed.hpp"

namespace phy::apps {
namespace {

constexpr int simulations = 4000;

/// (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n) with z = 1.959964, by hand.
TEST(ErrorRate, IsWilsonsInterval) {
    const auto expect_interval = [](std::uint64_t errors, std::uint64_t trials, double low, double high) {
        const ErrorRate rate = error_rate(errors, trials);
        EXPECT_EQ(rate.rate, static_cast<double>(errors) / static_cast<double>(trials));
        EXPECT_NEAR(rate.low, low, 1e-6) << errors << " of " << trials;
        EXPECT_NEAR(rate.high, high, 1e-6) << errors << " of " << trials;
    };
    expect_interval(1, 10, 0.017876, 0.404150);
    expect_interval(5, 10, 0.236593, 0.763407);
    expect_interval(10, 100, 0.055229, 0.174366);
}

/// A rate at the bound has no errors in 5 % of all simulations.
TEST(ErrorRate, IsABoundWithoutErrors) {
    for (const std::uint64_t trials : {1U, 7U, 1000U, 1'000'000'000U}) {
        const ErrorRate none = error_rate(0, trials);
        EXPECT_EQ(none.rate, 0.0);
        EXPECT_EQ(none.low, 0.0);
        EXPECT_NEAR(std::exp(static_cast<double>(trials) * std::log1p(-none.high)), 0.05, 1e-9) << trials;
        const ErrorRate all = error_rate(trials, trials);
        EXPECT_EQ(all.low, 1.0 - none.high);
        EXPECT_EQ(all.high, 1.0);
    }
    EXPECT_NEAR(error_rate(0, 1'000'000).high, 3e-6, 0.01e-6);
}

TEST(ErrorRate, IsText) {
    EXPECT_EQ(rate_text(error_rate(0, 1'000'000)), "< 3e-06");
    EXPECT_EQ(rate_text(error_rate(489, 311'040)), "0.001572");
    EXPECT_EQ(interval_text(error_rate(10, 100)), "0.0552 to 0.174");
}

TEST(ErrorRate, IsUnknownWithoutTrials) {
    for (const ErrorRate& rate : {error_rate(0, 0), error_rate(bit_error_sums(0, 0), Independent::bits),
                                  error_rate(bit_error_sums(0, 0), Independent::slots)}) {
        EXPECT_TRUE(std::isnan(rate.rate));
        EXPECT_TRUE(std::isnan(rate.low));
        EXPECT_TRUE(std::isnan(rate.high));
    }
}

void expect_equal(const ErrorRate& a, const ErrorRate& b) {
    EXPECT_EQ(a.rate, b.rate);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(a.high, b.high);
}

BitErrorSums sums_of(std::initializer_list<std::uint64_t> errors, std::uint64_t bits) {
    BitErrorSums sums;
    for (const std::uint64_t each : errors)
        sums = join(sums, bit_error_sums(each, bits));
    return sums;
}

/// The spread of errors is only known if several slots have some.
TEST(ErrorRate, CountsWhatIsIndependent) {
    const BitErrorSums none = sums_of({0, 0, 0}, 1000);
    expect_equal(error_rate(none, Independent::bits), error_rate(0, 3000));
    expect_equal(error_rate(none, Independent::slots), error_rate(0, 3));
    const BitErrorSums all = sums_of({1000, 1000, 1000}, 1000);
    expect_equal(error_rate(all, Independent::bits), error_rate(3000, 3000));
    expect_equal(error_rate(all, Independent::slots), error_rate(3, 3));
    const BitErrorSums even = sums_of({2, 2, 2}, 1000);
    expect_equal(error_rate(even, Independent::bits), error_rate(6, 3000));
    const BitErrorSums one = sums_of({500}, 1000);
    expect_equal(error_rate(one, Independent::bits), error_rate(500, 1000));
    const ErrorRate by_slots = error_rate(one, Independent::slots);
    EXPECT_LT(by_slots.low, 0.1);
    EXPECT_GT(by_slots.high, 0.9);
    // A slot that is wrong as a whole is one error of three trials.
    const BitErrorSums wrong = sums_of({1000, 0, 0}, 1000);
    expect_equal(error_rate(wrong, Independent::slots), error_rate(1, 3));
}

TEST(ErrorRate, WeighsSlotsByTheirBits) {
    const BitErrorSums sums = join(join(bit_error_sums(10, 100), bit_error_sums(90, 300)),
                                   join(bit_error_sums(0, 0), bit_error_sums(40, 200)));
    const double rate = 140.0 / 600.0;
    // 3 / 2 sum (e - p b)^2 / (sum b)^2, with e - p b of -40/3, 20 and -20/3.
    const double variance = 1.5 * (1600.0 + 3600.0 + 400.0) / 9.0 / 360'000.0;
    const double n = rate * (1.0 - rate) / variance;
    const double z = 1.959964;
    const ErrorRate found = error_rate(sums, Independent::bits);
    const double half = z * std::sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n));
    EXPECT_NEAR(found.low, (rate + z * z / (2.0 * n) - half) / (1.0 + z * z / n), 1e-6);
    EXPECT_NEAR(found.high, (rate + z * z / (2.0 * n) + half) / (1.0 + z * z / n), 1e-6);
}

/// The share of simulations whose interval has the rate. draw() gives an ErrorRate.
template <typename Draw>
double coverage(double rate, const Draw& draw) {
    int covered = 0;
    for (int i = 0; i < simulations; ++i) {
        const ErrorRate found = draw();
        covered += found.low <= rate && rate <= found.high ? 1 : 0;
    }
    return static_cast<double>(covered) / simulations;
}

/// Near 95 %, the share of 4,000 simulations has a standard deviation of 0.0034. All bounds are at least 7 of
/// them from what 100,000 simulations give.
TEST(ErrorRate, CoversTheRateOfIndependentTrials) {
    std::mt19937 random(phy_test::random_seed());
    for (const auto& [rate, trials] : {std::pair(0.3, 50U), {0.05, 500U}, {0.002, 20'000U}, {0.97, 2000U}}) {
        std::binomial_distribution<std::uint64_t> errors(trials, rate);
        const double covered = coverage(rate, [&, n = trials] { return error_rate(errors(random), n); });
        EXPECT_GT(covered, 0.92) << rate << ' ' << trials;
        EXPECT_LT(covered, 0.98) << rate << ' ' << trials;
    }
}

/// Slots of 10,000 bits. rate() is that of a slot. Chance rounds its errors, which is all that differs
/// between slots of the same rate.
template <typename Rate>
BitErrorSums draw_slots(int slots, std::mt19937& random, const Rate& rate) {
    constexpr std::uint64_t bits = 10'000;
    std::uniform_real_distribution<double> rest;
    BitErrorSums sums;
    for (int i = 0; i < slots; ++i) {
        const double errors = rate() * static_cast<double>(bits) + rest(random);
        sums = join(sums, bit_error_sums(static_cast<std::uint64_t>(errors), bits));
    }
    return sums;
}

/// As if all bits were independent.
ErrorRate naive(const BitErrorSums& sums) {
    return error_rate(static_cast<std::uint64_t>(sums.errors), static_cast<std::uint64_t>(sums.bits));
}

/// The rate of a slot is 0.5 exp(-snr g), with g of unit exponential distribution as in Rayleigh fading: 0.5
/// / (1 + snr) on average. In the last cases few slots have errors, or none, and intervals are wide.
TEST(ErrorRate, CoversTheRateOfFadedSlots) {
    std::mt19937 random(phy_test::random_seed());
    std::exponential_distribution<double> gain;
    for (const auto& [slots, snr] : {std::pair(20, 1.0),
                                     {20, 10.0},
                                     {100, 10.0},
                                     {100, 100.0},
                                     {20, 100.0},
                                     {100, 1000.0},
                                     {20, 10'000.0}}) {
        const double rate = 0.5 / (1.0 + snr);
        const auto draw = [&, n = slots, s = snr] {
            return draw_slots(n, random, [&] { return 0.5 * std::exp(-s * gain(random)); });
        };
        EXPECT_GT(coverage(rate, [&] { return error_rate(draw(), Independent::slots); }), 0.925)
            << slots << ' ' << snr;
        EXPECT_LT(coverage(rate, [&] { return naive(draw()); }), 0.5) << slots << ' ' << snr;
    }
}

/// Rates of slots from 0.5 to 1.5 % give nine times the variance of independent bits.
TEST(ErrorRate, CoversTheRateOfSlotsThatDiffer) {
    std::mt19937 random(phy_test::random_seed());
    std::uniform_real_distribution<double> rate(0.005, 0.015);
    const auto draw = [&] { return draw_slots(50, random, [&] { return rate(random); }); };
    const double covered = coverage(0.01, [&] { return error_rate(draw(), Independent::bits); });
    EXPECT_GT(covered, 0.92);
    EXPECT_LT(covered, 0.98);
    EXPECT_LT(coverage(0.01, [&] { return naive(draw()); }), 0.6);
}

/// Chance makes slots differ as independent bits do.
TEST(ErrorRate, CoversTheRateOfSlotsThatAreAlike) {
    std::mt19937 random(phy_test::random_seed());
    std::binomial_distribution<std::uint64_t> errors(10'000, 0.001);
    const auto draw = [&] {
        return draw_slots(10, random, [&] { return 1e-4 * static_cast<double>(errors(random)); });
    };
    const double covered = coverage(0.001, [&] { return error_rate(draw(), Independent::bits); });
    EXPECT_GT(covered, 0.93);
    EXPECT_LT(covered, 0.99);
}

}  // namespace
}  // namespace phy::apps
