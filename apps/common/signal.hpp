#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/phy.hpp"

namespace phy::apps {

/// Large signals repeat after this number of symbols.
inline constexpr std::size_t signal_stretch = 1 << 20;

/// Random symbols with white Gaussian noise, in any sample format.
struct Signal {
    SampleFormat format;
    std::vector<std::byte> samples;
    std::vector<float> noise_per_symbol;  ///< within 1 dB of noise_variance
    float noise_variance;
    FullScale full_scale;  ///< floats ignore it
    std::size_t symbols;

    Signal(Modulation modulation, SampleFormat sample_format, double snr_db, std::size_t count);

    [[nodiscard]] SymbolView view() const { return {format, samples}; }
};

/// Fills the target with the values, repeated.
void fill_repeating(std::span<std::byte> target, std::span<const std::byte> values);

/// How the signal is demapped.
SoftDemapStage::Config stage_config(Modulation modulation, const Signal& signal, SoftBitFormat output);

/// A typical SNR of the modulation, in dB: soft bits are neither all saturated nor all noise.
double working_snr(Modulation modulation);

std::vector<std::uint8_t> random_bits(std::size_t count);

}  // namespace phy::apps
