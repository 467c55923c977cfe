#include "link_sim/phase_noise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace phy::apps {
namespace {

constexpr double offset = 10e3;  ///< Hz, of PhaseNoise::Config::level

OfdmConfig ofdm_of(const SlotAllocation& allocation, double subcarrier_spacing, int antennas) {
    const auto bins = std::max(128U, std::bit_ceil(static_cast<unsigned>(allocation.subcarriers())));
    return {.resource_blocks = allocation.carrier_resource_blocks,
            .subcarrier_spacing = subcarrier_spacing,
            .sample_rate = subcarrier_spacing * bins,
            .antennas = antennas};
}

}  // namespace

/// A walk with variance c t has the phase noise c / (2 pi f)^2 at f.
PhaseNoise::PhaseNoise(const Config& config)
    : step_(2.0 * std::numbers::pi * offset *
            std::sqrt(std::pow(10.0, config.level / 10.0) / config.sample_rate)) {}

void PhaseNoise::draw(const RandomSequence& random, std::span<cf32> rotations) const {
    double phase = 0.0;
    for (std::size_t i = 0; i < rotations.size(); ++i) {
        rotations[i] = cf32(std::polar(1.0, phase));
        phase += step_ * std::numbers::sqrt2 * random.gaussian(i).real();
    }
}

OscillatorGrid::OscillatorGrid(const Host& host, const SlotAllocation& allocation, double subcarrier_spacing,
                               int antennas, double level)
    : modulate_(host, ofdm_of(allocation, subcarrier_spacing, antennas)),
      demodulate_(host, {.ofdm = modulate_.config(), .window_offset = 0}),
      noise_({.level = level, .sample_rate = modulate_.config().sample_rate}),
      rotations_(modulate_.timing().slot_samples(0)),
      samples_(static_cast<std::size_t>(antennas) * rotations_.size()) {}

void OscillatorGrid::pass(std::span<cf32> grid, const RandomSequence& random) {
    modulate_(grid, {}, samples_);
    noise_.draw(random, rotations_);
    for (std::size_t i = 0; i < samples_.size(); ++i)
        samples_[i] *= rotations_[i % rotations_.size()];
    demodulate_(std::span<const cf32>(samples_), {}, grid);
}

}  // namespace phy::apps
