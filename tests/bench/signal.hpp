#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/phy.hpp"

namespace phy::bench {

/// Random symbols with white Gaussian noise, in any sample format. Large signals repeat a stretch of a
/// million symbols: longer than any cache, so memory sees no difference.
struct Signal {
    SampleFormat format;
    std::vector<std::byte> samples;
    std::vector<float> noise_per_symbol;  ///< within 1 dB of noise_variance
    float noise_variance;
    float full_scale;
    std::size_t symbols;

    Signal(Modulation modulation, SampleFormat sample_format, double snr_db, std::size_t count);

    [[nodiscard]] SymbolView view() const { return {format, samples.data(), symbols}; }
};

std::vector<std::uint8_t> random_bits(std::size_t count);

}  // namespace phy::bench
