#pragma once

#include <string>
#include <vector>

#include "demapper/signals.hpp"
#include "equalizer/equalizer_cases.hpp"
#include "phy/detector/detector.hpp"

/// Detection, and the same by the parts that it is made of.
namespace phy_test {

using phy::SoftBitFormat;
using phy::SoftDetectorConfig;

/// Random words: (slots, words).
inline std::vector<std::uint32_t> random_words(std::size_t count) {
    std::mt19937 random(equalizer_seed);
    std::vector<std::uint32_t> words(count);
    for (std::uint32_t& word : words)
        word = static_cast<std::uint32_t>(random());
    return words;
}

inline std::string name_of(const SoftDetectorConfig& config) {
    return std::to_string(config.equalizer.allocation.layers()) + "x" +
           std::to_string(config.equalizer.antennas) + ", " +
           std::string(to_string(config.demapper.modulation)) + ", seed " + std::to_string(equalizer_seed);
}

/// Equalizer, then SoftDemapper, then signs.
inline std::vector<std::byte> detected_by_parts(const SoftDetectorConfig& config, const Slots& slots,
                                                phy::SymbolView grid, SoftBitFormat format,
                                                const std::vector<std::uint32_t>& signs) {
    const Equalized equalized = equalize(phy::Host(), config.equalizer, slots, grid);
    const std::size_t qm = bits_per_symbol(config.demapper.modulation);
    const std::size_t of_slot = equalized.symbols.size() / slots.count;
    const std::size_t words = (of_slot * qm + 31) / 32;
    std::vector<std::byte> llr(equalized.symbols.size() * qm * size_of(format));
    const phy::SoftBitSpan all(format, llr.data(), equalized.symbols.size() * qm);
    phy::SoftDemapper demap(phy::Host(), config.demapper);
    for (std::size_t slot = 0; slot < slots.count; ++slot) {
        const auto of = [&](auto& values) { return std::span(values).subspan(slot * of_slot, of_slot); };
        demap(
            of(equalized.symbols), of(equalized.noise), all.subspan(slot * of_slot * qm, of_slot * qm), 0,
            nullptr,
            signs.empty() ? std::span<const std::uint32_t>() : std::span(signs).subspan(slot * words, words));
    }
    return llr;
}

/// A few erasures among good slots.
inline Slots slots_to_detect(const EqualizerConfig& config, std::size_t count, bool with_covariance = false) {
    Slots slots = random_slots(config, count, equalizer_seed, with_covariance);
    for (std::size_t i = 5; i < slots.grid.size(); i += 97)
        slots.grid[i] = {std::numeric_limits<float>::quiet_NaN(), 1.0F};
    for (std::size_t i = 9; i < slots.channel.size(); i += 1013)
        slots.channel[i] = std::numeric_limits<float>::infinity();
    return slots;
}

}  // namespace phy_test
