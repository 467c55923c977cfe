#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <tuple>

#include "demapper/signals.hpp"
#include "files/made_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "phy/files/demodulate.hpp"
#include "support/temporary_directory.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::demodulate_file;
using phy::DemodulateOptions;
using phy::Demodulation;
using phy::Modulation;
using phy::SampleFormat;

DemodulateOptions options_of(std::optional<float> gain, std::optional<float> noise_variance) {
    DemodulateOptions options;
    options.format = phy::SoftBitFormat::float32;
    options.gain = gain;
    options.capture.noise_variance = noise_variance;
    options.estimate_noise = !noise_variance;
    return options;
}

DemodulateOptions all_measured() {
    return options_of(std::nullopt, std::nullopt);
}

std::string read_bytes(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

class Gain : public testing::Test {
protected:
    /// The bytes of the soft bits' file.
    [[nodiscard]] std::string soft_bits(const DemodulateOptions& options) const {
        DemodulateOptions writing = options;
        writing.overwrite = true;
        demodulate_file(capture_, soft_bits_, writing);
        return read_bytes(soft_bits_);
    }

    TemporaryDirectory directory_;
    const std::filesystem::path capture_ = directory_ / "c.h5";
    const std::filesystem::path soft_bits_ = directory_ / "s.h5";
};

struct Signal {
    Modulation modulation;
    double snr_db;
};

class GainOf : public Gain, public testing::WithParamInterface<std::tuple<Signal, SampleFormat, double>> {};

/// Over the same symbols, the counts of wrong bits differ by less than three standard deviations of one.
TEST_P(GainOf, MeasuredGainAndNoiseAreAsGoodAsTheTruth) {
    const auto& [signal, format, amplitude] = GetParam();
    const MadeCapture made = {.modulation = signal.modulation,
                              .format = format,
                              .symbols = 400'000,
                              .amplitude = amplitude,
                              .snr_db = signal.snr_db,
                              .seed = 20};
    SCOPED_TRACE(made.text());
    make_capture(capture_, made);
    const auto truth = options_of(static_cast<float>(amplitude), static_cast<float>(made.noise_variance()));
    const Demodulation with_truth = demodulate_file(capture_, "", truth);
    const Demodulation measured = demodulate_file(capture_, "", all_measured());
    const auto errors = static_cast<double>(with_truth.bit_errors.value());
    const auto bits = static_cast<double>(with_truth.soft_bits);
    EXPECT_GT(errors, 4.0);
    EXPECT_LT(errors, 0.05 * bits);
    const double deviation = std::sqrt(errors * (1.0 - errors / bits));
    EXPECT_LT(std::abs(static_cast<double>(measured.bit_errors.value()) - errors), 3.0 * deviation);
    EXPECT_NEAR(measured.gain / amplitude, 1.0, 2e-3);
    // With the noise that rounding to integers adds.
    const double rounding =
        phy::default_full_scale(format) == 1.0F ? 0.0 : std::pow(integers_of_rms(format), -2.0) / 6.0;
    EXPECT_NEAR(measured.noise_variance.value() / (made.noise_variance() + rounding), 1.0, 0.02);
    ASSERT_TRUE(measured.measured.has_value());
    EXPECT_FALSE(with_truth.measured.has_value());
}

constexpr Signal signals[] = {
    {Modulation::qpsk, 12.0}, {Modulation::qam256, 25.0}, {Modulation::qam256, 30.0}};

std::string name_of(const testing::TestParamInfo<GainOf::ParamType>& info) {
    const auto& [signal, format, amplitude] = info.param;
    return std::string(to_string(signal.modulation)) + "_" + std::to_string(std::lround(signal.snr_db)) +
           "_dB_" + std::string(to_string(format)) + "_" + std::to_string(std::lround(1000.0 * amplitude));
}

INSTANTIATE_TEST_SUITE_P(Floats, GainOf,
                         testing::Combine(testing::ValuesIn(signals),
                                          testing::Values(SampleFormat::cf32, SampleFormat::cf16),
                                          testing::Values(0.01, 0.8, 1.0, 100.0)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Integers, GainOf,
                         testing::Combine(testing::ValuesIn(signals),
                                          testing::Values(SampleFormat::ci16, SampleFormat::ci8),
                                          testing::Values(0.2, 1.0, 3.0)),
                         name_of);

TEST_F(Gain, NoiseOf256QamAt30DecibelIsWithinAPerCent) {
    const MadeCapture made = {.symbols = 1'000'000, .amplitude = 0.37, .seed = 21};
    SCOPED_TRACE(made.text());
    make_capture(capture_, made);
    const Demodulation done = demodulate_file(capture_, "", all_measured());
    EXPECT_NEAR(done.noise_variance.value(), made.noise_variance(), 0.01 * made.noise_variance());
    EXPECT_NEAR(done.gain, made.amplitude, 1e-4 * made.amplitude);
}

/// Powers of two change no digit: symbols of four times the amplitude with four times the gain are the same
/// symbols. Those in binary16 are large, because small ones have fewer digits.
TEST_F(Gain, IsWhatSymbolsAreDividedBy) {
    for (const SampleFormat format : phy::all_sample_formats) {
        for (const bool per_symbol : {false, true}) {
            MadeCapture made = {.format = format, .snr_db = 20.0, .per_symbol_noise = per_symbol};
            SCOPED_TRACE(made.text());
            const auto noise =
                per_symbol ? std::nullopt : std::optional(static_cast<float>(made.noise_variance()));
            const auto with_gain = [&](float gain) {
                DemodulateOptions options = options_of(gain, noise);
                options.estimate_noise = false;
                return soft_bits(options);
            };
            const float gain = format == SampleFormat::cf16 ? 256.0F : 1.0F;
            made.amplitude = double{gain};
            make_capture(capture_, made);
            const std::string expected = with_gain(gain);
            made.amplitude *= 4.0;
            make_capture(capture_, made);
            EXPECT_TRUE(with_gain(4.0F * gain) == expected);
            EXPECT_FALSE(with_gain(gain) == expected);
        }
    }
}

TEST_F(Gain, NothingDependsOnHowTheWorkIsCut) {
    std::vector<std::vector<phy::Place>> places;
    for (const phy::Backend& backend : host_backends())
        places.push_back({host_of(backend, 2)});
    if constexpr (phy::built_with_cuda) {
        std::vector<phy::Place> devices;
        for (const phy::gpu::Device& device : phy::gpu::Device::all())
            devices.emplace_back(device);
        if (!devices.empty()) places.push_back({devices.front()});
        if (devices.size() > 1) places.push_back(devices);
    }
    for (const SampleFormat format : {SampleFormat::cf16, SampleFormat::ci8}) {
        const MadeCapture made = {.format = format, .symbols = 300'001, .amplitude = 0.6, .not_a_number = 7};
        make_capture(capture_, made);
        DemodulateOptions options = all_measured();
        options.places = {scalar_host()};
        const std::string expected = soft_bits(options);
        for (const std::vector<phy::Place>& set : places) {
            options.places = set;
            for (const std::size_t chunk : {0U, 1000U, 100'000U}) {
                options.pipeline.chunk = chunk;
                EXPECT_TRUE(soft_bits(options) == expected)
                    << made.text() << ", " << set.front().name() << ", chunks of " << chunk;
            }
        }
    }
}

TEST_F(Gain, ProgressGoesOverBothPasses) {
    make_capture(capture_, {.symbols = 100'000});
    std::vector<std::uint64_t> steps;
    DemodulateOptions options = all_measured();
    options.pipeline.chunk = 40'000;
    options.progress = [&](std::uint64_t done, std::uint64_t all) {
        EXPECT_EQ(all, 200'000U);
        EXPECT_GT(done, steps.empty() ? 0 : steps.back());
        steps.push_back(done);
    };
    demodulate_file(capture_, "", options);
    EXPECT_EQ(steps.back(), 200'000U);
    EXPECT_TRUE(std::ranges::count(steps, 100'000U) == 1);
}

TEST_F(Gain, MeasuringCanBeStopped) {
    make_capture(capture_, {.symbols = 400'000});
    struct Refusal {};
    DemodulateOptions options = all_measured();
    options.pipeline.chunk = 1;
    options.progress = [](std::uint64_t /*done*/, std::uint64_t /*all*/) { throw Refusal(); };
    EXPECT_THROW(demodulate_file(capture_, soft_bits_, options), Refusal);
    std::stop_source stop;
    options.progress = [&](std::uint64_t /*done*/, std::uint64_t /*all*/) { stop.request_stop(); };
    options.stop = stop.get_token();
    const Demodulation done = demodulate_file(capture_, soft_bits_, options);
    EXPECT_TRUE(done.cancelled);
    EXPECT_EQ(done.symbols, 0U);
    EXPECT_EQ(directory_.names(), std::vector<std::string>{"c.h5"});
}

void expect_file_error(const std::filesystem::path& capture, const DemodulateOptions& options,
                       const std::string& words) {
    try {
        demodulate_file(capture, "", options);
        ADD_FAILURE() << "expected: " << words;
    } catch (const phy::FileError& error) {
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
}

TEST_F(Gain, WhatCannotBeMeasuredIsNamed) {
    make_capture(capture_, {.symbols = 100, .not_a_number = 100});
    expect_file_error(capture_, all_measured(), "c.h5: /iq: the gain cannot be measured");
    expect_file_error(capture_, options_of(1.0F, std::nullopt), "no symbol that is finite");
    make_capture(capture_, {.symbols = 100, .amplitude = 0.0});
    expect_file_error(capture_, all_measured(), "the gain cannot be measured");
    make_capture(capture_, {.modulation = Modulation::bpsk, .symbols = 100, .amplitude = 0x1p60});
    expect_file_error(capture_, all_measured(), "the gain cannot be measured");
}

TEST_F(Gain, HasARange) {
    make_capture(capture_, {.symbols = 100});
    for (const float gain : {0.0F, -1.0F, 0x1p-41F, 0x1p41F, std::numeric_limits<float>::quiet_NaN()}) {
        EXPECT_THROW(demodulate_file(capture_, "", options_of(gain, 0.1F)), phy::ArgumentError) << gain;
        EXPECT_THROW(demodulate_file(capture_, "", options_of(gain, {})), phy::ArgumentError) << gain;
    }
}

}  // namespace
