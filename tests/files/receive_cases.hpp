#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "phy/files/receive.hpp"
#include "receiver/transmission.hpp"

/// Recordings in files, as receive_file() takes them.
namespace phy_test {

/// A recording of neighbouring slots, and the file that it goes to.
struct Recording {
    phy::ReceiverConfig config = {};
    std::vector<phy::cf32> data = {};          ///< (antennas, samples or resource elements)
    std::vector<std::uint8_t> codewords = {};  ///< (slots, G)
    std::size_t slots = 0;

    [[nodiscard]] std::size_t length() const {
        return data.size() / static_cast<std::size_t>(config.antennas);
    }

    /// Puts so many samples of noise before each antenna's first.
    void delay(std::size_t samples);
    /// Leaves out the last ones of each antenna.
    void cut(std::size_t samples);
    /// Turns sample t by 2 pi t hertz / rate.
    void shift(double hertz);

    /// With an attribute link unless that is empty.
    void write(const std::filesystem::path& file, const std::string& link) const;
};

/// 256QAM, 2 layers, 4 antennas: slots from the link's first slot on, each with the allocation.
Recording record(phy::ReceiverInput input, std::size_t slots, const AirConfig& air = {});
Recording record(const phy::ReceiverConfig& config, std::size_t slots, const AirConfig& air = {});
phy::ReceiverConfig recorded_config(phy::ReceiverInput input);

}  // namespace phy_test
