#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>

#include "air_capture.hpp"
#include "phy/files/receive.hpp"
#include "support/random_seed.hpp"
#include "support/temporary_directory.hpp"

/// What tests of recorders share.
namespace phy_test {

class Recorder : public testing::Test {
protected:
    phy::Reception receive(const phy::apps::Recording::Config& config, const phy::Link& link) {
        AirCapture(config).write(capture_, link);
        return phy::receive_file(capture_, {}, {});
    }
    phy::Reception receive(const phy::apps::Recording::Config& config) {
        return receive(config, config.link);
    }

    TemporaryDirectory folder_;
    const std::filesystem::path capture_ = folder_ / "capture.h5";
    std::uint32_t seed_ = random_seed();
    std::mt19937 random_{seed_};
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
};

/// 24 resource blocks at 30 kHz in 11.52 Msps, 64QAM, without fading: what differs is the recorder's doing.
inline phy::apps::Recording::Config still_recording(std::uint64_t seed, std::uint64_t slots) {
    phy::apps::Recording::Config config = plain_recording();
    config.channel = {};
    config.antennas = 1;
    config.snr_db = 36.0;
    config.slots = slots;
    config.seed = seed;
    config.frequency_offset = 0.0;
    return config;
}

inline double loss_db(const phy::Reception& done, const phy::Reception& ideal) {
    return 20.0 * std::log10(done.mean.evm / ideal.mean.evm);
}

}  // namespace phy_test
