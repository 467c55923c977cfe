// What is summed over symbols on a CPU: against long double, and the same bytes whatever sums.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "measure/symbol_cases.hpp"
#include "phy/core/constellation.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "support/random_seed.hpp"

namespace phy_test {
namespace {

using phy::Backend;
using phy::Host;
using phy::Modulation;
using phy::SampleFormat;
using phy::SymbolMeter;
using phy::SymbolMeterConfig;
using phy::SymbolSums;

std::vector<Backend> host_backends() {
    std::vector<Backend> found;
    for (const Backend& backend : Backend::all()) {
        if (backend.kind() != Backend::Kind::cuda && backend.supported()) found.push_back(backend);
    }
    return found;
}

SymbolMeterConfig config_of(Modulation modulation, SampleFormat format, float gain = 1.0F) {
    return {.modulation = modulation, .full_scale = full_scale_of(format), .gain = gain};
}

std::vector<SymbolSums> measure(const Host& host, const SymbolMeterConfig& config, phy::SymbolView symbols,
                                std::size_t row, std::uint64_t first_symbol = 0) {
    std::vector<SymbolSums> sums((symbols.size() + row - 1) / row);
    SymbolMeter(host, config)(symbols, row, sums, first_symbol);
    return sums;
}

/// The error bound of tree.hpp, that of what is added, which has a few roundings itself, and what products
/// lose that are too small.
void expect_near(double sum, long double expected, long double magnitudes, const char* what,
                 int numbers_a_symbol = 1) {
    const long double additions = 1024.0L / 32 * numbers_a_symbol + 5;
    EXPECT_LE(std::abs(sum - expected), (additions + 4) * 0x1p-24L * magnitudes + 0x1p-130L) << what;
}

void expect_near(const SymbolSums& sums, const ReferenceSums& expected) {
    EXPECT_EQ(sums.symbols, expected.symbols);
    EXPECT_EQ(sums.not_finite, expected.not_finite);
    expect_near(sums.i, expected.i, expected.i_size, "i");
    expect_near(sums.q, expected.q, expected.q_size, "q");
    expect_near(sums.ii, expected.ii, expected.ii, "ii");
    expect_near(sums.qq, expected.qq, expected.qq, "qq");
    expect_near(sums.iq, expected.iq, expected.iq_size, "iq");
    // An error is the difference of two numbers that are as large as the symbol and the point.
    expect_near(sums.error, expected.error, expected.error + 1e-3L * expected.decided, "error");
    expect_near(sums.decided, expected.decided, expected.decided, "decided", 2);
    expect_near(sums.rotated, expected.rotated, expected.rotated_size, "rotated", 2);
    expect_near(sums.peak, expected.peak, expected.peak, "peak");
    expect_near(sums.error_peak, expected.error_peak, expected.error_peak + 1e-3L, "error_peak");
}

class SymbolMeterOf : public testing::TestWithParam<std::tuple<Modulation, SampleFormat>> {};

INSTANTIATE_TEST_SUITE_P(All, SymbolMeterOf,
                         testing::Combine(testing::ValuesIn(phy::all_modulations),
                                          testing::ValuesIn(phy::all_sample_formats)),
                         [](const auto& its) {
                             std::string name(to_string(std::get<0>(its.param)));
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name + "_" + std::string(to_string(std::get<1>(its.param)));
                         });

TEST_P(SymbolMeterOf, SumsAreThoseOfLongDouble) {
    const auto [modulation, format] = GetParam();
    const std::uint64_t seed = 20261122;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const NoisySymbols noisy = make_noisy(modulation, format, 5003, 0.003, 1.0, seed);
    const SymbolMeterConfig config = config_of(modulation, format);
    for (const Backend& backend : host_backends()) {
        SCOPED_TRACE(backend.name());
        SymbolMeter measure(Host({.backend = backend}), config);
        expect_near(measure(noisy.received.view()), reference_sums(noisy.received, config, nullptr));
        SymbolSums sums;
        measure(noisy.received.view(), noisy.sent, 5003, std::span(&sums, 1));
        expect_near(sums, reference_sums(noisy.received, config, &noisy.sent));
    }
}

TEST_P(SymbolMeterOf, EveryBackendGivesTheSameBytes) {
    const auto [modulation, format] = GetParam();
    const std::uint64_t seed = 7;
    SCOPED_TRACE("seed " + std::to_string(seed));
    const NoisySymbols noisy = make_noisy(modulation, format, 21'009, 0.05, 0.8, seed);
    const SymbolMeterConfig config = config_of(modulation, format, 0.77F);
    const Host scalar({.backend = Backend::scalar()});
    std::vector<Backend> others = host_backends();
    std::erase(others, Backend::scalar());
    for (const std::size_t row : awkward_rows()) {
        SCOPED_TRACE(row);
        const auto expected = measure(scalar, config, noisy.received.view(), row, 1);
        std::vector<SymbolSums> expected_sent(expected.size());
        SymbolMeter(scalar, config)(noisy.received.view(), noisy.sent, row, expected_sent);
        for (const Backend& backend : others) {
            SCOPED_TRACE(backend.name());
            const Host host({.backend = backend});
            EXPECT_TRUE(same_bytes(measure(host, config, noisy.received.view(), row, 1), expected));
            std::vector<SymbolSums> sums(expected.size());
            SymbolMeter(host, config)(noisy.received.view(), noisy.sent, row, sums);
            EXPECT_TRUE(same_bytes(sums, expected_sent));
        }
    }
}

TEST(SymbolMeter, AwkwardNumbersGiveTheSameBytesAndTheRightSums) {
    for (const Awkward kind : all_awkward) {
        const std::uint64_t seed = 99;
        SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + ", seed " + std::to_string(seed));
        const StoredSymbols symbols = make_awkward(kind, 100'007, seed);
        const SymbolMeterConfig config = {.modulation = Modulation::qam64};
        const Host scalar({.backend = Backend::scalar()});
        const auto expected = measure(scalar, config, symbols.view(), 100'007);
        const auto expected_rows = measure(scalar, config, symbols.view(), 1111);
        for (const Backend& backend : host_backends())
            EXPECT_TRUE(
                same_bytes(measure(Host({.backend = backend}), config, symbols.view(), 1111), expected_rows))
                << backend.name();
        for (int threads = 1; threads <= 16; ++threads) {
            const Host host = phy::detail::host_of_exactly(threads, {});
            EXPECT_TRUE(same_bytes(measure(host, config, symbols.view(), 100'007), expected)) << threads;
            EXPECT_TRUE(same_bytes(measure(host, config, symbols.view(), 1111), expected_rows)) << threads;
        }
        const ReferenceSums reference = reference_sums(symbols, config, nullptr);
        EXPECT_EQ(expected.front().not_finite, reference.not_finite);
        expect_near(expected.front().i, reference.i, reference.i_size, "i");
        expect_near(expected.front().iq, reference.iq, reference.iq_size, "iq");
        expect_near(expected.front().ii, reference.ii, reference.ii, "ii");
        expect_near(expected.front().peak, reference.peak, reference.peak, "peak");
    }
}

TEST(SymbolMeter, WhatAGainMakesTooLargeIsLeftOut) {
    std::vector<phy::cf32> symbols(1000, {0.7F, 0.7F});
    symbols[77] = {1e15F, 0.0F};
    const auto sums = measure(Host(), {.modulation = Modulation::qam256, .gain = 0.01F}, symbols, 1000);
    EXPECT_EQ(sums.front().not_finite, 1U);
    EXPECT_TRUE(std::isfinite(sums.front().error));
    EXPECT_EQ(measure(Host(), {.modulation = Modulation::qam256}, symbols, 1000).front().not_finite, 0U);
}

TEST(SymbolMeter, ANaNAtAnyPlaceIsCountedAndLeftOut) {
    const std::size_t count = 77;
    const NoisySymbols noisy = make_noisy(Modulation::qam16, SampleFormat::cf32, count, 0.01, 1.0, 3);
    for (const Backend& backend : host_backends()) {
        SCOPED_TRACE(backend.name());
        SymbolMeter measure(Host({.backend = backend}), {.modulation = Modulation::qam16});
        for (std::size_t at = 0; at < 2 * count; ++at) {
            StoredSymbols broken = noisy.received;
            const float nan = std::numeric_limits<float>::quiet_NaN();
            std::memcpy(broken.bytes.data() + at * sizeof nan, &nan, sizeof nan);
            const SymbolSums sums = measure(broken.view());
            EXPECT_EQ(sums.not_finite, 1U);
            expect_near(sums, reference_sums(broken, {.modulation = Modulation::qam16}, nullptr));
        }
    }
}

TEST(SymbolMeter, ThreadsAndAlignmentDoNotMatter) {
    const std::size_t count = 300'007;
    const NoisySymbols noisy = make_noisy(Modulation::qam256, SampleFormat::cf32, count, 0.001, 1.0, 5);
    const SymbolMeterConfig config = {.modulation = Modulation::qam256};
    const auto expected = measure(Host({.backend = Backend::scalar()}), config, noisy.received.view(), count);
    const auto expected_rows =
        measure(Host({.backend = Backend::scalar()}), config, noisy.received.view(), 999);
    std::vector<std::byte> shifted(noisy.received.bytes.size() + 16);
    for (int threads = 1; threads <= 16; ++threads) {
        const Host host = phy::detail::host_of_exactly(threads, {});
        const auto offset = static_cast<std::size_t>(threads) % 9;
        std::copy(noisy.received.bytes.begin(), noisy.received.bytes.end(),
                  shifted.begin() + static_cast<std::ptrdiff_t>(offset));
        const phy::SymbolView view(SampleFormat::cf32, shifted.data() + offset, count);
        EXPECT_TRUE(same_bytes(measure(host, config, view, count), expected)) << threads;
        EXPECT_TRUE(same_bytes(measure(host, config, view, 999), expected_rows)) << threads;
    }
}

TEST(SymbolMeter, ANaNInAnyBlockGivesTheSameBytes) {
    const std::size_t count = 5003;
    const NoisySymbols noisy = make_noisy(Modulation::qam16, SampleFormat::cf32, count, 0.01, 1.0, 3);
    for (std::size_t at = 0; at < count; at += 101) {
        StoredSymbols broken = noisy.received;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(broken.bytes.data() + at * sizeof(phy::cf32), &nan, sizeof nan);
        const SymbolMeterConfig config = {.modulation = Modulation::qam16};
        const auto expected = measure(Host({.backend = Backend::scalar()}), config, broken.view(), 2500);
        for (const Backend& backend : host_backends())
            EXPECT_TRUE(
                same_bytes(measure(Host({.backend = backend}), config, broken.view(), 2500), expected))
                << backend.name() << " " << at;
    }
}

/// Step 4 of the tree, as it is written.
SymbolSums join_pairs(std::vector<SymbolSums> nodes) {
    while (nodes.size() > 1) {
        std::vector<SymbolSums> above;
        for (std::size_t n = 0; n < nodes.size(); n += 2)
            above.push_back(n + 1 < nodes.size() ? join(nodes[n], nodes[n + 1]) : nodes[n]);
        nodes = above;
    }
    return nodes.empty() ? SymbolSums{} : nodes.front();
}

TEST(SymbolMeter, ARowIsTheTreeOfItsBlocks) {
    const NoisySymbols noisy = make_noisy(Modulation::qpsk, SampleFormat::ci16, 123'457, 0.1, 1.0, 8);
    const SymbolMeterConfig config = config_of(Modulation::qpsk, SampleFormat::ci16);
    const Host host;
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{1024}, std::size_t{5000}, std::size_t{123'457}}) {
        const phy::SymbolView some = noisy.received.view().subspan(0, count);
        const SymbolSums whole = SymbolMeter(host, config)(some);
        EXPECT_TRUE(same_bytes(whole, join_pairs(measure(host, config, some, phy::symbol_tree.block))));
        phy::NodeJoiner<SymbolSums, phy::JoinSymbolSums> joiner;
        for (const SymbolSums& sums : measure(host, config, some, 8 * phy::symbol_tree.block))
            joiner.add(sums);
        EXPECT_TRUE(same_bytes(whole, joiner.root({})));
    }
}

/// Symbols, each with noise of a variance of its own: some clear, some not, some without a usable one.
struct SymbolsWithNoise {
    std::vector<phy::cf32> symbols;
    std::vector<float> noise_variance;
};

SymbolsWithNoise make_fading(Modulation modulation, std::size_t count, double scale, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> part(0.0, std::sqrt(0.5));
    std::exponential_distribution<double> fading(1.0);
    const double distance = 2.0 * phy::axis_unit(modulation);
    SymbolsWithNoise made;
    for (std::size_t n = 0; n < count; ++n) {
        const auto label = static_cast<unsigned>(random() >> (64 - phy::bits_per_symbol(modulation)));
        const phy::cf32 point = phy::constellation_point(modulation, label, n);
        const double variance = scale * distance * distance / std::max(fading(random), 1e-3);
        const std::complex<double> noise(part(random), part(random));
        made.symbols.push_back(phy::cf32(std::complex<double>(point) + std::sqrt(variance) * noise));
        made.noise_variance.push_back(static_cast<float>(variance));
    }
    return made;
}

SymbolSums sum_with_noise(const Host& host, Modulation modulation, const SymbolsWithNoise& made) {
    SymbolSums sums;
    SymbolMeter(host, {.modulation = modulation})(made.symbols, made.noise_variance, made.symbols.size(),
                                                  std::span(&sums, 1));
    return sums;
}

TEST(SymbolMeter, NoiseIsAsLargeAsItsVarianceInAnyFading) {
    const std::uint64_t seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Modulation modulation : phy::all_modulations) {
        for (const double scale : {0.3, 0.05, 0.01, 1e-4, 1e-9}) {
            const SymbolsWithNoise made = make_fading(modulation, 20'000, scale, seed);
            const SymbolSums sums = sum_with_noise(Host(), modulation, made);
            SCOPED_TRACE(std::string(to_string(modulation)) + " " + std::to_string(scale));
            ASSERT_GT(sums.clear, 500.0);
            // Errors of complex noise have a variance of 1, those of clear symbols a mean of 0.87 or more.
            EXPECT_NEAR(*phy::error_over_noise(sums), 1.0, 0.005 + 5.5 / std::sqrt(sums.clear));
            const double levels = 2.0 * sums.clear;
            const double outermost = 2.0 / static_cast<double>(1U << phy::bits_per_axis(modulation));
            EXPECT_NEAR(sums.outer / levels, outermost, 5.5 / std::sqrt(levels));
        }
    }
}

TEST(SymbolMeter, ErrorsThatAreNotNoiseShow) {
    for (const Modulation modulation : {Modulation::qpsk, Modulation::qam256}) {
        SymbolsWithNoise made = make_fading(modulation, 20'000, 1e-3, 4);
        const float by = 0.1F * static_cast<float>(phy::axis_unit(modulation));
        for (std::size_t n = 0; n < made.symbols.size(); ++n)
            made.symbols[n] += n % 2 == 0 ? phy::cf32(by, 0.0F) : phy::cf32(0.0F, -by);
        EXPECT_GT(*phy::error_over_noise(sum_with_noise(Host(), modulation, made)), 1.5);
        // Errors beyond all measure count as 2^20.
        std::ranges::fill(made.noise_variance, 1e-30F);
        EXPECT_EQ(*phy::error_over_noise(sum_with_noise(Host(), modulation, made)), 0x1p20);
    }
}

/// The selection is by N0: nothing else may decide.
TEST(SymbolMeter, ClearSymbolsAreThoseOfLittleNoise) {
    const double distance = 2.0 * phy::axis_unit(Modulation::qam16);
    const auto edge = static_cast<float>(distance * distance / 8.0);
    const std::vector<phy::cf32> symbols(6, {10.0F, 0.0F});
    const std::vector<float> noise = {0.99F * edge,
                                      1.01F * edge,
                                      0.0F,
                                      -edge,
                                      std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::quiet_NaN()};
    const SymbolSums sums = sum_with_noise(Host(), Modulation::qam16, {symbols, noise});
    EXPECT_EQ(sums.clear, 1.0);
    EXPECT_EQ(sums.outer, 1.0);
    EXPECT_EQ(sums.symbols, 4U);
    EXPECT_EQ(sums.not_finite, 2U);
    const SymbolSums none = sum_with_noise(Host(), Modulation::qam16, {{symbols[0]}, {1.0F}});
    EXPECT_EQ(phy::error_over_noise(none), std::nullopt);
}

TEST(SymbolMeter, SumsWithNoiseAreTheSameBytesOnEveryBackend) {
    const std::size_t count = 21'009;
    const Host scalar({.backend = Backend::scalar()});
    for (const Modulation modulation : phy::all_modulations) {
        SymbolsWithNoise made = make_fading(modulation, count, 0.03, 12);
        for (std::size_t n = 0; n < count; n += 97)
            made.noise_variance[n] = n % 2 == 0 ? std::numeric_limits<float>::infinity() : 1e-42F;
        made.symbols[4000] = {std::numeric_limits<float>::quiet_NaN(), 0.0F};
        for (const std::size_t row : awkward_rows()) {
            SCOPED_TRACE(std::string(to_string(modulation)) + " " + std::to_string(row));
            std::vector<SymbolSums> expected((count + row - 1) / row);
            SymbolMeter(scalar, {.modulation = modulation})(made.symbols, made.noise_variance, row, expected,
                                                            1);
            for (const Backend& backend : host_backends()) {
                const Host host = phy::detail::host_of_exactly(3, backend);
                std::vector<SymbolSums> sums(expected.size());
                SymbolMeter(host, {.modulation = modulation})(made.symbols, made.noise_variance, row, sums,
                                                              1);
                EXPECT_TRUE(same_bytes(sums, expected)) << backend.name();
            }
        }
    }
}

/// FNV-1a.
std::uint64_t digest_of(std::span<const SymbolSums> sums) {
    std::uint64_t digest = 0xCBF29CE484222325;
    for (const std::byte byte : std::as_bytes(sums))
        digest = (digest ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3;
    return digest;
}

// A change of one of these is a change of the contract.
TEST(SymbolMeter, BytesAreThoseRecorded) {
    const std::uint64_t recorded[] = {0x4a705fdc84916f41, 0xbf78f620730f3157, 0x0d560b2d6471f257,
                                      0xe650e7b3830dff0e};
    for (const SampleFormat format : phy::all_sample_formats) {
        std::mt19937_64 random(2026);
        StoredSymbols symbols = {.format = format};
        for (int n = 0; n < 20'000; ++n)
            append_component(symbols, (static_cast<double>(random() % 20'001) - 10'000.0) / 8000.0);
        std::vector<SymbolSums> all;
        for (const Modulation modulation : phy::all_modulations) {
            const auto sums = measure(Host(), config_of(modulation, format, 0.9F), symbols.view(), 3276, 1);
            all.insert(all.end(), sums.begin(), sums.end());
        }
        EXPECT_EQ(digest_of(all), recorded[static_cast<std::size_t>(format)])
            << to_string(format) << ": 0x" << std::hex << digest_of(all);
    }
}

TEST(SymbolMeter, NothingGivesZerosAndNotNumbers) {
    SymbolMeter measure(Host(), {.modulation = Modulation::qam16});
    const SymbolSums none = measure(phy::SymbolView());
    EXPECT_EQ(none, SymbolSums());
    measure(phy::SymbolView(), 5, std::span<SymbolSums>());
    const auto measured = measurement_of(none, {.modulation = Modulation::qam16}, SampleFormat::cf32);
    EXPECT_EQ(measured.symbols, 0U);
    EXPECT_TRUE(std::isnan(measured.mean_power));
    EXPECT_TRUE(std::isnan(measured.peak_power));
    EXPECT_TRUE(std::isnan(measured.evm_rms));
    EXPECT_TRUE(std::isnan(measured.noise_variance));
}

TEST(SymbolMeter, WrongArgumentsThrow) {
    const Host host;
    EXPECT_THROW(SymbolMeter(host, {.gain = 0.0F}), phy::ArgumentError);
    EXPECT_THROW(SymbolMeter(host, {.gain = std::numeric_limits<float>::quiet_NaN()}), phy::ArgumentError);
    for (const float full_scale : {0x1p-81F, 0x1p81F})
        EXPECT_THROW(SymbolMeter(host, {.full_scale = full_scale}), phy::ArgumentError);
    EXPECT_THROW(SymbolMeter(host, {.modulation = static_cast<Modulation>(99)}), phy::ArgumentError);
    SymbolMeter measure(host, {});
    const std::vector<phy::cf32> symbols(10);
    std::vector<SymbolSums> sums(3);
    EXPECT_THROW(measure(symbols, 0, sums), phy::ArgumentError);
    EXPECT_THROW(measure(symbols, 4, std::span(sums).first(2)), phy::ArgumentError);
    EXPECT_THROW(measure(symbols, std::span(symbols).first(9), 4, sums), phy::ArgumentError);
    EXPECT_THROW(measure(symbols, std::vector<float>(9), 4, sums), phy::ArgumentError);
    EXPECT_NO_THROW(measure(symbols, 4, sums));
}

}  // namespace
}  // namespace phy_test
