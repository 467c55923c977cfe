#pragma once

#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "capture_gen/recording.hpp"

/// Recordings of links in fading, for receive_file().
namespace phy_test {

/// A recording in memory, to be spoiled.
struct AirCapture {
    explicit AirCapture(const phy::apps::Recording::Config& config);

    /// Per antenna.
    [[nodiscard]] std::size_t length() const { return data.size() / static_cast<std::size_t>(sent.antennas); }

    /// Writes it with this link as its attribute.
    void write(const std::filesystem::path& file, const phy::Link& link) const;

    phy::apps::Recording::Config sent;
    std::vector<phy::cf32> data;                 ///< (antennas, samples or resource elements)
    std::vector<std::uint8_t> codewords;         ///< (slots, G)
    std::vector<std::uint8_t> transport_blocks;  ///< (slots, A / 8); empty without coding
    std::vector<std::uint8_t> uci;               ///< of all slots; see UciEncoder::sent()
};

/// One layer of 64QAM on two antennas, 24 resource blocks, f0 of 3.5 GHz, TDL-A of 30 ns, 30 dB: 8 slots of
/// samples.
phy::apps::Recording::Config plain_recording();

/// Any right link: samples or grid, numerology, carrier, allocation, layers, antennas, DM-RS, PT-RS,
/// modulation, TDL-A, -B or -C or some paths within half a prefix, offsets.
phy::apps::Recording::Config random_recording(std::mt19937& random, double snr_db);

/// The same of one layer with transform precoding and PT-RS.
phy::apps::Recording::Config precoded_recording(std::mt19937& random, double snr_db);

}  // namespace phy_test
