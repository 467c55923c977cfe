#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/files/receive.hpp"
#include "receiver/transmission.hpp"
#include "support/hdf5_file.hpp"
#include "support/temporary_directory.hpp"

/// Recordings in files, for receive_file().
namespace phy_test {

/// A recording of neighbouring slots.
struct Recording {
    phy::ReceiverConfig config = {};
    std::vector<phy::cf32> data = {};          ///< (antennas, samples or resource elements)
    std::vector<std::uint8_t> codewords = {};  ///< (slots, G)
    std::size_t slots = 0;

    [[nodiscard]] std::size_t length() const {
        return data.size() / static_cast<std::size_t>(config.antennas);
    }

    /// Inserts samples of noise before each antenna's first.
    void delay(std::size_t samples);
    /// Removes the last samples of each antenna.
    void cut(std::size_t samples);
    /// Rotates sample t by 2 pi t hertz / rate.
    void shift(double hertz);

    /// Writes the attribute link unless it is empty.
    void write(const std::filesystem::path& file, const std::string& link) const;
};

/// 256QAM, 2 layers, 4 antennas: slots from the link's first on, each with the allocation.
Recording record(phy::ReceiverInput input, std::size_t slots, const AirConfig& air = {});
Recording record(const phy::ReceiverConfig& config, std::size_t slots, const AirConfig& air = {});
phy::ReceiverConfig recorded_config(phy::ReceiverInput input);

class ReceiveFile : public testing::Test {
protected:
    /// Writes and receives, by the recording's own link.
    phy::Reception receive(const Recording& recording, const phy::ReceiveOptions& options = {}) {
        recording.write(capture(), to_json(recording.config.link));
        phy::ReceiveOptions with = options;
        with.overwrite = true;
        return phy::receive_file(capture(), output(), with);
    }

    /// What receive_file() says of a file that it does not take.
    std::string error_of(const phy::ReceiveOptions& options = {}) {
        try {
            phy::receive_file(capture(), output(), options);
        } catch (const phy::Error& error) {
            EXPECT_FALSE(std::filesystem::exists(output())) << error.what();
            return error.what();
        }
        return "no error";
    }

    [[nodiscard]] std::filesystem::path capture() const { return folder_ / "capture.h5"; }
    [[nodiscard]] std::filesystem::path output() const { return folder_ / "softbits.h5"; }
    [[nodiscard]] std::vector<std::byte> written(const std::string& dataset) const {
        return phy::test::read_dataset(output(), dataset);
    }

private:
    TemporaryDirectory folder_;
};

class ReceiveFileOf : public ReceiveFile, public testing::WithParamInterface<phy::ReceiverInput> {};

}  // namespace phy_test
