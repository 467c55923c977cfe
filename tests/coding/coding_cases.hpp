#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/coding/transport_decoder.hpp"
#include "phy/coding/transport_encoder.hpp"
#include "phy/core/error.hpp"
#include "support/random_allocation.hpp"

namespace phy_test {

/// Bytes of a linear congruential generator, which other programs can repeat.
inline std::vector<std::uint8_t> payload_of(std::size_t bits, std::uint32_t seed) {
    std::vector<std::uint8_t> payload(bits / 8);
    for (std::uint8_t& byte : payload) {
        seed = seed * 1664525 + 1013904223;
        byte = static_cast<std::uint8_t>(seed >> 24U);
    }
    return payload;
}

/// Sizes, code rates, modulations and layers of all kinds; some with a limited buffer.
inline phy::TransportBlockConfig random_block(std::mt19937& random, std::size_t max_size = 40'000) {
    while (true) {
        phy::TransportBlockConfig config;
        const double size = std::exp(
            std::uniform_real_distribution<>(2.0, std::log(static_cast<double>(max_size) / 8.0))(random));
        config.size = 8 * static_cast<std::size_t>(size);
        config.code_rate = std::uniform_real_distribution<>(0.08, 0.93)(random);
        config.modulation = phy::all_modulations[static_cast<std::size_t>(random_int(random, 0, 5))];
        config.layers = random_int(random, 1, 4);
        const std::size_t unit =
            static_cast<std::size_t>(config.layers) * phy::bits_per_symbol(config.modulation);
        const auto coded = static_cast<std::size_t>(static_cast<double>(config.size) / config.code_rate);
        config.coded_bits = (coded / unit + 1) * unit;
        if (random_int(random, 0, 3) == 0)
            config.limited_buffer = config.size + static_cast<std::size_t>(random_int(random, 0, 60'000));
        try {
            static_cast<void>(phy::code_blocks(config));
            return config;
        } catch (const phy::ArgumentError&) {
            // Sizes that TS 38.214 does not have.
        }
    }
}

inline std::string text_of(const phy::TransportBlockConfig& config) {
    return "size " + std::to_string(config.size) + ", code rate " + std::to_string(config.code_rate) +
           ", coded bits " + std::to_string(config.coded_bits) + ", " +
           std::string(to_string(config.modulation)) + ", layers " + std::to_string(config.layers) +
           ", limited buffer " + std::to_string(config.limited_buffer.value_or(0));
}

/// LLRs of bits that were sent as +1 and -1 with real noise of N0 / 2, in nats.
inline std::vector<float> received(std::span<const std::uint8_t> bits, double n0, std::mt19937& random) {
    std::normal_distribution<double> noise(0.0, std::sqrt(n0 / 2));
    std::vector<float> llr;
    for (const std::uint8_t bit : bits)
        llr.push_back(static_cast<float>(4.0 / n0 * ((bit != 0 ? -1.0 : 1.0) + noise(random))));
    return llr;
}

/// N0 for `margin_db` above the capacity of real Gaussian symbols.
inline double n0_for(const phy::TransportBlockConfig& config, double margin_db) {
    const double rate = static_cast<double>(config.size) / static_cast<double>(config.coded_bits);
    return 2.0 / ((std::exp2(2.0 * rate) - 1.0) * std::pow(10.0, margin_db / 10.0));
}

/// N0 half a decibel below the noise at which blocks of base graph 1 begin to fail:
/// data/results/decoder_losses.json.
inline double n0_above_threshold(double code_rate) {
    const double snr_db = code_rate < 0.6 ? -1.7 : code_rate < 0.8 ? 1.4 : 3.8;
    return std::pow(10.0, -snr_db / 10.0);
}

/// As int8 in steps of LlrConfig::scale.
inline std::vector<std::int8_t> in_steps(std::span<const float> llr, float scale = 6.0F) {
    std::vector<std::int8_t> steps;
    for (const float value : llr)
        steps.push_back(static_cast<std::int8_t>(std::clamp(std::nearbyint(value * scale), -127.0F, 127.0F)));
    return steps;
}

}  // namespace phy_test
