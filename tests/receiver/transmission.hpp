#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "phy/phy.hpp"
#include "phy/receiver/receiver.hpp"

/// Codewords on their way to a receiver: sent by phy's transmitter, through a channel that is made here.
namespace phy_test {

/// What a signal has gone through when it is received.
struct AirConfig {
    double snr_db = 40.0;           ///< power of all layers at an antenna over that of its noise
    double frequency_offset = 0.0;  ///< Hz
    int delay = 0;                  ///< samples that the signal comes late
    int taps = 3;                   ///< of the channel, a sample or two apart
    double delay_spread = 80e-9;    ///< s, of grids
    unsigned seed = 1;
};

/// Some occasions of a link's schedule, as antennas receive them.
struct Transmission {
    std::vector<phy::cf32> input = {};    ///< (slots, antennas, input of a slot)
    std::vector<std::uint8_t> bits = {};  ///< (slots, G), before scrambling
    std::vector<phy::cf32> symbols = {};  ///< (slots, data elements, layers), before transform precoding
    std::vector<phy::cf32> channel = {};  ///< of grids: (antennas, layers, subcarriers)
    std::size_t slots = 0;
};

/// Transmits all slots that hold occasions first to first + count - 1, one after another.
Transmission transmit(const phy::ReceiverConfig& config, const AirConfig& air, std::uint64_t first,
                      std::size_t count);

/// Integers whose full scale is given back: that which leaves 12 dB above the rms.
template <typename Integer>
std::vector<Integer> to_integers(const std::vector<phy::cf32>& input, float& full_scale);

/// A link that the tests change: 30 kHz, 25 resource blocks 24 of which are the allocation's.
phy::Link small_link();

/// The sample rate that small FFTs of the link's carrier take.
void give_samples(phy::Link& link, double center_frequency = 3.5e9);

/// Hard decisions that differ from the bits.
std::size_t count_errors(phy::SoftBitView llr, const std::vector<std::uint8_t>& bits);

}  // namespace phy_test
