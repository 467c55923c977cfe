#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/compression/block_float.hpp"

/// Compressed resource blocks, and their expected values bit by bit, independent of the library.
namespace phy_test {

using Bytes = std::vector<std::byte>;

inline constexpr unsigned compression_seed = 1618;

inline std::string text_of(const phy::BlockFloatConfig& config) {
    return "width " + std::to_string(config.width) + (config.has_exponent ? "" : " without exponents") +
           ", full scale " + std::to_string(config.full_scale.value_for(phy::SampleFormat::ci16)) +
           ", seed " + std::to_string(compression_seed);
}

/// Every width, with and without exponents, and a full scale that is no power of two.
inline std::vector<phy::BlockFloatConfig> compression_configs() {
    std::vector<phy::BlockFloatConfig> all;
    for (int width = 1; width <= 16; ++width) {
        all.push_back({.width = width});
        all.push_back({.width = width, .has_exponent = false, .full_scale = 1000.0F});
    }
    return all;
}

inline std::size_t reference_block_bytes(const phy::BlockFloatConfig& config) {
    return static_cast<std::size_t>(24 * config.width / 8 + (config.has_exponent ? 1 : 0));
}

/// Random bytes, which are valid compressed blocks with all exponents and mantissas.
inline Bytes any_blocks(const phy::BlockFloatConfig& config, std::size_t blocks) {
    std::mt19937 random(compression_seed + static_cast<unsigned>(config.width));
    Bytes bytes(blocks * reference_block_bytes(config));
    for (std::byte& byte : bytes)
        byte = static_cast<std::byte>(random() >> 24U);
    // Blocks of the lowest and the highest mantissas.
    for (std::size_t block = 0; config.width > 1 && block + 1 < blocks; block += 7) {
        const std::size_t first = block * reference_block_bytes(config) + (config.has_exponent ? 1 : 0);
        for (int bit = 0; bit < 24 * config.width; ++bit) {
            const bool is_lowest = bit / config.width % 2 == 0;
            const bool is_first = bit % config.width == 0;
            const auto mask = static_cast<std::byte>(0x80 >> (bit % 8));
            std::byte& byte = bytes[first + static_cast<std::size_t>(bit / 8)];
            byte = is_lowest == is_first ? byte | mask : byte & ~mask;
        }
    }
    return bytes;
}

/// mantissa x 2^exponent of every component.
inline std::vector<long long> expected_values(const phy::BlockFloatConfig& config,
                                              std::span<const std::byte> compressed) {
    std::vector<long long> values;
    const std::size_t block_bytes = reference_block_bytes(config);
    for (std::size_t block = 0; block < compressed.size() / block_bytes; ++block) {
        std::vector<int> bits;
        for (std::size_t i = 0; i < block_bytes; ++i) {
            for (int bit = 7; bit >= 0; --bit)
                bits.push_back((std::to_integer<int>(compressed[block * block_bytes + i]) >> bit) % 2);
        }
        std::size_t at = 0;
        long long power = 1;
        if (config.has_exponent) {
            const int exponent = 8 * bits[4] + 4 * bits[5] + 2 * bits[6] + bits[7];
            for (int i = 0; i < exponent; ++i)
                power *= 2;
            at = 8;
        }
        for (int component = 0; component < 24; ++component) {
            long long mantissa = -bits[at++];
            for (int bit = 1; bit < config.width; ++bit)
                mantissa = 2 * mantissa + bits[at++];
            values.push_back(mantissa * power);
        }
    }
    return values;
}

inline Bytes expected_elements(const phy::BlockFloatConfig& config, std::span<const std::byte> compressed,
                               phy::SampleFormat format) {
    Bytes elements;
    const auto append = [&](auto component) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(&component);
        elements.insert(elements.end(), bytes, bytes + sizeof component);
    };
    const double full_scale{config.full_scale.value_for(phy::SampleFormat::ci16)};
    const auto unit = static_cast<float>(1.0 / full_scale);
    for (const long long value : expected_values(config, compressed)) {
        if (format == phy::SampleFormat::ci16)
            append(static_cast<std::int16_t>(std::min(32767LL, std::max(-32768LL, value))));
        else  // exact in binary64, so rounded once
            append(static_cast<float>(static_cast<double>(value) * double{unit}));
    }
    return elements;
}

/// Tries exponents from 0 on until all mantissas fit.
inline Bytes expected_compressed(const phy::BlockFloatConfig& config, std::span<const int> components) {
    const double lowest = -std::pow(2.0, config.width - 1);
    const double highest = -lowest - 1.0;
    Bytes bytes;
    for (std::size_t block = 0; block + 24 <= components.size(); block += 24) {
        int exponent = 0;
        const auto mantissa = [&](std::size_t i) {
            return std::floor(components[block + i] / std::pow(2.0, exponent));
        };
        const auto fits = [&](std::size_t i) { return mantissa(i) >= lowest && mantissa(i) <= highest; };
        for (std::size_t i = 0; config.has_exponent && i < 24; ++i) {
            while (!fits(i))
                ++exponent;
        }
        if (config.has_exponent) bytes.push_back(static_cast<std::byte>(exponent));
        std::vector<bool> bits;
        for (std::size_t i = 0; i < 24; ++i) {
            auto rest = static_cast<long long>(std::min(highest, std::max(lowest, mantissa(i))));
            for (int bit = config.width - 1; bit >= 0; --bit)
                bits.push_back((static_cast<unsigned long long>(rest) >> bit) % 2 != 0);
        }
        for (std::size_t i = 0; i < bits.size(); i += 8) {
            int byte = 0;
            for (std::size_t bit = 0; bit < 8; ++bit)
                byte = 2 * byte + (bits[i + bit] ? 1 : 0);
            bytes.push_back(static_cast<std::byte>(byte));
        }
    }
    return bytes;
}

}  // namespace phy_test
