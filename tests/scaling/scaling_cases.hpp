#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "phy/scaling/scaler.hpp"

/// Symbols to scale, and what they should become by arithmetic that shares nothing with the library.
namespace phy_test {

using ScalingConfig = phy::SymbolScaler::Config;

inline constexpr unsigned scaling_seed = 2718;

inline constexpr ScalingConfig scaling_configs[] = {
    {},
    {.gain = 0.01F},
    {.gain = 100.0F, .full_scale = 8192.0F},
    {.gain = 0x1p-40F, .full_scale = 33.3F},
    {.gain = 0x1p40F},
};

/// Any bits: NaN of every kind, infinities and numbers of every magnitude are among those of floats, a third
/// of which are numbers near 1.
inline std::vector<std::byte> stored_symbols(phy::SampleFormat format, std::size_t count) {
    std::mt19937 random(scaling_seed);
    std::vector<std::byte> bytes(count * size_of(format));
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random() >> 24U);
    constexpr float special[] = {std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN(),
                                 -std::numeric_limits<float>::denorm_min(),
                                 std::numeric_limits<float>::max(),
                                 std::numeric_limits<float>::min(),
                                 -0.0F,
                                 0.7F,
                                 -1.3F};
    std::size_t n = 0;
    for (std::size_t at = 0; at + 4 <= bytes.size(); at += 12, ++n) {
        const float value = special[n % std::size(special)];
        const phy::half halves[] = {phy::half(value), phy::half(-value)};
        if (format == phy::SampleFormat::cf32) std::memcpy(&bytes[at], &value, sizeof value);
        if (format == phy::SampleFormat::cf16) std::memcpy(&bytes[at], halves, sizeof halves);
    }
    return bytes;
}

template <typename Component>
double component_at(std::span<const std::byte> bytes, std::size_t index) {
    Component component;
    std::memcpy(&component, bytes.data() + index * sizeof component, sizeof component);
    return static_cast<double>(static_cast<float>(component));
}

/// The bits of what components become.
inline std::vector<std::uint32_t> expected_scaled(phy::SampleFormat format, std::span<const std::byte> stored,
                                                  const ScalingConfig& config) {
    const bool is_integer = format == phy::SampleFormat::ci16 || format == phy::SampleFormat::ci8;
    const double of_format = format == phy::SampleFormat::ci16 ? 32768.0 : 128.0;
    const double full_scale = !is_integer ? 1.0 : config.full_scale == 0.0F ? of_format : config.full_scale;
    const auto factor = static_cast<float>(1.0 / (full_scale * double{config.gain}));
    std::vector<std::uint32_t> bits;
    for (std::size_t i = 0; i < 2 * stored.size() / size_of(format); ++i) {
        const double component = phy::with_constant(
            format, [&](auto constant) { return component_at<phy::ComponentOf<constant()>>(stored, i); });
        // Exact in binary64, and so rounded once.
        const auto product = static_cast<float>(component * double{factor});
        bits.push_back(std::isfinite(product) ? std::bit_cast<std::uint32_t>(product) : 0x7FC00000U);
    }
    return bits;
}

inline std::vector<std::uint32_t> bits_of(std::span<const phy::cf32> symbols) {
    std::vector<std::uint32_t> bits(2 * symbols.size());
    if (!bits.empty()) std::memcpy(bits.data(), symbols.data(), symbols.size_bytes());
    return bits;
}

}  // namespace phy_test
