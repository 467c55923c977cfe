#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/random.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "transmission/channel_model.hpp"

namespace phy::apps {

/// The channel between transmitter and receiver. Coefficients are floats, (moments, antennas, layers, 2,
/// subcarriers), as in SlotEstimate. Their mean power is 1 per antenna and layer. Fading is independent
/// between slots, antennas, layers and taps. Within a slot it is constant, or with a Doppler shift that of
/// Jakes' spectrum (J0) at the OFDM symbols. Without fading, layer v reaches antenna a with the phase
/// -2 pi a v / antennas, so layers are orthogonal.
///
/// Offsets rotate resource elements: a delay over frequency, a frequency offset from symbol to symbol.
/// Interference from other symbols and subcarriers is not modelled.
class Channel {
public:
    struct Config {
        ChannelModel model;
        int antennas = 1;
        int layers = 1;
        int subcarriers = 0;
        double subcarrier_spacing = 30000.0;  ///< Hz
        double timing_offset = 0.0;           ///< s; positive: the signal arrives late
        double frequency_offset = 0.0;        ///< Hz; positive: the signal is too high in frequency
        double doppler = 0.0;                 ///< Hz, max shift of paths that fade
    };

    explicit Channel(const Config& config);

    /// Coefficients of a slot in time: one, or with a Doppler shift one per OFDM symbol.
    [[nodiscard]] int moments() const;

    /// Number of floats in a slot's coefficients, and of resource elements that its antennas receive.
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] std::size_t received_size() const;

    /// Draws the coefficients of a slot.
    void draw(const RandomSequence& random, std::span<float> coefficients) const;

    /// The rotation of each symbol of a slot.
    [[nodiscard]] const std::array<cf32, symbols_per_slot>& phase() const { return phase_; }

    /// Passes a slot to the antennas. sent: (layers, symbols, subcarriers); received: (antennas, symbols,
    /// subcarriers), with noise of the given variance at each antenna.
    void pass(std::span<const cf32> sent, std::span<const float> coefficients, double noise_variance,
              const RandomSequence& random, std::span<cf32> received) const;

private:
    /// The gains of one antenna and layer, (moments, taps), from the numbers drawn from `next` on.
    void draw_gains(const RandomSequence& random, std::uint64_t next,
                    std::span<std::complex<double>> gains) const;
    /// Their sum over taps, (2, subcarriers).
    void sum_taps(std::span<const std::complex<double>> gains, std::span<double> sum) const;

    Config config_;
    std::vector<double> mixing_;  ///< (moments, moments): makes independent numbers those of a tap in time
    std::vector<double> amplitudes_;  ///< per tap
    std::vector<double> turns_;       ///< (taps, 2, subcarriers): the phases of each tap's delay
    std::array<cf32, symbols_per_slot> phase_ = {};
};

/// White Gaussian noise of the given variance: elements first, first + 1 ... of the sequence.
void draw_noise(const RandomSequence& random, std::uint64_t first, double noise_variance,
                std::span<cf32> noise);

}  // namespace phy::apps
