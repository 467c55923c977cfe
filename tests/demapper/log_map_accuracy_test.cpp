#include <gtest/gtest.h>

#include <tuple>

#include "demapper/awkward_symbols.hpp"
#include "phy/core/constellation.hpp"
#include "support/random_seed.hpp"

/// Log-MAP in every way, and max-log by table, against double precision.
namespace {

using phy::Evaluator;
using phy::Method;
using phy_test::Bytes;

constexpr unsigned seed = 511;
constexpr double nats = 0.01;

/// The distance from a binary16 of this magnitude to the next.
double binary16_step(double value) {
    const int exponent = value == 0.0 ? -14 : std::max(std::ilogb(value), -14);
    return std::ldexp(1.0, exponent - 10);
}

/// Half a step is the rounding of a number that is right; below 0.01 nat it is part of those.
double fp16_tolerance(double expected) {
    const double step = binary16_step(expected);
    return step > nats ? nats + 0.5 * step : nats;
}

struct Demapped {
    std::vector<std::int8_t> int8;
    std::vector<phy::half> float16;
    std::vector<float> float32;
};

class LogMapAccuracy : public testing::TestWithParam<phy_test::Variant> {
protected:
    [[nodiscard]] std::size_t qm() const { return bits_per_symbol(GetParam().modulation); }

