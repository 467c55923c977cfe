#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <span>
#include <type_traits>

#include "demapper/awkward_symbols.hpp"
#include "phy/core/error.hpp"
#include "support/unnamed.hpp"

namespace {

using phy::Evaluator;
using phy::Host;
using phy::Method;
using phy::Modulation;
using phy::NoiseVariance;
using phy::SoftBitFormat;
using phy::SoftDemapper;

using Limits = std::numeric_limits<float>;

static_assert(std::is_convertible_v<float, NoiseVariance>);
static_assert(!std::is_copy_constructible_v<SoftDemapper>);
static_assert(std::is_nothrow_move_constructible_v<SoftDemapper>);

/// An error is thrown, and nothing was written.
void expect_refusal(SoftDemapper& demap, std::size_t symbols, NoiseVariance noise, std::size_t soft_bits) {
    const std::vector<phy::cf32> in(symbols, phy::cf32(0.5F, 0.5F));
    std::vector<float> out(soft_bits, 7.0F);
    phy::DemapCounters counters{.erasures = 3, .saturated = 4};
    EXPECT_THROW(demap(in, noise, out), phy::ArgumentError);
    EXPECT_THROW(demap(in, noise, out, 0, &counters), phy::ArgumentError);
    EXPECT_EQ(out, std::vector<float>(soft_bits, 7.0F));
    EXPECT_EQ(counters, (phy::DemapCounters{.erasures = 3, .saturated = 4}));
}

/// A fast path looks whether there is any.
TEST(SoftDemapperCounters, TheOnlyUnusableNoiseVariance) {
    const float unusable[] = {0.0F, -1.0F, Limits::infinity(), Limits::quiet_NaN()};
    for (const phy::Backend& backend : phy::Backend::all()) {
        if (backend.kind() == phy::Backend::Kind::cuda || !backend.supported()) continue;
        SoftDemapper demap(Host({.backend = backend}), {.modulation = Modulation::qpsk});
        for (std::size_t count = 1; count <= 150; ++count) {
            const std::vector<phy::cf32> symbols(count, phy::cf32(0.5F, 0.5F));
            std::vector<std::int8_t> llr(2 * count);
            std::vector<float> noise(count, 0.5F);
            for (std::size_t bad = 0; bad < count; ++bad) {
                noise[bad] = unusable[bad % std::size(unusable)];
                phy::DemapCounters counters;
                demap(symbols, noise, llr, 0, &counters);
                ASSERT_EQ(counters.erasures, 1U) << backend.name() << ": " << bad << " of " << count;
                noise[bad] = 0.5F;
            }
        }
    }
}

TEST(SoftDemapperErrors, SizesThatDoNotFit) {
    for (const Modulation modulation : phy::all_modulations) {
        SCOPED_TRACE(to_string(modulation));
        SoftDemapper demap(Host(), {.modulation = modulation});
        const std::size_t bits = 6 * bits_per_symbol(modulation);
        expect_refusal(demap, 6, 0.1F, bits - 1);
        expect_refusal(demap, 6, 0.1F, bits + 1);
        expect_refusal(demap, 6, 0.1F, 0);
        expect_refusal(demap, 0, 0.1F, 1);
        const std::vector<float> noise(7, 0.1F);
        expect_refusal(demap, 6, noise, bits);
        expect_refusal(demap, 6, std::span(noise).first(5), bits);
        expect_refusal(demap, 6, std::span<const float>(), bits);
    }
}

TEST(SoftDemapperErrors, NoiseThatIsNotFiniteAndPositive) {
    for (const Evaluator evaluator : {Evaluator::automatic, Evaluator::arithmetic, Evaluator::table}) {
        SoftDemapper demap(Host(), {.modulation = Modulation::qam16, .llr = {.evaluator = evaluator}});
        for (const float noise : phy_test::unusable_noise()) {
            SCOPED_TRACE(noise);
            expect_refusal(demap, 6, noise, 24);
        }
    }
}

TEST(SoftDemapperErrors, ValuesOutOfRange) {
    for (const float scale : {0.0F, -6.0F, 1.0F / 65.0F, 4097.0F, Limits::quiet_NaN(), Limits::infinity()}) {
        EXPECT_THROW(SoftDemapper(Host(), {.llr = {.scale = scale}}), phy::ArgumentError) << scale;
    }
    for (const int clip : {0, -1, 128, std::numeric_limits<int>::max()}) {
        EXPECT_THROW(SoftDemapper(Host(), {.llr = {.clip = clip}}), phy::ArgumentError) << clip;
    }
}

TEST(SoftDemapperErrors, NumbersThatNameNothing) {
    using phy_test::expect_unnamed;
    expect_unnamed("modulation", 7, 6,
                   [] { SoftDemapper(Host(), {.modulation = static_cast<Modulation>(7)}); });
    expect_unnamed("method", 2, 1, [] { SoftDemapper(Host(), {.llr = {.method = static_cast<Method>(2)}}); });
    expect_unnamed("evaluator", -1, 2,
                   [] { SoftDemapper(Host(), {.llr = {.evaluator = static_cast<Evaluator>(-1)}}); });
    SoftDemapper demap(Host(), {});
    const auto no_format = static_cast<SoftBitFormat>(3);
    expect_unnamed("soft-bit format", 3, 2, [&] { static_cast<void>(demap.evaluator_for(0.1F, no_format)); });
    std::vector<phy::cf32> symbols(1);
    std::vector<float> llr(2);
    expect_unnamed("sample format", 4, 3, [&] {
        demap(phy::SymbolView(static_cast<phy::SampleFormat>(4), symbols.data(), 1), 0.1F, llr);
    });
    expect_unnamed("soft-bit format", 3, 2,
                   [&] { demap(symbols, 0.1F, phy::SoftBitSpan(no_format, llr.data(), 2)); });
}

TEST(SoftDemapper, TakesTheEndsOfTheRanges) {
    EXPECT_NO_THROW(SoftDemapper(Host(), {.llr = {.scale = 1.0F / 64.0F, .clip = 1}}));
    EXPECT_NO_THROW(SoftDemapper(Host(), {.llr = {.scale = 4096.0F, .clip = 127}}));
}

TEST(SoftDemapper, IsUsableAfterAnError) {
    SoftDemapper demap(Host(), {.modulation = Modulation::qpsk});
    expect_refusal(demap, 2, 0.0F, 4);
    std::vector<float> out(2);
    demap(std::vector<phy::cf32>{{1.0F, -2.0F}}, 1.0F, out);
    const float expected = 4.0F * std::sqrt(0.5F);
    EXPECT_FLOAT_EQ(out[0], expected);
    EXPECT_FLOAT_EQ(out[1], -2.0F * expected);
}

TEST(SoftDemapper, TakesEmptyCalls) {
    for (const phy::Backend& backend : phy_test::host_backends()) {
        for (const int threads : {1, 3}) {
            SoftDemapper demap(phy_test::host_of(backend, threads), {});
            phy::DemapCounters counters;
            demap({}, 0.1F, phy::SoftBitSpan(), 0, &counters);
            demap({}, std::span<const float>(), phy::SoftBitSpan(), 0, &counters);
            EXPECT_EQ(counters, phy::DemapCounters());
        }
    }
}

TEST(SoftDemapper, ReportsItsHost) {
    for (const phy::Backend& backend : phy_test::host_backends()) {
        const Host host = phy_test::host_of(backend, 2);
        for (const Modulation modulation : phy::all_modulations) {
            const SoftDemapper demap(host, {.modulation = modulation});
            EXPECT_EQ(demap.host().backend(), backend);
            EXPECT_EQ(&demap.host().pool(), &host.pool());
        }
    }
}

TEST(SoftDemapper, ReportsItsConfiguration) {
    const phy::DemapperConfig config = {
        .modulation = Modulation::qam1024,
        .llr = {.method = Method::log_map, .evaluator = Evaluator::table, .scale = 2.0F, .clip = 31},
        .full_scale = 9.0F};
    EXPECT_EQ(SoftDemapper(Host(), config).config(), config);
}

TEST(SoftDemapper, KeepsWorkingWhenMoved) {
    SoftDemapper first(phy_test::host_of(phy::Backend::best(), 2), {.modulation = Modulation::qam16});
    const phy_test::Input input(phy::SampleFormat::cf32, phy_test::awkward_symbols(Modulation::qam16, 5000));
    const auto expected = phy_test::demapped(first, input, {false, 0.1F}, SoftBitFormat::int8);
    SoftDemapper second = std::move(first);
    EXPECT_EQ(phy_test::demapped(second, input, {false, 0.1F}, SoftBitFormat::int8), expected);
    SoftDemapper third(Host(), {.modulation = Modulation::bpsk});
    third = std::move(second);
    EXPECT_EQ(phy_test::demapped(third, input, {false, 0.1F}, SoftBitFormat::int8), expected);
}

TEST(SoftDemapper, EvaluatesAsDocumented) {
    const std::vector<float> each(4, 0.1F);
    const NoiseVariance per_symbol = each;
    const NoiseVariance scalar = 0.1F;
    const auto used = [](Method method, Evaluator evaluator, NoiseVariance noise) {
        const SoftDemapper demap(
            Host(), {.modulation = Modulation::qam64, .llr = {.method = method, .evaluator = evaluator}});
        return demap.evaluator_for(noise, SoftBitFormat::int8);
    };
    for (const Method method : {Method::max_log, Method::log_map}) {
        EXPECT_EQ(used(method, Evaluator::table, scalar), Evaluator::table);
        EXPECT_EQ(used(method, Evaluator::table, per_symbol), Evaluator::arithmetic);
        EXPECT_EQ(used(method, Evaluator::table, 1e-30F), Evaluator::arithmetic);
        EXPECT_EQ(used(method, Evaluator::arithmetic, scalar), Evaluator::arithmetic);
        EXPECT_EQ(used(method, Evaluator::automatic, per_symbol), Evaluator::arithmetic);
    }
    EXPECT_EQ(used(Method::max_log, Evaluator::automatic, scalar), Evaluator::arithmetic);
    EXPECT_EQ(used(Method::log_map, Evaluator::automatic, scalar), Evaluator::table);
}

// A table for such an N0 would hold values beyond binary32; N0 counts as limited.
TEST(SoftDemapper, TablesServeTheSmallestNoise) {
    const std::vector<phy::cf32> symbols = {{0.3F, -0.7F}, {-1.0F, 0.05F}, {0.6F, 0.9F}};
    for (const Modulation modulation : {Modulation::qam16, Modulation::qam64, Modulation::qam256}) {
        for (const float variance : {1e-45F, 1e-40F, 1e-35F, 1e-20F}) {
            std::vector<float> by_table(symbols.size() * bits_per_symbol(modulation));
            std::vector<float> by_formula(by_table.size());
            SoftDemapper table(Host(), {.modulation = modulation, .llr = {.evaluator = Evaluator::table}});
            SoftDemapper formula(Host(),
                                 {.modulation = modulation, .llr = {.evaluator = Evaluator::arithmetic}});
            table(symbols, variance, by_table);
            formula(symbols, variance, by_formula);
            for (std::size_t i = 0; i < by_table.size(); ++i) {
                EXPECT_NEAR(by_table[i], by_formula[i], 1e-5 * std::abs(by_formula[i])) << "N0 " << variance;
            }
        }
    }
}

// No rounding error, and no negative zero.
TEST(SoftDemapper, TheFirstBitsOfZeroAreZeroByTable) {
    const std::vector<phy::cf32> zeros = {{0.0F, 0.0F}, {-0.0F, -0.0F}};
    for (const Modulation modulation :
         {Modulation::qam16, Modulation::qam64, Modulation::qam256, Modulation::qam1024}) {
        for (const Method method : {Method::max_log, Method::log_map}) {
            SoftDemapper demap(
                Host(), {.modulation = modulation, .llr = {.method = method, .evaluator = Evaluator::table}});
            const std::size_t bits = bits_per_symbol(modulation);
            for (const float noise : {1.0F, 0.1F, 0.013F, 0.003F, 0.0007F}) {
                std::vector<float> llrs(2 * bits, 7.0F);
                demap(zeros, noise, llrs);
                for (const std::size_t first : {std::size_t{0}, std::size_t{1}, bits, bits + 1})
                    EXPECT_EQ(std::bit_cast<std::uint32_t>(llrs[first]), 0U)
                        << to_string(modulation) << ", " << to_string(method) << ", N0 " << noise
                        << ", soft bit " << first;
            }
        }
    }
}

TEST(SoftDemapper, NamesRoundTrip) {
    EXPECT_EQ(to_string(Method::max_log), "maxlog");
    EXPECT_EQ(to_string(Method::log_map), "logmap");
    EXPECT_EQ(to_string(Evaluator::automatic), "auto");
    EXPECT_EQ(to_string(Evaluator::arithmetic), "arithmetic");
    EXPECT_EQ(to_string(Evaluator::table), "table");
    for (const Method method : {Method::max_log, Method::log_map}) {
        EXPECT_EQ(phy::parse_method(to_string(method)), method);
    }
    for (const Evaluator evaluator : {Evaluator::automatic, Evaluator::arithmetic, Evaluator::table}) {
        EXPECT_EQ(phy::parse_evaluator(to_string(evaluator)), evaluator);
    }
    EXPECT_THROW(phy::parse_method("max-log-ish"), phy::ArgumentError);
    EXPECT_THROW(phy::parse_evaluator(""), phy::ArgumentError);
}

/// fp32 soft bits saturate at 2^64, with one N0 and with one per symbol.
TEST(SoftDemapper, Float32IsLimited) {
    std::mt19937 random(64);
    std::vector<phy::cf32> symbols(300);
    std::vector<float> noise(symbols.size());
    for (std::size_t n = 0; n < symbols.size(); ++n) {
        const double exponent = std::uniform_real_distribution<double>(-100.0, -40.0)(random);
        noise[n] = static_cast<float>(std::pow(2.0, exponent));
        const auto far = static_cast<float>(std::pow(2.0, 66.0 + exponent) + 2.0);
        symbols[n] = {n % 2 == 0 ? far : -far, n % 3 == 0 ? far : -far};
    }
    for (const phy::Backend& backend : phy_test::host_backends()) {
        for (const Modulation modulation : phy::all_modulations) {
            for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
                const std::size_t qm = bits_per_symbol(modulation);
                SoftDemapper demap(phy_test::host_of(backend, 1),
                                   {.modulation = modulation, .llr = {.method = method}});
                std::vector<float> each(symbols.size() * qm);
                std::vector<float> alone(qm);
                demap(symbols, noise, each);
                float largest = 0.0F;
                for (std::size_t n = 0; n < symbols.size(); ++n) {
                    demap(std::span(symbols).subspan(n, 1), noise[n], alone);
                    for (std::size_t k = 0; k < qm; ++k)
                        largest = std::max({largest, std::fabs(alone[k]), std::fabs(each[n * qm + k])});
                }
                EXPECT_EQ(largest, 0x1p64F) << to_string(modulation) << " on " << backend.name();
            }
        }
    }
}

}  // namespace
