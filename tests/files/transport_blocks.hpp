#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "air_capture.hpp"
#include "phy/core/file_error.hpp"
#include "phy/files/receive.hpp"
#include "support/hdf5_file.hpp"
#include "support/temporary_directory.hpp"

namespace phy_test {

/// 8 slots of 64QAM in fading at 30 dB.
inline phy::apps::Recording::Config coded_recording() {
    phy::apps::Recording::Config config = plain_recording();
    config.link.coding = {.code_rate = 0.5, .redundancy_version = 0};
    return config;
}

/// 8 slots of 64QAM in fading at 30 dB, with all parts.
inline phy::apps::Recording::Config uci_recording() {
    phy::apps::Recording::Config config = plain_recording();
    config.link.coding = {.code_rate = 0.4,
                          .uci = phy::LinkUci{.ack_bits = 5, .csi1_bits = 4, .csi2_bits = 20}};
    return config;
}

/// 8 slots of two layers of 16QAM or 64QAM on two antennas in fading, at an SNR where some blocks fail.
inline phy::apps::Recording::Config two_layers(std::mt19937& random) {
    phy::apps::Recording::Config config = plain_recording();
    config.link.allocation.dmrs.ports = {0, 1};
    config.link.coding = {.code_rate = 0.6};
    const bool is_qam64 = random() % 2 == 0;
    config.link.modulation = is_qam64 ? phy::Modulation::qam64 : phy::Modulation::qam16;
    config.snr_db = (is_qam64 ? 18.0 : 12.0) + static_cast<double>(random() % 4);
    config.channel.delay_spread_ns = 300.0;
    config.seed = random();
    return config;
}

class TransportBlocks : public testing::Test {
protected:
    phy::Reception received(const AirCapture& capture, const phy::Link& link,
                            const phy::ReceiveOptions& options = {}) {
        capture.write(input_, link);
        phy::ReceiveOptions with = options;
        with.overwrite = true;
        return receive_file(input_, output_, with);
    }

    /// None if the recording has no DM-RS that can be found, as in a deep fade of all its slots.
    std::optional<phy::Reception> received_if_found(const AirCapture& capture, const phy::Link& link) {
        try {
            return received(capture, link);
        } catch (const phy::FileError& error) {
            EXPECT_NE(std::string_view(error.what()).find("DM-RS"), std::string_view::npos) << error.what();
            return {};
        }
    }

    [[nodiscard]] std::vector<std::byte> written(const std::string& dataset) const {
        return phy::test::read_dataset(output_, dataset);
    }

    TemporaryDirectory folder_;
    std::filesystem::path input_ = folder_ / "capture.h5";
    std::filesystem::path output_ = folder_ / "out.h5";
};

}  // namespace phy_test
