// Recordings at rates that no FFT takes.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "air_capture.hpp"
#include "phy/core/error.hpp"
#include "phy/files/receive.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

namespace {

using phy::Link;
using phy_test::AirCapture;
using Config = phy::apps::Recording::Config;

class SampleRate : public testing::Test {
protected:
    phy::Reception receive(const Config& config, const Link& link, const phy::ReceiveOptions& options = {}) {
        AirCapture(config).write(capture_, link);
        return receive_file(capture_, {}, options);
    }
    phy::Reception receive(const Config& config) { return receive(config, config.link); }

    phy_test::TemporaryDirectory folder_;
    const std::filesystem::path capture_ = folder_ / "capture.h5";
    std::uint32_t seed_ = phy_test::random_seed();
    std::mt19937 random_{seed_};
};

/// 24 resource blocks at 15 kHz in 4.68 MHz, 64QAM at 38 dB. Near the carrier's width the recording has
/// aliases of the edges between OFDM symbols, 54 dB below the signal. With four antennas hardly an element
/// fades: the EVM is the mean of many, not of a few.
Config clean_recording(double sample_rate, std::uint64_t seed = 1) {
    Config config = phy_test::plain_recording();
    config.link.carrier.subcarrier_spacing = 15000;
    config.link.carrier.sample_rate = sample_rate;
    config.antennas = 4;
    config.snr_db = 38.0;
    config.slots = 6;
    config.seed = seed;
    return config;
}

TEST_F(SampleRate, AnyGivesTheEvmOfAnFft) {
    const phy::Reception plain = receive(clean_recording(384 * 15000.0, seed_));
    const double ideal = plain.mean.evm;
    const double timing = plain.mean.timing_offset - clean_recording(1e7).timing_offset;
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    for (const double rate :
         {5e6, 10e6, 20e6, 25e6, 33333333.333, 50e6, 100e6, 200e6, 4.8e6 * std::exp(3.7 * unit(random_))}) {
        SCOPED_TRACE("rate " + std::to_string(rate) + ", seed " + std::to_string(seed_));
        Config config = clean_recording(rate, seed_);
        config.timing_offset = 2e-6 * (unit(random_) - 0.5);
        config.frequency_offset = 1000.0 * (unit(random_) - 0.5);
        const phy::Reception done = receive(config);
        // Five deviations of the difference of two means over 20,736 symbols.
        EXPECT_NEAR(20.0 * std::log10(done.mean.evm / ideal), 0.0, 0.25);
        EXPECT_NEAR(done.mean.error_over_noise_db, 0.0, 0.5);
        EXPECT_NEAR(done.mean.frequency_offset, config.frequency_offset, 10.0);
        // A bin of the power-delay profile is 33 ns.
        EXPECT_NEAR(done.mean.timing_offset, timing + config.timing_offset, 4e-8);
        EXPECT_LT(static_cast<double>(done.bit_errors.value()), 1e-4 * static_cast<double>(done.soft_bits));
        EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
        EXPECT_EQ(done.link.carrier.sample_rate, rate);
        EXPECT_EQ(done.slots, config.slots);
    }
}

TEST_F(SampleRate, FirstSamplesAreThoseOfTheRecording) {
    Config config = clean_recording(20e6);
    config.timing_offset = 0.0;
    config.first_sample = 12'345;
    config.link.carrier.first_sample = 12'345;
    Link link = config.link;
    const phy::Reception given = receive(config, link);
    EXPECT_EQ(given.link.carrier.first_sample, 12'345U);
    EXPECT_EQ(given.bit_errors, 0U);

    link.carrier.first_sample.reset();
    link.slots = {link.carrier.first_slot};
    const phy::Reception found = receive(config, link);
    ASSERT_TRUE(found.found);
    EXPECT_NEAR(static_cast<double>(found.found->first_sample), 12'345.0, 8.0);
    EXPECT_EQ(found.link.carrier.first_sample, found.found->first_sample);
    EXPECT_EQ(found.bit_errors, 0U);
}

TEST_F(SampleRate, ACarrierMayLieBesideTheCentre) {
    for (const double shift : {-7.1e6, 6.5e6}) {
        Config config = clean_recording(20e6);
        config.link.carrier.frequency_shift = shift;
        const phy::Reception done = receive(config);
        EXPECT_NEAR(done.mean.error_over_noise_db, 0.0, 0.3);
        EXPECT_EQ(done.bit_errors, 0U);
        EXPECT_TRUE(done.warnings.empty()) << done.warnings.front();
    }
}

TEST_F(SampleRate, BelowTheCarrierIsAnError) {
    const Config config = clean_recording(20e6);
    for (const double rate : {4.6e6, 4.7e6}) {
        Link link = config.link;
        link.carrier.sample_rate = rate;
        try {
            receive(config, link);
            ADD_FAILURE() << rate;
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string(error.what()).find("carrier.sample_rate is"), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
