#include "phy/resampler/resampler.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <numbers>

#include "phy/core/error.hpp"
#include "resampler/resampler_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::ResampledRow;
using phy::ResamplerConfig;
using phy::SampleFormat;

/// A tone in cycles per input sample.
struct Tone {
    double frequency;
    std::complex<double> amplitude;

    [[nodiscard]] std::complex<double> at(double time) const {
        return amplitude * std::polar(1.0, 2.0 * std::numbers::pi * std::remainder(frequency * time, 1.0));
    }
};

double time_of(const ResampledRow& row, std::size_t output) {
    return std::ldexp(static_cast<double>(row.position + output * row.step), -32);
}

/// Power of the difference of the output from the tones, over that of tones of unit amplitude.
double error_of(const ResamplerConfig& config, const std::vector<Tone>& sent,
                const std::vector<Tone>& expected, std::mt19937& random) {
    const phy::Resampler resample(phy::Host(), config);
    constexpr std::size_t outputs = 1500;
    ResampledRow row = random_rows(random, resample.step(), 1)[0];
    row.position += std::uint64_t{resample.margin()} << 32U;
    std::vector<cf32> samples(static_cast<std::size_t>(time_of(row, outputs)) + resample.margin() + 2);
    for (std::size_t n = 0; n < samples.size(); ++n) {
        std::complex<double> sum;
        for (const Tone& tone : sent)
            sum += tone.at(static_cast<double>(n));
        samples[n] = cf32(sum);
    }
    const std::vector<cf32> output = resampled(phy::Host(), config, samples, std::span(&row, 1), outputs);
    double error = 0.0;
    for (std::size_t m = 0; m < outputs; ++m) {
        std::complex<double> truth;
        for (const Tone& tone : expected)
            truth += tone.at(time_of(row, m));
        error += std::norm(std::complex<double>(output[m]) - truth);
    }
    return error / (static_cast<double>(sent.size()) * outputs);
}

class ResamplerTest : public testing::Test {
protected:
    void SetUp() override { RecordProperty("seed", std::to_string(seed_)); }

    /// Calls work(config) for random rates.
    void with_rates(int times, const std::function<void(const ResamplerConfig&)>& work) {
        for (int i = 0; i < fewer_times(times); ++i) {
            const ResamplerConfig config = random_rates(random_);
            SCOPED_TRACE(name_of(config) + ", seed " + std::to_string(seed_));
            work(config);
        }
    }

    std::uint32_t seed_ = random_seed();
    std::mt19937 random_{seed_};
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
};

TEST_F(ResamplerTest, PassesWhatLiesInTheBandwidth) {
    with_rates(25, [&](const ResamplerConfig& config) {
        const double half = 0.5 * config.bandwidth / config.input_rate;
        std::vector<Tone> tones = {{half, 1.0}, {-half, {0.0, 1.0}}};
        for (int i = 0; i < 4; ++i)
            tones.push_back({half * (2.0 * unit_(random_) - 1.0), std::polar(1.0, 6.0 * unit_(random_))});
        EXPECT_LT(error_of(config, tones, tones, random_), 1e-8);
    });
}

TEST_F(ResamplerTest, KeepsAliasesOutOfTheBandwidth) {
    with_rates(25, [&](const ResamplerConfig& config) {
        const double edge = config.output_rate - 0.5 * config.bandwidth;
        if (edge >= 0.5 * config.input_rate) return;
        const double first = edge / config.input_rate;
        std::vector<Tone> tones = {{first, 1.0}, {-first, {0.0, 1.0}}};
        for (int i = 0; i < 4; ++i)
            tones.push_back({first + (0.5 - first) * unit_(random_), std::polar(1.0, 6.0 * unit_(random_))});
        EXPECT_LT(error_of(config, tones, {}, random_), 1e-8);
    });
}

TEST_F(ResamplerTest, EveryBackendFormatAndNumberOfThreads) {
    with_rates(4, [&](const ResamplerConfig& config) {
        const std::vector<ResampledRow> rows =
            random_rows(random_, phy::Resampler(phy::Host(), config).step(), 3);
        constexpr std::size_t outputs = 2500;
        for (const SampleFormat format : phy::all_sample_formats) {
            // One byte off, so that nothing is aligned.
            Bytes bytes = random_samples(format, rows.size() * 3001, next_seed(random_));
            bytes.insert(bytes.begin(), std::byte{0});
            const phy::SymbolView samples(format, std::span<const std::byte>(bytes).subspan(1));
            const auto expected = bits_of(resampled(scalar_host(), config, samples, rows, outputs));
            for (const phy::Backend& backend : host_backends())
                for (const int threads : {1, 3})
                    ASSERT_TRUE(bits_of(resampled(host_of(backend, threads), config, samples, rows,
                                                  outputs)) == expected)
                        << backend.name() << ", " << threads << " threads, " << to_string(format);
        }
    });
}

