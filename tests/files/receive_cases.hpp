#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "phy/files/receive.hpp"
#include "receiver/transmission.hpp"

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

}  // namespace phy_test
