#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "transmission/channel_model.hpp"

namespace phy::apps {

/// What happens to a slot between transmitter and receiver. Coefficients are floats (antennas, layers, 2,
/// subcarriers), as those of SlotEstimate. Their mean power is 1 for each antenna and layer. A slot has one
/// set of them: fading is constant in a slot and independent from slot to slot, antenna to antenna and layer
/// to layer. Without fading, layer v reaches antenna a with the phase -2 pi a v / antennas, so that layers
/// are orthogonal.
///
/// Offsets turn resource elements: in frequency by the delay, from symbol to symbol by the frequency offset.
/// What they let into a symbol from other symbols and subcarriers is left out.
class Channel {
public:
    struct Config {
        ChannelModel model;
        int antennas = 1;
        int layers = 1;
        int subcarriers = 0;
        double subcarrier_spacing = 30000.0;  ///< Hz
        double timing_offset = 0.0;           ///< s; positive: the signal comes late
        double frequency_offset = 0.0;        ///< Hz; positive: the signal is too high
    };

    explicit Channel(const Config& config);

    /// Floats of a slot's coefficients, and resource elements that its antennas receive.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t received_size() const;

    /// Draws the coefficients of a slot.
    void draw(const RandomSequence& random, std::span<float> coefficients) const;

    /// By which the symbols of a slot are turned.
    [[nodiscard]] const std::array<cf32, symbols_per_slot>& phase() const { return phase_; }

    /// What the antennas receive. sent: (layers, symbols, subcarriers); received: (antennas, symbols,
    /// subcarriers), with noise of that variance at each antenna.
    void pass(std::span<const cf32> sent, std::span<const float> coefficients, double noise_variance,
              const RandomSequence& random, std::span<cf32> received) const;

private:
    Config config_;
    std::vector<double> amplitudes_;  ///< of taps
    std::vector<double> turns_;       ///< (taps, 2, subcarriers): what a tap's delay does
    std::array<cf32, symbols_per_slot> phase_ = {};
};

/// White Gaussian noise of that variance: elements first, first + 1 ... of the sequence.
void draw_noise(const RandomSequence& random, std::uint64_t first, double noise_variance,
                std::span<cf32> noise);

}  // namespace phy::apps
