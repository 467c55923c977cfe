#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "demapper/signals.hpp"
#include "ofdm/reference.hpp"
#include "phy/core/format.hpp"
#include "phy/ofdm/demodulator.hpp"

/// Carriers and samples for tests.
namespace phy_test {

inline constexpr unsigned ofdm_seed = 31415;

inline const std::vector<std::size_t>& fft_sizes() {
    static const std::vector<std::size_t> sizes = {128,  256,  384,  512,  640,  768,  1024, 1152, 1280,
                                                   1536, 1920, 2048, 2304, 2560, 3072, 3200, 3456, 3840,
                                                   4096, 4608, 5120, 5760, 6144, 6400, 6912, 7680, 8192};
    return sizes;
}

/// Carriers of every numerology, prefix, k0 and kind of phase; small, so that the reference is fast.
inline std::vector<phy::OfdmDemodulatorConfig> ofdm_configs() {
    using phy::CyclicPrefix;
    std::vector<phy::OfdmDemodulatorConfig> all;
    for (int mu = 0; mu < 4; ++mu) {
        const double spacing = 15000.0 * (1 << mu);
        all.push_back(
            {.ofdm = {.resource_blocks = 9, .subcarrier_spacing = spacing, .sample_rate = 128 * spacing},
             .window_offset = 0});
        all.push_back({.ofdm = {.resource_blocks = 25,
                                .subcarrier_spacing = spacing,
                                .sample_rate = 384 * spacing,
                                .k0 = 6,
                                .center_frequency = 3.75e9 + 15000.0},
                       .window_offset = 9});
        all.push_back({.ofdm = {.resource_blocks = 50,
                                .subcarrier_spacing = spacing,
                                .sample_rate = 640 * spacing,
                                .k0 = -6,
                                .center_frequency = 28.0e9 + 12345.0,
                                .frequency_shift = -1234567.0 / 128 * (1 << mu),
                                .antennas = 3},
                       .window_offset = 45});
        all.push_back({.ofdm = {.resource_blocks = 1,
                                .subcarrier_spacing = spacing,
                                .sample_rate = 256 * spacing,
                                .center_frequency = -1.5e6,
                                .frequency_shift = 7500.25,
                                .antennas = 2}});
    }
    all.push_back({.ofdm = {.resource_blocks = 20,
                            .subcarrier_spacing = 60000.0,
                            .sample_rate = 256 * 60000.0,
                            .cyclic_prefix = CyclicPrefix::extended,
                            .center_frequency = 2.6e9 + 7.0,
                            .frequency_shift = 100.0,
                            .antennas = 2},
                   .window_offset = 64});
    return all;
}

inline std::string name_of(const phy::OfdmConfig& config) {
    return std::to_string(config.resource_blocks) + " blocks, " + std::to_string(config.subcarrier_spacing) +
           " Hz, rate " + std::to_string(config.sample_rate) + ", k0 " + std::to_string(config.k0) +
           ", seed " + std::to_string(ofdm_seed);
}

/// Gaussian numbers of about unit power.
inline std::vector<phy::cf32> random_numbers(std::size_t count, unsigned seed = ofdm_seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> gauss(0.0F, 0.7F);
    std::vector<phy::cf32> numbers(count);
    for (phy::cf32& number : numbers)
        number = {gauss(random), gauss(random)};
    return numbers;
}

/// Random samples in a format, with amplitudes that fit it.
inline Bytes random_samples(phy::SampleFormat format, std::size_t count, unsigned seed = ofdm_seed) {
    return stored(format, random_numbers(count, seed), format == phy::SampleFormat::ci8 ? 30.0F : 8000.0F);
}

inline std::vector<std::uint32_t> bits_of(std::span<const phy::cf32> numbers) {
    std::vector<std::uint32_t> bits;
    bits.reserve(2 * numbers.size());
    for (const phy::cf32& number : numbers) {
        bits.push_back(std::bit_cast<std::uint32_t>(number.real()));
        bits.push_back(std::bit_cast<std::uint32_t>(number.imag()));
    }
    return bits;
}

inline std::vector<phy::cf32> demodulated(const phy::Host& host, const phy::OfdmDemodulatorConfig& config,
                                          phy::SymbolView samples, const phy::OfdmSlots& slots) {
    phy::OfdmDemodulator demodulate(host, config);
    std::vector<phy::cf32> grid(slots.count * static_cast<std::size_t>(config.ofdm.antennas) *
                                demodulate.timing().slot_elements());
    demodulate(samples, slots, grid);
    return grid;
}

/// The expected grid if all elements had this value before a call on these symbols.
inline std::vector<phy::cf32> with_symbols(std::vector<phy::cf32> grid, const phy::OfdmTiming& timing,
                                           std::uint32_t symbols, phy::cf32 before) {
    for (std::size_t i = 0; i < grid.size(); ++i) {
        const std::size_t symbol = i / timing.subcarriers() % timing.symbols();
        if ((symbols >> symbol & 1U) == 0) grid[i] = before;
    }
    return grid;
}

inline std::size_t samples_of(const phy::OfdmTiming& timing, const phy::OfdmSlots& slots) {
    return timing.slot_start(slots.first + slots.count) - timing.slot_start(slots.first);
}

/// Samples (antennas, samples of the slots) laid out with the strides of the slots, with filler in between.
inline Bytes laid_out(const phy::OfdmConfig& config, phy::SymbolView samples, const phy::OfdmSlots& slots) {
    const phy::OfdmTiming timing(config);
    const std::size_t bytes = size_of(samples.format());
    const std::size_t of_antenna = samples_of(timing, slots);
    Bytes result = random_samples(samples.format(), slots.count * *slots.slot_stride, ofdm_seed + 1);
    for (std::size_t s = 0; s < slots.count; ++s) {
        for (std::size_t a = 0; a < static_cast<std::size_t>(config.antennas); ++a) {
            const std::size_t from =
                a * of_antenna + timing.slot_start(slots.first + s) - timing.slot_start(slots.first);
            const auto of_slot = samples.subspan(from, timing.slot_samples(slots.first + s)).bytes();
            std::ranges::copy(of_slot,
                              result.begin() + static_cast<std::ptrdiff_t>(
                                                   (s * *slots.slot_stride + a * *slots.stride) * bytes));
        }
    }
    return result;
}

/// Nine slots with room for the longest one, and 5 more samples after all antennas.
inline phy::OfdmSlots strided_slots(const phy::OfdmConfig& config) {
    const std::size_t longest = phy::OfdmTiming(config).slot_samples(0);
    return {.first = 5,
            .count = 9,
            .stride = longest,
            .slot_stride = static_cast<std::size_t>(config.antennas) * longest + 5};
}

}  // namespace phy_test
