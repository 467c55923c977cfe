#include "phy/files/symbol_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "files/made_capture.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "support/fewer_cases.hpp"
#include "support/temporary_directory.hpp"

namespace phy_test {
namespace {

using phy::Modulation;
using phy::SymbolCheck;
using phy::SymbolMismatch;

class CheckOfSymbols : public testing::Test {
protected:
    SymbolCheck check(const MadeCapture& made,
                      phy::DemodulateOptions options = phy::DemodulateOptions()) const {
        make_capture(file_, made);
        if (!made.per_symbol_noise && !options.capture.noise_variance)
            options.capture.noise_variance = static_cast<float>(made.noise_variance());
        options.places = {phy::Host()};
        return demodulate_file(file_, "", options).check;
    }

    TemporaryDirectory directory_;
    const std::filesystem::path file_ = directory_ / "c.h5";
};

std::string name_of(SymbolMismatch mismatch) {
    switch (mismatch) {
        case SymbolMismatch::none:
            return "none";
        case SymbolMismatch::no_constellation:
            return "no constellation";
        case SymbolMismatch::fault:
            return "fault";
        case SymbolMismatch::modulation:
            return "modulation";
        case SymbolMismatch::power:
            return "power";
        case SymbolMismatch::noise_variance:
            return "noise variance";
    }
    return "?";
}

TEST_F(CheckOfSymbols, FindsNoMismatchInCorrectSymbols) {
    unsigned seed = 100;
    for (const Modulation modulation : phy::all_modulations) {
        for (double snr_db = -5.0; snr_db <= 60.0; snr_db += 20.0) {
            for (const auto format : {phy::SampleFormat::cf32, phy::SampleFormat::cf16,
                                      phy::SampleFormat::ci16, phy::SampleFormat::ci8}) {
                for (const std::uint64_t symbols : {1U, 50U, 260U, 3'000U, 20'000U}) {
                    if (symbols == 20'000U && format != phy::SampleFormat::cf32) continue;
                    const MadeCapture made = {.modulation = modulation,
                                              .format = format,
                                              .symbols = symbols,
                                              .snr_db = snr_db,
                                              .seed = ++seed,
                                              .bits = false,
                                              .per_symbol_noise = seed % 2 == 0};
                    SCOPED_TRACE(made.text() + ", " + std::to_string(symbols) + " symbols");
                    // Integers have no room for the noise of lower SNR.
                    if (snr_db < 0.0 && format == phy::SampleFormat::ci8) continue;
                    const SymbolCheck found = check(made);
                    ASSERT_EQ(name_of(found.mismatch), "none")
                        << found.mean_power << ' ' << found.evm << ' ' << found.expected_evm;
                }
            }
        }
    }
}

TEST_F(CheckOfSymbols, NumbersAreThoseOfTheSymbols) {
    const MadeCapture made = {.modulation = Modulation::qam64, .snr_db = 26.0, .bits = false};
    const SymbolCheck found = check(made);
    EXPECT_EQ(found.symbols, 8U * 1024U - (1024U - 100'003U % 1024U)) << "8 blocks, the last one shorter";
    EXPECT_NEAR(found.mean_power, 1.0025, 0.03);
    EXPECT_NEAR(found.evm, std::sqrt(made.noise_variance()), 0.002);
    EXPECT_NEAR(found.expected_evm, std::sqrt(made.noise_variance()), 0.0005);
    EXPECT_EQ(found.mean_noise_variance, static_cast<double>(static_cast<float>(made.noise_variance())));
    EXPECT_NEAR(found.amplitude(), 1.0, 0.01);
}

TEST_F(CheckOfSymbols, PowerThatIsNotOne) {
    for (const Modulation modulation : phy::all_modulations) {
        for (const double amplitude : {0.01, 0.5, 0.85, 1.2, 2.0, 100.0}) {
            for (const auto format : {phy::SampleFormat::cf32, phy::SampleFormat::ci16}) {
                const MadeCapture made = {.modulation = modulation,
                                          .format = format,
                                          .amplitude = amplitude,
                                          .snr_db = 25.0,
                                          .bits = false};
                SCOPED_TRACE(made.text());
                const SymbolCheck found = check(made);
                EXPECT_EQ(name_of(found.mismatch), "power");
                EXPECT_NEAR(found.amplitude() / amplitude, 1.0, 0.02);
                // The advice fixes it.
                phy::DemodulateOptions advised;
                advised.gain = static_cast<float>(found.amplitude());
                EXPECT_EQ(name_of(check(made, advised).mismatch), "none");
            }
        }
        EXPECT_EQ(
            name_of(
                check({.modulation = modulation, .amplitude = 1.08, .snr_db = 20.0, .bits = false}).mismatch),
            "none")
            << "less than 1 dB";
    }
}

TEST_F(CheckOfSymbols, SymbolsWithoutPower) {
    const auto nothing = [](std::complex<double>, std::uint64_t) { return std::complex<double>(); };
    for (const Modulation modulation : phy::all_modulations)
        EXPECT_EQ(check({.modulation = modulation, .symbols = 3000, .fault = nothing}).mismatch,
                  SymbolMismatch::power)
            << to_string(modulation);
}

TEST_F(CheckOfSymbols, NoiseThatIsNotThere) {
    for (const Modulation modulation : phy::all_modulations) {
        for (const double factor : {0.01, 0.2, 1.5, 6.0, 100.0}) {
            // Of this the points are so near to each other that decisions tell no more.
            if (modulation == Modulation::qam1024 && factor == 6.0) continue;
            const MadeCapture made = {.modulation = modulation, .snr_db = 35.0, .bits = false};
            SCOPED_TRACE(made.text() + ", N0 times " + std::to_string(factor));
            phy::DemodulateOptions options;
            options.capture.noise_variance = static_cast<float>(made.noise_variance() * factor);
            // What is below 1e-4 is not held against symbols, whose N0 is 3.2 times that.
            EXPECT_EQ(name_of(check(made, options).mismatch), factor < 2.0 ? "none" : "noise variance");
        }
        const MadeCapture noisy = {.modulation = modulation, .snr_db = 20.0, .bits = false};
        phy::DemodulateOptions options;
        options.capture.noise_variance = 1e-4F;
        EXPECT_EQ(name_of(check(noisy, options).mismatch), "noise variance") << noisy.text();
    }
}

TEST_F(CheckOfSymbols, SymbolsWithoutNoiseMayHaveAnyN0) {
    phy::DemodulateOptions options;
    options.capture.noise_variance = 0.01F;
    EXPECT_EQ(name_of(check({.snr_db = 90.0, .bits = false}, options).mismatch), "none");
}

TEST_F(CheckOfSymbols, NoiseOfEachSymbol) {
    const MadeCapture made = {.amplitude = 2.0, .bits = false, .per_symbol_noise = true};
    EXPECT_EQ(name_of(check(made).mismatch), "power");
    const MadeCapture deaf = {.snr_db = -3.0, .bits = false, .per_symbol_noise = true};
    const SymbolCheck found = check(deaf);
    EXPECT_EQ(found.symbols, 0U) << "N0 above 1 says nothing";
    EXPECT_TRUE(std::isnan(found.mean_power));
    EXPECT_EQ(name_of(found.mismatch), "none");
}

/// Samples of 100 subcarriers of 256, with silence between bursts.
std::vector<phy::cf32> samples_in_time(Modulation modulation, double amplitude) {
    std::mt19937 random(17);
    std::vector<phy::cf32> samples;
    const std::size_t subcarriers = 100;
    std::vector<std::uint8_t> bits(subcarriers * bits_per_symbol(modulation));
    std::vector<phy::cf32> points(subcarriers);
    const phy::Mapper map(phy::Host(), {.modulation = modulation});
    for (std::size_t symbol = 0; symbol < 200; ++symbol) {
        for (std::uint8_t& bit : bits)
            bit = static_cast<std::uint8_t>(random() >> 31U);
        map(bits, points);
        for (std::size_t n = 0; n < 256; ++n) {
            std::complex<double> sum = 0.0;
            for (std::size_t k = 0; k < subcarriers; ++k)
                sum += std::complex<double>(points[k]) *
                       std::polar(amplitude / 10.0, 2.0 * M_PI * static_cast<double>(n * k) / 256.0);
            samples.emplace_back(symbol % 40 < 28 ? phy::cf32(sum) : phy::cf32());
        }
    }
    return samples;
}

TEST_F(CheckOfSymbols, SamplesAreNoSymbols) {
    for (const Modulation modulation : phy::all_modulations) {
        for (const double amplitude : {0.001, 1.0, 300.0}) {
            SCOPED_TRACE(std::string(to_string(modulation)) + " of amplitude " + std::to_string(amplitude));
            const std::vector<phy::cf32> samples = samples_in_time(modulation, amplitude);
            phy::CaptureWriter writer(file_, {.symbols = samples.size(),
                                              .modulation = modulation,
                                              .noise_variance = 0.01F,
                                              .overwrite = true});
            writer.append(samples);
            writer.commit();
            EXPECT_EQ(name_of(phy::demodulate_file(file_, "").check.mismatch), "no constellation");
        }
    }
}

TEST_F(CheckOfSymbols, IsTheSameForEveryChunkAndPlace) {
    for (const bool per_symbol : {false, true}) {
        make_capture(file_, {.modulation = Modulation::pi2_bpsk,
                             .symbols = 4'000'003,
                             .amplitude = 1.1,
                             .snr_db = 10.0,
                             .bits = false,
                             .per_symbol_noise = per_symbol,
                             .not_a_number = 5000});
        std::vector<SymbolCheck> checks;
        for (const auto& [chunk, threads] : {std::pair(1'000'000, 1), {1'001, 2}, {65'536, 1}, {7'777, 1}}) {
            phy::DemodulateOptions options;
            options.capture.noise_variance = per_symbol ? std::nullopt : std::optional(0.1F);
            options.places = {phy::Host({.threads = threads})};
            options.pipeline.chunk = static_cast<std::size_t>(chunk);
            checks.push_back(demodulate_file(file_, "", options).check);
            EXPECT_EQ(checks.back().symbols, checks[0].symbols);
            EXPECT_EQ(checks.back().mean_power, checks[0].mean_power);
            EXPECT_EQ(checks.back().evm, checks[0].evm);
            EXPECT_EQ(checks.back().expected_evm, checks[0].expected_evm);
        }
        EXPECT_LT(checks[0].symbols, 15U * 1024U);
        EXPECT_GT(checks[0].symbols, 14U * 1024U);
    }
}

}  // namespace
}  // namespace phy_test
