// What follows from the sums: against formulas of their definitions, and estimates against the truth.

#include <gtest/gtest.h>

#include <complex>

#include "measure/symbol_cases.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "support/unnamed.hpp"

namespace phy_test {
namespace {

using phy::Host;
using phy::Modulation;
using phy::SampleFormat;
using phy::SymbolMeter;
using phy::SymbolMeterConfig;

StoredSymbols stored(const std::vector<std::complex<double>>& values) {
    StoredSymbols symbols;
    for (const auto value : values) {
        append_component(symbols, value.real());
        append_component(symbols, value.imag());
    }
    return symbols;
}

std::vector<std::complex<double>> points(Modulation modulation, std::size_t count) {
    std::mt19937_64 random(4);
    std::vector<std::complex<double>> made;
    for (std::size_t n = 0; n < count; ++n) {
        const auto point = phy::constellation_point(
            modulation, static_cast<unsigned>(random() >> (64 - phy::bits_per_symbol(modulation))), n);
        made.emplace_back(point.real(), point.imag());
    }
    return made;
}

phy::SymbolMeasurement measure(const StoredSymbols& symbols, const SymbolMeterConfig& config) {
    return measurement_of(SymbolMeter(Host(), config)(symbols.view()), config, symbols.format);
}

TEST(SymbolMeasurement, PowersAndOffsets) {
    auto values = points(Modulation::qam16, 10'000);
    for (auto& value : values)
        value += std::complex(0.25, -0.125);
    double power = 0.0;
    double peak = 0.0;
    std::complex<double> mean = 0.0;
    for (const auto value : values) {
        mean += value / 10'000.0;
        power += std::norm(value) / 10'000;
        peak = std::max(peak, std::norm(value));
    }
    const auto measured = measure(stored(values), {.modulation = Modulation::qam16});
    EXPECT_NEAR(measured.mean_power, power, 1e-6);
    EXPECT_NEAR(measured.peak_power, peak, 1e-6);
    EXPECT_NEAR(measured.papr_db, 10 * std::log10(peak / power), 1e-5);
    EXPECT_NEAR(measured.dc_i, mean.real(), 1e-7);
    EXPECT_NEAR(measured.dc_q, mean.imag(), 1e-7);
}

TEST(SymbolMeasurement, ImbalanceOfIAndQ) {
    auto values = points(Modulation::qam64, 1 << 20);
    const double angle = 3.0 / 180.0 * std::numbers::pi;
    for (auto& value : values)
        value = {value.real(), 1.1 * (value.imag() * std::cos(angle) + value.real() * std::sin(angle))};
    const auto measured = measure(stored(values), {.modulation = Modulation::qam64});
    EXPECT_NEAR(measured.iq_gain_db, 20 * std::log10(1.1), 0.02);
    EXPECT_NEAR(measured.iq_phase_deg, 3.0, 0.15);
    EXPECT_TRUE(std::isnan(measure(stored(values), {.modulation = Modulation::bpsk}).iq_phase_deg));
}

TEST(SymbolMeasurement, ExpectedDecisionsAreThoseOfManySymbols) {
    for (const Modulation modulation : phy::all_modulations) {
        for (const auto& [gain, noise] :
             {std::pair(1.0, 1e-4), {1.0, 0.01}, {1.0, 0.3}, {1.0, 5.0}, {0.0, 1.0}, {0.7, 0.02}}) {
            SCOPED_TRACE(std::string(to_string(modulation)) + ", gain " + std::to_string(gain) + ", N0 " +
                         std::to_string(noise));
            std::mt19937_64 random(5);
            std::normal_distribution<double> normal(0.0, std::sqrt(noise / 2.0));
            auto values = points(modulation, 200'000);
            for (auto& value : values)
                value = gain * value + std::complex(normal(random), normal(random));
            const SymbolMeterConfig config = {.modulation = modulation};
            const phy::SymbolSums sums = SymbolMeter(Host(), config)(stored(values).view());
            const double step = 2.0 * phy::axis_unit(modulation);
            const auto expected = expected_decisions(modulation, {.gain = gain, .noise_variance = noise});
            EXPECT_NEAR(sums.error / 200'000.0 * step * step / expected.error, 1.0, 0.02);
            EXPECT_NEAR(sums.decided / 200'000.0 * step * step / expected.decided, 1.0, 0.02);
        }
        EXPECT_LT(expected_decisions(modulation, {.gain = 1.0, .noise_variance = 0.0}).error, 1e-10);
    }
}

TEST(SymbolMeasurement, GainAndPhaseOfCleanSymbols) {
    auto values = points(Modulation::qam256, 50'000);
    for (auto& value : values)
        value *= std::polar(3.0 * 1.004, 0.01);
    const auto measured = measure(stored(values), {.modulation = Modulation::qam256, .gain = 3.0F});
    EXPECT_NEAR(measured.gain, 3.0 * 1.004, 1e-5);
    EXPECT_NEAR(measured.phase_deg, 0.01 * 180 / std::numbers::pi, 1e-4);
    EXPECT_LT(measured.evm_rms, 2e-4);
}

TEST(SymbolMeasurement, KnownPointsAreFoundFarFromTheGain) {
    const auto values = points(Modulation::qam16, 20'000);
    std::vector<phy::cf32> sent;
    for (const auto value : values)
        sent.emplace_back(static_cast<float>(value.real()), static_cast<float>(value.imag()));
    for (const auto& [gain, evm] : {std::pair(10.0F, 1e-3), {0.1F, 1e-3}, {100.0F, 1e-2}, {0.01F, 1e-2}}) {
        SCOPED_TRACE(gain);
        const SymbolMeterConfig config = {.modulation = Modulation::qam16, .gain = gain};
        phy::SymbolSums sums;
        SymbolMeter(Host(), config)(sent, sent, sent.size(), std::span(&sums, 1));
        const auto found = measurement_of(sums, config, SampleFormat::cf32, phy::SymbolReference::sent);
        EXPECT_LE(found.evm_rms, evm);
        EXPECT_NEAR(found.gain, 1.0, 1e-4);
    }
}

TEST(SymbolMeasurement, EvmIsThatOfItsDefinition) {
    for (const Modulation modulation : phy::all_modulations) {
        SCOPED_TRACE(std::string(to_string(modulation)));
        const NoisySymbols noisy = make_noisy(modulation, SampleFormat::cf32, 100'000, 1e-4, 1.0, 6);
        std::complex<double> product = 0.0;
        double sent_power = 0.0;
        for (std::size_t n = 0; n < noisy.sent.size(); ++n) {
            const std::complex<double> d = noisy.sent[n];
            product +=
                std::complex(component_of(noisy.received, 2 * n), component_of(noisy.received, 2 * n + 1)) *
                std::conj(d);
            sent_power += std::norm(d);
        }
        const std::complex<double> gain = product / sent_power;
        double error = 0.0;
        double peak = 0.0;
        for (std::size_t n = 0; n < noisy.sent.size(); ++n) {
            const std::complex<double> d = noisy.sent[n];
            const std::complex y(component_of(noisy.received, 2 * n),
                                 component_of(noisy.received, 2 * n + 1));
            error += std::norm(y / gain - d);
            peak = std::max(peak, std::norm(y - d));
        }
        const SymbolMeterConfig config = {.modulation = modulation};
        const auto measured = measure(noisy.received, config);
        EXPECT_NEAR(measured.evm_rms / std::sqrt(error / sent_power), 1.0, 1e-4);
        EXPECT_NEAR(measured.mer_db, -10 * std::log10(error / sent_power), 1e-3);
        EXPECT_NEAR(measured.evm_peak / std::sqrt(peak / (sent_power / 100'000)), 1.0, 1e-3);
        EXPECT_NEAR(measured.noise_variance / 1e-4, 1.0, 0.02);
        EXPECT_NEAR(measured.snr_db, 40.0, 0.1);
        phy::SymbolSums sums;
        SymbolMeter(Host(), config)(noisy.received.view(), noisy.sent, noisy.sent.size(),
                                    std::span(&sums, 1));
        const auto aided = measurement_of(sums, config, SampleFormat::cf32, phy::SymbolReference::sent);
        EXPECT_NEAR(aided.evm_rms / measured.evm_rms, 1.0, 1e-6);
    }
}

TEST(SymbolMeasurement, NumbersThatNameNothingAreRefused) {
    const phy::SymbolSums sums;
    phy_test::expect_unnamed("modulation", 7, 6, [&] {
        static_cast<void>(
            measurement_of(sums, {.modulation = static_cast<Modulation>(7)}, SampleFormat::cf32));
    });
    phy_test::expect_unnamed("sample format", 4, 3, [&] {
        static_cast<void>(measurement_of(sums, {}, static_cast<SampleFormat>(4)));
    });
    phy_test::expect_unnamed("reference", 2, 1, [&] {
        static_cast<void>(measurement_of(sums, {}, SampleFormat::cf32, static_cast<phy::SymbolReference>(2)));
    });
    const phy::GainAndNoise some = {.gain = 1.0, .noise_variance = 0.1};
    phy_test::expect_unnamed("modulation", 7, 6, [&] {
        static_cast<void>(phy::expected_decisions(static_cast<Modulation>(7), some));
    });
    for (const phy::GainAndNoise& measured : {some, phy::GainAndNoise{.gain = 1.0, .noise_variance = 0.0}}) {
        phy_test::expect_unnamed("modulation", -1, 6, [&] {
            static_cast<void>(phy::correct_decisions(static_cast<Modulation>(-1), measured));
        });
    }
}

TEST(SymbolMeasurement, LimitsOfTheEvm) {
    EXPECT_EQ(phy::evm_limit(Modulation::qpsk), 0.175);
    EXPECT_EQ(phy::evm_limit(Modulation::qam16), 0.125);
    EXPECT_EQ(phy::evm_limit(Modulation::qam64), 0.08);
    EXPECT_EQ(phy::evm_limit(Modulation::qam256), 0.035);
    EXPECT_EQ(phy::evm_limit(Modulation::qam1024), 0.025);
    EXPECT_EQ(phy::evm_limit(Modulation::bpsk), std::nullopt);
    EXPECT_EQ(phy::evm_limit(Modulation::pi2_bpsk), std::nullopt);

    // TS 38.101-1 table 6.4.2.1-1.
    using phy::Transmitter;
    EXPECT_EQ(phy::evm_limit(Modulation::pi2_bpsk, Transmitter::ue), 0.3);
    EXPECT_EQ(phy::evm_limit(Modulation::qpsk, Transmitter::ue), 0.175);
    EXPECT_EQ(phy::evm_limit(Modulation::qam256, Transmitter::ue), 0.035);
    EXPECT_EQ(phy::evm_limit(Modulation::qam1024, Transmitter::ue), std::nullopt);
    EXPECT_THROW(phy::evm_limit(Modulation::qpsk, static_cast<Transmitter>(2)), phy::ArgumentError);
}

struct Estimate {
    Modulation modulation;
    double snr_db;
    double within;  ///< of the true N0
};

class EstimateOf : public testing::TestWithParam<Estimate> {};

INSTANTIATE_TEST_SUITE_P(
    All, EstimateOf,
    testing::Values(Estimate{Modulation::qpsk, 0, 0.01}, Estimate{Modulation::qpsk, 12, 0.01},
                    Estimate{Modulation::bpsk, 5, 0.01}, Estimate{Modulation::pi2_bpsk, 5, 0.01},
                    Estimate{Modulation::qam16, 10, 0.01}, Estimate{Modulation::qam64, 15, 0.02},
                    Estimate{Modulation::qam256, 20, 0.03}, Estimate{Modulation::qam256, 25, 0.01},
                    Estimate{Modulation::qam256, 30, 0.01}, Estimate{Modulation::qam256, 40, 0.01},
                    Estimate{Modulation::qam256, 50, 0.01}, Estimate{Modulation::qam1024, 30, 0.02}),
    [](const auto& its) {
        std::string name(to_string(its.param.modulation));
        std::replace(name.begin(), name.end(), '-', '_');
        return name + "_" + std::to_string(static_cast<int>(its.param.snr_db)) + "dB";
    });

TEST_P(EstimateOf, GainAndNoiseAreThoseOfTheTruth) {
    const auto [modulation, snr_db, within] = GetParam();
    const double noise_variance = std::pow(10.0, -0.1 * snr_db);
    for (const double gain : {0.01, 1.0, 100.0}) {
        const std::uint64_t seed = 12345;
        SCOPED_TRACE("gain " + std::to_string(gain) + ", seed " + std::to_string(seed));
        const NoisySymbols noisy =
            make_noisy(modulation, SampleFormat::cf32, 1 << 20, noise_variance, gain, seed);
        const auto found = estimate_gain(Host(), {.modulation = modulation}, noisy.received.view());
        EXPECT_NEAR(found.gain / gain, 1.0, 0.002);
        EXPECT_NEAR(found.noise_variance / noise_variance, 1.0, within);
    }
}

/// What no constellation explains is measured as it is, and no estimate runs away.
TEST(EstimateGain, StaysNearTheTruthWhereNoiseIsNotGaussian) {
    for (const Modulation modulation : {Modulation::qpsk, Modulation::qam16, Modulation::qam256}) {
        SCOPED_TRACE(std::string(to_string(modulation)));
        NoisySymbols noisy = make_noisy(modulation, SampleFormat::cf32, 40'000, 1e-3, 1.0, 9);
        const float outlier = 100.0F;
        std::memcpy(noisy.received.bytes.data() + 777 * sizeof(phy::cf32), &outlier, sizeof outlier);
        const auto found = estimate_gain(Host(), {.modulation = modulation}, noisy.received.view());
        EXPECT_NEAR(found.gain, 1.0, 0.02);
        EXPECT_NEAR(found.noise_variance, 0.25, 0.1) << "the power of the outlier, spread over all symbols";
    }
}

TEST(EstimateGain, FindsSomethingFiniteOnTheWrongConstellation) {
    auto turned = points(Modulation::qpsk, 10'000);
    for (auto& value : turned)
        value *= std::polar(1.0, std::numbers::pi / 4);
    auto halved = points(Modulation::qam256, 10'000);
    for (std::size_t n = 0; n < halved.size(); n += 2)
        halved[n] = 0.0;
    for (const auto& values :
         {points(Modulation::qpsk, 10'000), turned, halved, points(Modulation::qpsk, 1)}) {
        for (const Modulation modulation : phy::all_modulations) {
            const auto found = estimate_gain(Host(), {.modulation = modulation}, stored(values).view());
            EXPECT_GT(found.gain, 0.1) << to_string(modulation);
            EXPECT_LT(found.gain, 2.0) << to_string(modulation);
            EXPECT_TRUE(std::isfinite(found.noise_variance)) << to_string(modulation);
        }
    }
}

/// The mean of many estimates is that of the whole, also where a row has few symbols and its power varies.
TEST(SymbolMeasurement, NoiseOfShortRowsIsCorrectedToo) {
    const NoisySymbols noisy = make_noisy(Modulation::qam64, SampleFormat::cf32, 84 * 2000, 0.01, 1.0, 77);
    const SymbolMeterConfig config = {.modulation = Modulation::qam64};
    std::vector<phy::SymbolSums> rows(2000);
    SymbolMeter(Host(), config)(noisy.received.view(), 84, rows);
    double mean = 0.0;
    for (const phy::SymbolSums& sums : rows)
        mean += measurement_of(sums, config, SampleFormat::cf32).noise_variance / 2000;
    EXPECT_NEAR(mean, 0.01, 0.0003);
}

TEST(EstimateGain, ThrowsWhereThereIsNothing) {
    const std::vector<phy::cf32> zeros(100);
    EXPECT_THROW((void)estimate_gain(Host(), {}, zeros), phy::ArgumentError);
    EXPECT_THROW((void)estimate_gain(Host(), {}, phy::SymbolView()), phy::ArgumentError);
    const std::vector<phy::cf32> tiny(100, {0x1p-45F, 0x1p-45F});
    EXPECT_THROW((void)estimate_gain(Host(), {}, tiny), phy::ArgumentError);
}

}  // namespace
}  // namespace phy_test