TEST_F(ResamplerTest, IntegersAreDividedByTheirFullScale) {
    ResamplerConfig config = {.input_rate = 25e6, .output_rate = 30.72e6, .bandwidth = 18e6};
    config.full_scale = 1000.0F;
    const std::vector<std::int16_t> integers = {1000, -500, 250, 0, -1000, 125, 500, 500};
    std::vector<cf32> floats;
    for (std::size_t i = 0; i < integers.size(); i += 2)
        floats.emplace_back(static_cast<float>(integers[i]) * 1e-3F,
                            static_cast<float>(integers[i + 1]) * 1e-3F);
    const ResampledRow row = {.step = phy::Resampler(phy::Host(), config).step()};
    const phy::SymbolView stored(SampleFormat::ci16, std::as_bytes(std::span(integers)));
    EXPECT_EQ(bits_of(resampled(phy::Host(), config, stored, std::span(&row, 1), 9)),
              bits_of(resampled(phy::Host(), config, floats, std::span(&row, 1), 9)));
}

TEST_F(ResamplerTest, SamplesThatAreNotThereAreZeros) {
    with_rates(8, [&](const ResamplerConfig& config) {
        const phy::Resampler resample(phy::Host(), config);
        const std::vector<cf32> inner = random_numbers(500, next_seed(random_));
        const std::size_t before = resample.margin() + 100;
        std::vector<cf32> padded(before);
        padded.insert(padded.end(), inner.begin(), inner.end());
        padded.resize(padded.size() + 60'000);
        const ResampledRow row = {.position = 12345, .step = resample.step()};
        const ResampledRow later = {.position = row.position + (std::uint64_t{before} << 32U),
                                    .step = row.step};
        const std::size_t outputs = 700;
        EXPECT_EQ(bits_of(resampled(phy::Host(), config, inner, std::span(&row, 1), outputs)),
                  bits_of(resampled(phy::Host(), config, padded, std::span(&later, 1), outputs)));
    });
}

TEST_F(ResamplerTest, WhatIsNotFiniteSpoilsItsSurroundingsAlone) {
    const ResamplerConfig config = {.input_rate = 25e6, .output_rate = 30.72e6, .bandwidth = 18e6};
    const phy::Resampler resample(phy::Host(), config);
    std::vector<cf32> samples = random_numbers(2000);
    const ResampledRow row = {.step = resample.step()};
    const std::vector<cf32> right = resampled(phy::Host(), config, samples, std::span(&row, 1), 2000);
    samples[1000] = {std::numeric_limits<float>::infinity(), samples[1000].imag()};
    const std::vector<cf32> spoilt = resampled(phy::Host(), config, samples, std::span(&row, 1), 2000);
    const auto margin = static_cast<double>(resample.margin());
    std::size_t found = 0;
    for (std::size_t m = 0; m < right.size(); ++m) {
        EXPECT_EQ(spoilt[m].imag(), right[m].imag());
        const bool is_near = std::abs(time_of(row, m) - 1000.0) <= margin;
        if (std::isnan(spoilt[m].real())) {
            EXPECT_TRUE(is_near) << m;
            ++found;
        } else {
            EXPECT_EQ(spoilt[m].real(), right[m].real());
        }
    }
    EXPECT_GT(static_cast<double>(found), 2.0 * margin);
}

TEST_F(ResamplerTest, WrongConfigurationsAndSizesThrow) {
    const ResamplerConfig right = {.input_rate = 25e6, .output_rate = 30.72e6, .bandwidth = 18e6};
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto fails = [&](const auto& change) {
        ResamplerConfig config = right;
        change(config);
        EXPECT_THROW(phy::Resampler(phy::Host(), config), phy::ArgumentError) << name_of(config);
    };
    for (const double rate : {0.0, -1.0, nan, std::numeric_limits<double>::infinity()}) {
        fails([&](ResamplerConfig& config) { config.input_rate = rate; });
        fails([&](ResamplerConfig& config) { config.output_rate = rate; });
        fails([&](ResamplerConfig& config) { config.bandwidth = rate; });
    }
    fails([](ResamplerConfig& config) { config.output_rate = 25e6 * 65.0; });
    fails([](ResamplerConfig& config) { config.output_rate = 25e6 / 65.0; });
    fails([](ResamplerConfig& config) { config.bandwidth = 24.9e6; });
    fails([](ResamplerConfig& config) { config.bandwidth = 26e6; });

    phy::Resampler resample(phy::Host(), right);
    std::vector<cf32> input(100);
    std::vector<cf32> output(100);
    std::vector<ResampledRow> rows(2, {.step = resample.step()});
    resample(input, rows, output);
    EXPECT_THROW(resample(std::span(input).first(99), rows, output), phy::ArgumentError);
    EXPECT_THROW(resample(input, rows, std::span(output).first(99)), phy::ArgumentError);
    EXPECT_THROW(resample(input, std::span(rows).first(0), output), phy::ArgumentError);
    rows[1].step += rows[1].step / 900;
    EXPECT_THROW(resample(input, rows, output), phy::ArgumentError);
    rows[1].step = resample.step();
    for (const std::uint64_t position : {std::uint64_t{1} << 62U, 0 - (std::uint64_t{100} << 32U)}) {
        rows[1].position = position;
        EXPECT_THROW(resample(input, rows, output), phy::ArgumentError) << position;
    }
}

}  // namespace