    [[nodiscard]] Demapped demapped(phy::SoftDemapper& demap, std::span<const phy::cf32> symbols,
                                    float noise) const {
        const std::size_t bits = symbols.size() * qm();
        Demapped out{std::vector<std::int8_t>(bits), std::vector<phy::half>(bits), std::vector<float>(bits)};
        demap(symbols, noise, out.int8);
        demap(symbols, noise, out.float16);
        demap(symbols, noise, out.float32);
        return out;
    }
};

TEST_P(LogMapAccuracy, From0To40Decibel) {
    phy::SoftDemapper demap = GetParam().on(phy::Backend::best());
    phy_test::Reference reference(GetParam().modulation);
    for (int snr = 0; snr <= 40; snr += 5) {
        SCOPED_TRACE(std::to_string(snr) + " dB, seed " + std::to_string(seed));
        const float noise = phy_test::noise_of_snr(snr);
        const std::vector<phy::cf32> symbols =
            phy_test::NoisySymbols(GetParam().modulation, snr, seed).take(50'000);
        const Demapped actual = demapped(demap, symbols, noise);
        int int8_worst = 0;
        double fp32_worst = 0.0;
        double fp16_worst = 0.0;  // of its tolerance
        for (std::size_t n = 0; n < symbols.size(); ++n) {
            const std::complex<double> y(symbols[n]);
            const auto expected = reference(GetParam().method, y, static_cast<double>(noise), n);
            for (std::size_t k = 0; k < qm(); ++k) {
                const std::size_t at = n * qm() + k;
                const int quantised = phy_test::quantised(expected[k], 6.0, 127);
                const double limited = std::clamp(expected[k], -65504.0, 65504.0);
                const auto fp16 = static_cast<double>(static_cast<float>(actual.float16[at]));
                const auto fp32 = static_cast<double>(actual.float32[at]);
                int8_worst = std::max(int8_worst, std::abs(actual.int8[at] - quantised));
                fp32_worst = std::max(fp32_worst, std::abs(fp32 - expected[k]));
                fp16_worst = std::max(fp16_worst, std::abs(fp16 - limited) / fp16_tolerance(limited));
            }
        }
        EXPECT_LE(int8_worst, 1);
        EXPECT_LE(fp32_worst, nats);
        EXPECT_LE(fp16_worst, 1.0);
    }
}

// Whether log-MAP still differs from max-log, and how fine a table is, are decided by N0.
TEST_P(LogMapAccuracy, AtEveryNoiseVariance) {
    phy::SoftDemapper demap = GetParam().on(phy::Backend::best());
    phy_test::Reference reference(GetParam().modulation);
    for (int halves = 0; halves <= 90; ++halves) {
        const double snr = 0.5 * halves;
        const float noise = phy_test::noise_of_snr(snr);
        const std::vector<phy::cf32> symbols =
            phy_test::NoisySymbols(GetParam().modulation, snr, seed).take(1000);
        std::vector<std::int8_t> soft_bits(symbols.size() * qm());
        demap(symbols, noise, soft_bits);
        for (std::size_t n = 0; n < symbols.size(); ++n) {
            const std::complex<double> y(symbols[n]);
            const auto expected = reference(GetParam().method, y, static_cast<double>(noise), n);
            for (std::size_t k = 0; k < qm(); ++k) {
                ASSERT_NEAR(soft_bits[n * qm() + k], phy_test::quantised(expected[k], 6.0, 127), 1)
                    << "bit " << k << " at " << y << ", " << snr << " dB, seed " << seed;
            }
        }
    }
}

TEST_P(LogMapAccuracy, FarOutsideTheConstellation) {
    phy::SoftDemapper demap = GetParam().on(phy::Backend::best());
    phy_test::Reference reference(GetParam().modulation);
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> coordinate(-3.5F, 3.5F);
    for (int snr = 0; snr <= 40; snr += 10) {
        SCOPED_TRACE(std::to_string(snr) + " dB, seed " + std::to_string(seed));
        const float noise = phy_test::noise_of_snr(snr);
        std::vector<phy::cf32> symbols(10'000);
        for (phy::cf32& symbol : symbols) {
            const float i = coordinate(random);
            symbol = {i, coordinate(random)};
        }
        const Demapped actual = demapped(demap, symbols, noise);
        for (std::size_t n = 0; n < symbols.size(); ++n) {
            const std::complex<double> y(symbols[n]);
            const auto expected = reference(GetParam().method, y, static_cast<double>(noise), n);
            for (std::size_t k = 0; k < qm(); ++k) {
                const std::size_t at = n * qm() + k;
                ASSERT_NEAR(actual.int8[at], phy_test::quantised(expected[k], 6.0, 127), 1)
                    << "bit " << k << " at " << y;
                // Out here a binary32 number itself is more than 0.01 nat from the next.
                ASSERT_NEAR(static_cast<double>(actual.float32[at]), expected[k],
                            nats + 1e-6 * std::abs(expected[k]))
                    << "bit " << k << " at " << y;
            }
        }
    }
}

TEST_P(LogMapAccuracy, WithOtherScalesAndClips) {
    phy_test::Reference reference(GetParam().modulation);
    for (const int snr : {3, 12, 24}) {
        const float noise = phy_test::noise_of_snr(snr);
        const std::vector<phy::cf32> symbols =
            phy_test::NoisySymbols(GetParam().modulation, snr, seed).take(10'000);
        for (const float scale : {0.5F, 6.0F, 16.0F}) {
            for (const int clip : {31, 120, 127}) {
                phy::DemapperConfig config = GetParam().config();
                config.llr.scale = scale;
                config.llr.clip = clip;
                phy::SoftDemapper demap(phy::Host(), config);
                const Demapped actual = demapped(demap, symbols, noise);
                for (std::size_t n = 0; n < symbols.size(); ++n) {
                    const std::complex<double> y(symbols[n]);
                    const auto expected = reference(GetParam().method, y, static_cast<double>(noise), n);
                    for (std::size_t k = 0; k < qm(); ++k) {
                        const auto lsb = static_cast<double>(scale);
                        ASSERT_NEAR(actual.int8[n * qm() + k], phy_test::quantised(expected[k], lsb, clip), 1)
                            << "bit " << k << " at " << y << ", " << snr << " dB, scale " << scale
                            << ", clip " << clip << ", seed " << seed;
                    }
                }
            }
        }
    }
}

// A table keeps what it was built for: going back to an N0 must not find another's entries.
TEST_P(LogMapAccuracy, ChangingTheNoiseVarianceChangesNothingElse) {
    phy::SoftDemapper demap = GetParam().on(phy::Backend::best());
    const std::vector<phy::cf32> symbols =
        phy_test::NoisySymbols(GetParam().modulation, 15.0, seed).take(500);
    const auto fresh = [&](float noise) {
        phy::SoftDemapper other = GetParam().on(phy::Backend::best());
        return demapped(other, symbols, noise);
    };
    for (const float noise : {0.1F, 0.01F, 0.1F, 0.100001F, 0.01F}) {
        const Demapped actual = demapped(demap, symbols, noise);
        const Demapped expected = fresh(noise);
        EXPECT_EQ(actual.int8, expected.int8) << noise;
        EXPECT_EQ(actual.float16, expected.float16) << noise;
        EXPECT_EQ(actual.float32, expected.float32) << noise;
    }
}

/// Far outside and inside, at levels and half-way between two, where groups have two nearest levels.
float any_component(phy::Modulation modulation, std::mt19937& random) {
    std::uniform_real_distribution<float> part(-1.0F, 1.0F);
    const auto unit = static_cast<float>(phy::axis_unit(modulation));
    const auto steps = static_cast<float>(static_cast<int>(random() % 80) - 40);
    const float from = random() % 2 == 0 ? steps * unit : 0.0F;
    const float spread[] = {0.0F, 1e-3F, 0.1F, 1.0F, 4.0F, 30.0F};
    return from + part(random) * spread[random() % std::size(spread)] * (from == 0.0F ? 1.0F : unit);
}

/// N0 per symbol, from 20 dB above the symbols' power to 50 dB below.
TEST(LogMapPerSymbol, IsAccurateAnywhere) {
    std::mt19937 random(phy_test::random_seed());
    std::uniform_real_distribution<double> exponent(-5.0, 2.0);
    for (const phy::Modulation modulation : {phy::Modulation::qam16, phy::Modulation::qam64,
                                             phy::Modulation::qam256, phy::Modulation::qam1024}) {
        phy_test::Reference reference(modulation);
        const std::size_t qm = bits_per_symbol(modulation);
        std::vector<phy::cf32> symbols(20'000);
        std::vector<float> noise(symbols.size());
        for (std::size_t n = 0; n < symbols.size(); ++n) {
            const float i = any_component(modulation, random);
            symbols[n] = {i, any_component(modulation, random)};
            noise[n] = static_cast<float>(std::pow(10.0, exponent(random)));
        }
        for (const float scale : {0.3F, 1.0F, 3.0F, 6.0F, 256.0F, 4096.0F}) {
            phy::DemapperConfig config;
            config.modulation = modulation;
            config.llr.method = Method::log_map;
            config.llr.scale = scale;
            phy::SoftDemapper demap(phy::Host(), config);
            std::vector<float> llr(symbols.size() * qm);
            std::vector<std::int8_t> soft_bits(llr.size());
            demap(symbols, noise, llr);
            demap(symbols, noise, soft_bits);
            for (std::size_t n = 0; n < symbols.size(); ++n) {
                const auto expected = reference(Method::log_map, std::complex<double>(symbols[n]),
                                                static_cast<double>(noise[n]), n);
                for (std::size_t k = 0; k < qm; ++k) {
                    const std::size_t at = n * qm + k;
                    ASSERT_NEAR(static_cast<double>(llr[at]), expected[k],
                                nats + 1e-6 * std::abs(expected[k]))
                        << to_string(modulation) << ", bit " << k << " at " << symbols[n] << ", N0 "
                        << noise[n];
                    // With a larger scale, a step is less than the rounding of a symbol beyond 40 dB.
                    if (scale > 6.0F && noise[n] < 1e-4F) continue;
                    ASSERT_NEAR(soft_bits[at],
                                phy_test::quantised(expected[k], static_cast<double>(scale), 127), 1)
                        << to_string(modulation) << ", bit " << k << " at " << symbols[n] << ", N0 "
                        << noise[n] << ", scale " << scale;
                }
            }
        }
    }
}

std::vector<phy_test::Variant> variants() {
    std::vector<phy_test::Variant> result = phy_test::all_variants();
    // Has a stricter bound and its own test.
    std::erase_if(result, [](const phy_test::Variant& variant) {
        return variant.method == Method::max_log && variant.evaluator == Evaluator::arithmetic;
    });
    return result;
}
INSTANTIATE_TEST_SUITE_P(, LogMapAccuracy, testing::ValuesIn(variants()),
                         [](const auto& variant) { return name_of(variant.param); });

}  // namespace
