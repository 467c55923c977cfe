#pragma once

#include <optional>
#include <random>

#include "demapper/signals.hpp"
#include "phy/demapper/demapper.hpp"

/// Symbols of any amplitude and their expected soft bits, independent of the library.
namespace phy_test {

inline constexpr unsigned gain_seed = 2718;

struct GainCase {
    float gain = 1.0F;
    std::optional<float> full_scale = {};
};

inline constexpr GainCase gain_cases[] = {
    {.gain = 3.0F},
    {.gain = 0.01F},
    {.gain = 100.0F, .full_scale = 8192.0F},
    {.gain = 0x1p-40F, .full_scale = 33.3F},
    {.gain = 0x1p40F},
};

/// Random bits: floats include every kind of NaN, infinities and all magnitudes. A third of the others are
/// near the gain.
inline Bytes stored_symbols(phy::SampleFormat format, std::size_t count, float gain) {
    std::mt19937 random(gain_seed);
    Bytes bytes(count * size_of(format));
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random() >> 24U);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float special[] = {infinity,
                             std::numeric_limits<float>::quiet_NaN(),
                             -std::numeric_limits<float>::denorm_min(),
                             std::numeric_limits<float>::max(),
                             std::numeric_limits<float>::min(),
                             -0.0F,
                             0.7F * gain,
                             -1.3F * gain,
                             0.1F * gain};
    std::size_t n = 0;
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 12, ++n) {
        const float value = special[n % std::size(special)];
        const phy::half halves[] = {phy::half(value), phy::half(-value)};
        if (format == phy::SampleFormat::cf32) std::memcpy(&bytes[at], &value, sizeof value);
        if (format == phy::SampleFormat::cf16) std::memcpy(&bytes[at], halves, sizeof halves);
    }
    return bytes;
}

/// Symbols of unit amplitude. Components that are not finite, or become so, are NaN.
inline std::vector<phy::cf32> divided(phy::SampleFormat format, const Bytes& stored, const GainCase& by) {
    const bool is_integer = format == phy::SampleFormat::ci16 || format == phy::SampleFormat::ci8;
    const double of_format = format == phy::SampleFormat::ci16 ? 32768.0 : 128.0;
    const double full_scale = !is_integer ? 1.0 : double{by.full_scale.value_or(of_format)};
    const auto factor = static_cast<float>(1.0 / (full_scale * double{by.gain}));
    std::vector<float> components;
    for (std::size_t i = 0; i < 2 * stored.size() / size_of(format); ++i) {
        // Exact in binary64, so rounded once.
        const auto product = static_cast<float>(component(format, stored, i, 1.0) * double{factor});
        components.push_back(std::isfinite(product) ? product : std::numeric_limits<float>::quiet_NaN());
    }
    std::vector<phy::cf32> symbols(components.size() / 2);
    for (std::size_t i = 0; i < symbols.size(); ++i)
        symbols[i] = {components[2 * i], components[2 * i + 1]};
    return symbols;
}

/// Configurations with different kernels.
inline std::vector<phy::DemapperConfig> gain_demappers() {
    using phy::Modulation;
    std::vector<phy::DemapperConfig> configs;
    for (const Modulation modulation : {Modulation::pi2_bpsk, Modulation::qpsk, Modulation::qam256})
        configs.push_back({.modulation = modulation});
    for (const phy::Evaluator evaluator : {phy::Evaluator::arithmetic, phy::Evaluator::table})
        configs.push_back({.modulation = Modulation::qam64,
                           .llr = {.method = phy::Method::log_map, .evaluator = evaluator}});
    return configs;
}

inline phy::DemapperConfig with_gain(phy::DemapperConfig config, const GainCase& gain) {
    config.gain = gain.gain;
    if (gain.full_scale) config.full_scale = *gain.full_scale;
    return config;
}

struct GainResult {
    Bytes llr;
    phy::DemapCounters counters;
};

/// The soft bits of divided symbols, by the scalar reference.
inline GainResult expected_by_gain(const phy::DemapperConfig& config, std::span<const phy::cf32> symbols,
                                   phy::NoiseVariance noise, phy::SoftBitFormat output) {
    GainResult result{Bytes(symbols.size() * bits_per_symbol(config.modulation) * size_of(output)), {}};
    phy::SoftDemapper demap(scalar_host(), config);
    demap(symbols, noise, phy::SoftBitSpan(output, result.llr), 0, &result.counters);
    return result;
}

inline std::string text_of(const phy::DemapperConfig& config, const GainCase& gain,
                           phy::SoftBitFormat output) {
    return std::string(to_string(config.modulation)) + ", " + std::string(to_string(config.llr.method)) +
           ", " + std::string(to_string(config.llr.evaluator)) + ", gain " + std::to_string(gain.gain) +
           ", to " + std::string(to_string(output)) + ", seed " + std::to_string(gain_seed);
}

}  // namespace phy_test
