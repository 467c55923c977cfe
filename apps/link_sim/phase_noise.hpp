#pragma once

#include <span>
#include <vector>

#include "common/random.hpp"
#include "phy/phy.hpp"

namespace phy::apps {

/// The phase of an oscillator, which all antennas share: a random walk, whose phase noise falls by 20 dB per
/// decade, as that of a free-running oscillator does.
class PhaseNoise {
public:
    struct Config {
        double level = -100.0;     ///< dBc/Hz of one sideband, 10 kHz from the carrier
        double sample_rate = 0.0;  ///< Hz
    };

    explicit PhaseNoise(const Config& config);

    /// Draws exp(j phase) of samples in a row; the first has phase 0.
    void draw(const RandomSequence& random, std::span<cf32> rotations) const;

private:
    double step_;  ///< rad, rms from a sample to the next
};

/// Resource grids behind an oscillator: back to samples, which it rotates, and to the grid again.
class OscillatorGrid {
public:
    /// level as in PhaseNoise.
    OscillatorGrid(const Host& host, const SlotAllocation& allocation, double subcarrier_spacing,
                   int antennas, double level);

    /// grid: (antennas, symbols, subcarriers) of a slot.
    void pass(std::span<cf32> grid, const RandomSequence& random);

private:
    OfdmModulator modulate_;
    OfdmDemodulator demodulate_;
    PhaseNoise noise_;
    std::vector<cf32> rotations_;  ///< of a slot
    std::vector<cf32> samples_;    ///< (antennas, samples)
};

}  // namespace phy::apps
