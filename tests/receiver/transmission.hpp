#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "phy/phy.hpp"
#include "phy/receiver/receiver.hpp"

/// Codewords sent by phy's transmitter through a test channel.
namespace phy_test {

/// The channel of a signal.
struct AirConfig {
    double snr_db = 40.0;           ///< power of all layers at an antenna over the noise there
    double frequency_offset = 0.0;  ///< Hz
    int delay = 0;                  ///< samples; positive: the signal arrives late
    int taps = 3;                   ///< of the channel, a sample or two apart
    double delay_spread = 80e-9;    ///< s, for grids
    unsigned seed = 1;
};

/// Some occasions of a link, as received.
struct Transmission {
    std::vector<phy::cf32> input = {};    ///< (slots, antennas, input per slot)
    std::vector<std::uint8_t> bits = {};  ///< (slots, G), before scrambling
    std::vector<phy::cf32> symbols = {};  ///< (slots, data elements, layers), before transform precoding
    std::vector<phy::cf32> channel = {};  ///< for grids: (antennas, layers, subcarriers)
    std::size_t slots = 0;
};

/// Transmits the slots of occasions first to first + count - 1.
Transmission transmit(const phy::ReceiverConfig& config, const AirConfig& air, std::uint64_t first,
                      std::size_t count);

/// Turns the input, (slots, antennas, ...), by a random walk over the OFDM symbols of each slot, which all
/// antennas share. step: rad, rms.
void turn(const phy::ReceiverConfig& config, double step, unsigned seed, Transmission& sent);

/// Converts to integers and returns their full scale, which leaves 12 dB above the rms.
template <typename Integer>
std::vector<Integer> to_integers(const std::vector<phy::cf32>& input, phy::FullScale& full_scale);

/// A link for tests to change: 30 kHz, 25 resource blocks, of which 24 are allocated.
phy::Link small_link();

/// Sets the sample rate of a small FFT for the link's carrier.
void give_samples(phy::Link& link, double center_frequency = 3.5e9);

/// Number of hard decisions that differ from the bits.
std::size_t count_errors(phy::SoftBitView llr, const std::vector<std::uint8_t>& bits);

}  // namespace phy_test
