#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/mapper/mapper.hpp"

/// Captures of known gain and noise.
namespace phy_test {

struct MadeCapture {
    phy::Modulation modulation = phy::Modulation::qam256;
    phy::SampleFormat format = phy::SampleFormat::cf32;
    std::uint64_t symbols = 100'003;
    double amplitude = 1.0;
    double snr_db = 30.0;
    unsigned seed = 1;
    bool bits = true;
    bool per_symbol_noise = false;
    std::size_t not_a_number = 0;  ///< number of symbols set to NaN, at equal distances
    /// Changes a received symbol, given its index.
    std::function<std::complex<double>(std::complex<double>, std::uint64_t)> fault = {};

    [[nodiscard]] double noise_variance() const { return std::pow(10.0, -snr_db / 10.0); }

    [[nodiscard]] std::string text() const {
        return std::string(to_string(modulation)) + " in " + std::string(to_string(format)) + ", amplitude " +
               std::to_string(amplitude) + ", " + std::to_string(snr_db) + " dB, seed " +
               std::to_string(seed);
    }
};

/// The full scale for which integers with an rms of a fourth of their range have the given amplitude.
inline double integers_of_rms(phy::SampleFormat format) {
    return format == phy::SampleFormat::ci8 ? 32.0 : 8192.0;
}

template <typename Integer>
Integer to_integer(double value) {
    using Limits = std::numeric_limits<Integer>;
    return static_cast<Integer>(std::clamp<double>(std::nearbyint(value), Limits::min(), Limits::max()));
}

inline void append_as(phy::CaptureWriter& writer, const MadeCapture& made, std::vector<phy::cf32> symbols) {
    const bool is_integer = phy::default_full_scale(made.format) != 1.0F;
    const auto scale = static_cast<float>(is_integer ? integers_of_rms(made.format) : made.amplitude);
    for (phy::cf32& symbol : symbols)
        symbol *= scale;
    phy::with_constant(made.format, [&](auto format) {
        using Sample = phy::SampleOf<format()>;
        std::vector<Sample> samples;
        for (const phy::cf32 symbol : symbols) {
            if constexpr (format() == phy::SampleFormat::cf32) {
                samples.push_back(symbol);
            } else if constexpr (format() == phy::SampleFormat::cf16) {
                samples.push_back({phy::half(symbol.real()), phy::half(symbol.imag())});
            } else {
                using Integer = phy::ComponentOf<format()>;
                samples.push_back({to_integer<Integer>(symbol.real()), to_integer<Integer>(symbol.imag())});
            }
        }
        writer.append(samples);
    });
}

/// Writes the capture; overwrites an existing file.
inline void make_capture(const std::filesystem::path& file, const MadeCapture& made) {
    std::mt19937 random(made.seed);
    std::vector<std::uint8_t> bits(made.symbols * bits_per_symbol(made.modulation));
    for (std::uint8_t& bit : bits)
        bit = static_cast<std::uint8_t>(random() >> 31U);
    std::vector<phy::cf32> symbols(made.symbols);
    const phy::Mapper map(phy::Host(), {.modulation = made.modulation});
    map(bits, symbols);
    std::normal_distribution<float> noise(0.0F, static_cast<float>(std::sqrt(made.noise_variance() / 2)));
    for (phy::cf32& symbol : symbols)
        symbol += phy::cf32(noise(random), noise(random));
    for (std::size_t n = 0; made.fault && n < symbols.size(); ++n)
        symbols[n] = phy::cf32(made.fault(std::complex<double>(symbols[n]), n));
    for (std::size_t n = 0; n < made.not_a_number; ++n)
        symbols[n * (made.symbols / made.not_a_number)] *= std::numeric_limits<float>::quiet_NaN();

    const bool is_integer = phy::default_full_scale(made.format) != 1.0F;
    const std::optional<double> full_scale =
        is_integer ? std::optional(integers_of_rms(made.format) / made.amplitude) : std::nullopt;
    phy::CaptureWriter writer(file, {.symbols = made.symbols,
                                     .format = made.format,
                                     .modulation = made.modulation,
                                     .full_scale = full_scale,
                                     .noise_per_symbol = made.per_symbol_noise,
                                     .bits = made.bits,
                                     .overwrite = true});
    append_as(writer, made, symbols);
    if (made.per_symbol_noise)
        writer.append_noise(std::vector<float>(made.symbols, static_cast<float>(made.noise_variance())));
    if (made.bits) writer.append_bits(bits);
    writer.commit();
}

}  // namespace phy_test
