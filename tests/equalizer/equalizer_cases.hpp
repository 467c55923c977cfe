#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/core/half.hpp"
#include "phy/equalizer/equalizer.hpp"

/// Slots to equalise, and a reference in binary64 that is independent of the library.
namespace phy_test {

using phy::cf32;
using phy::EqualizerConfig;
using phy::SampleFormat;
using phy::SlotEstimate;
using Complex = std::complex<double>;

inline constexpr unsigned equalizer_seed = 31415;
inline constexpr std::size_t slot_symbols = 14;

/// Contiguous blocks, DM-RS in symbols 2 and 11.
inline EqualizerConfig plain_config(int layers, int antennas, int resource_blocks = 3) {
    EqualizerConfig config;
    config.allocation.carrier_resource_blocks = resource_blocks;
    config.allocation.resource_blocks = {{0, resource_blocks}};
    config.allocation.dmrs.ports.clear();
    for (int port = 0; port < layers; ++port)
        config.allocation.dmrs.ports.push_back(port);
    config.antennas = antennas;
    return config;
}

/// The line through estimates at symbols 2 and 11, constant outside: neighbours share weights at the ends
/// only.
inline std::vector<float> linear_weights() {
    std::vector<float> weights;
    for (int symbol = 0; symbol < 14; ++symbol) {
        const float second = std::clamp(static_cast<float>(symbol - 2) / 9.0F, 0.0F, 1.0F);
        weights.push_back(1.0F - second);
        weights.push_back(second);
    }
    return weights;
}

/// Three sets of weights whose neighbours share them at the ends only: a line, half of it and the nearest
/// estimate.
inline std::vector<float> weights_of_three_sets() {
    const std::vector<float> line = linear_weights();
    std::vector<float> weights = line;
    for (const float weight : line)
        weights.push_back(0.5F * weight);
    for (const float weight : line)
        weights.push_back(std::round(weight));
    return weights;
}

/// Unordered ranges, a hole, DM-RS with data beside them, and reserved elements.
inline EqualizerConfig scattered_config(int layers, int antennas) {
    EqualizerConfig config = plain_config(layers, antennas, 23);
    config.allocation.resource_blocks = {{12, 6}, {1, 3}, {19, 1}, {4, 5}};
    config.allocation.first_symbol = 1;
    config.allocation.symbols = 12;
    config.allocation.dmrs.cdm_groups_without_data = layers > 2 ? 2 : 1;
    config.allocation.reserved = {{.symbols = {4, 5}, .resource_blocks = {2, 12}, .subcarriers = {0, 5, 11}},
                                  {.symbols = {6}, .resource_blocks = {0, 23}, .subcarriers = {3}}};
    config.time_weights = weights_of_three_sets();
    config.time_sets = 3;
    return config;
}

struct Slots {
    std::size_t count = 0;
    std::vector<cf32> grid;
    std::vector<float> channel;
    std::vector<SlotEstimate> estimates;
    std::vector<cf32> covariance;  ///< may be empty
};

struct Dimensions {
    std::size_t layers;
    std::size_t antennas;
    std::size_t estimates;
    std::size_t subcarriers;

    explicit Dimensions(const EqualizerConfig& config)
        : layers(config.allocation.dmrs.ports.size()),
          antennas(static_cast<std::size_t>(config.antennas)),
          estimates(std::max<std::size_t>(
              1, config.time_weights.size() / slot_symbols / static_cast<std::size_t>(config.time_sets))),
          subcarriers(static_cast<std::size_t>(config.allocation.carrier_resource_blocks) * 12) {}

    [[nodiscard]] std::size_t grid() const { return antennas * slot_symbols * subcarriers; }
    [[nodiscard]] std::size_t channel() const { return estimates * antennas * layers * 2 * subcarriers; }
};

/// What slots have in place of N0.
enum class Covariance { none, of_slot, of_subbands };
inline constexpr Covariance all_covariances[] = {Covariance::none, Covariance::of_slot,
                                                 Covariance::of_subbands};

/// Resource blocks of a subband.
inline std::size_t subband_of(std::size_t antennas) {
    if (antennas <= 4) return 4;
    return 8;
}

/// Rayleigh fading, QPSK on every element, N0 from -20 to 0 dB.
inline Slots random_slots(const EqualizerConfig& config, std::size_t count, unsigned seed,
                          Covariance covariance = Covariance::none) {
    const Dimensions size(config);
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0.0F, std::sqrt(0.5F));
    std::uniform_real_distribution<float> uniform;
    Slots slots;
    slots.count = count;
    slots.channel.resize(count * size.channel());
    for (float& value : slots.channel)
        value = normal(random);
    slots.grid.resize(count * size.grid());
    for (cf32& sample : slots.grid)
        sample = {2.0F * normal(random), 2.0F * normal(random)};
    for (std::size_t s = 0; s < count; ++s) {
        SlotEstimate estimate;
        estimate.noise_variance = std::pow(10.0F, -2.0F * uniform(random));
        estimate.channel_error = s % 2 == 0 ? 0.0F : 0.1F * estimate.noise_variance;
        estimate.time_set = static_cast<std::int32_t>(s) % config.time_sets;
        for (cf32& phase : estimate.phase)
            phase = std::polar(1.0F, 6.28F * uniform(random));
        slots.estimates.push_back(estimate);
    }
    if (covariance == Covariance::none) return slots;
    const std::size_t blocks = size.subcarriers / 12;
    const std::size_t of_subband = subband_of(size.antennas);
    const std::size_t matrices =
        covariance == Covariance::of_slot ? 1 : (blocks + of_subband - 1) / of_subband;
    for (std::size_t i = 0; i < count * matrices; ++i) {
        std::vector<cf32> factor(size.antennas * size.antennas);
        for (cf32& value : factor)
            value = {normal(random), normal(random)};
        for (std::size_t a = 0; a < size.antennas; ++a)
            for (std::size_t b = 0; b < size.antennas; ++b) {
                std::complex<double> sum = a == b ? 0.1 : 0.0;
                for (std::size_t k = 0; k < size.antennas; ++k)
                    sum += Complex(factor[a * size.antennas + k]) *
                           std::conj(Complex(factor[b * size.antennas + k]));
                slots.covariance.emplace_back(sum);
            }
    }
    return slots;
}

/// Solves a X = b by Gaussian elimination with pivots. b has `columns` columns and becomes X.
inline void eliminate(std::vector<Complex> a, std::vector<Complex>& b, std::size_t size,
                      std::size_t columns) {
    for (std::size_t k = 0; k < size; ++k) {
        std::size_t best = k;
        for (std::size_t i = k; i < size; ++i)
            if (std::abs(a[i * size + k]) > std::abs(a[best * size + k])) best = i;
        for (std::size_t j = 0; j < size; ++j)
            std::swap(a[k * size + j], a[best * size + j]);
        for (std::size_t j = 0; j < columns; ++j)
            std::swap(b[k * columns + j], b[best * columns + j]);
        for (std::size_t i = 0; i < size; ++i) {
            if (i == k) continue;
            const Complex factor = a[i * size + k] / a[k * size + k];
            for (std::size_t j = 0; j < size; ++j)
                a[i * size + j] -= factor * a[k * size + j];
            for (std::size_t j = 0; j < columns; ++j)
                b[i * columns + j] -= factor * b[k * columns + j];
        }
    }
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < columns; ++j)
            b[i * columns + j] /= a[i * size + i];
}

struct ElementResult {
    std::vector<Complex> symbols;
    std::vector<double> noise;
};

/// h: (antennas, layers). noise: the covariance, (antennas, antennas).
inline ElementResult equalized(const std::vector<Complex>& h, const std::vector<Complex>& y,
                               const std::vector<Complex>& noise, std::size_t layers, bool mmse) {
    const std::size_t antennas = y.size();
    // R^-1 times H and y.
    std::vector<Complex> right(antennas * (layers + 1));
    for (std::size_t a = 0; a < antennas; ++a) {
        for (std::size_t l = 0; l < layers; ++l)
            right[a * (layers + 1) + l] = h[a * layers + l];
        right[a * (layers + 1) + layers] = y[a];
    }
    eliminate(noise, right, antennas, layers + 1);
    std::vector<Complex> gram(layers * layers);
    std::vector<Complex> solution(layers * (layers + 1));  // (H^H R^-1 H + I)^-1 times I and H^H R^-1 y
    for (std::size_t i = 0; i < layers; ++i) {
        for (std::size_t j = 0; j < layers; ++j)
            for (std::size_t a = 0; a < antennas; ++a)
                gram[i * layers + j] += std::conj(h[a * layers + i]) * right[a * (layers + 1) + j];
        if (mmse && layers > 1) gram[i * layers + i] += 1.0;
        solution[i * (layers + 1) + i] = 1.0;
        for (std::size_t a = 0; a < antennas; ++a)
            solution[i * (layers + 1) + layers] +=
                std::conj(h[a * layers + i]) * right[a * (layers + 1) + layers];
    }
    eliminate(gram, solution, layers, layers + 1);
    ElementResult result;
    for (std::size_t i = 0; i < layers; ++i) {
        const double c = solution[i * (layers + 1) + i].real();
        const double mu = mmse && layers > 1 ? 1.0 - c : 1.0;
        result.symbols.push_back(solution[i * (layers + 1) + layers] / mu);
        result.noise.push_back(c / mu);
    }
    return result;
}

/// What an equaliser is given of a resource element.
struct Element {
    std::vector<Complex> h;      ///< (antennas, layers)
    std::vector<Complex> y;      ///< without the phase of its OFDM symbol
    std::vector<Complex> noise;  ///< the covariance with errors, (antennas, antennas)
};

inline Element element_of(const EqualizerConfig& config, const Slots& slots, std::size_t slot,
                          std::size_t symbol, std::size_t subcarrier) {
    const Dimensions size(config);
    const SlotEstimate& estimate = slots.estimates[slot];
    std::vector<Complex> h(size.antennas * size.layers);
    const float* const channel = slots.channel.data() + slot * size.channel() + subcarrier;
    for (std::size_t e = 0; e < size.estimates; ++e) {
        const std::size_t row = static_cast<std::size_t>(estimate.time_set) * slot_symbols + symbol;
        const double weight =
            config.time_weights.empty() ? 1.0 : double{config.time_weights[row * size.estimates + e]};
        for (std::size_t i = 0; i < h.size(); ++i) {
            const float* const at = channel + 2 * (e * h.size() + i) * size.subcarriers;
            h[i] += weight * Complex(double{at[0]}, double{at[size.subcarriers]});
        }
    }
    std::vector<Complex> y;
    std::vector<Complex> noise(size.antennas * size.antennas);
    const double error = double(size.layers) * double{estimate.channel_error};
    for (std::size_t a = 0; a < size.antennas; ++a) {
        y.push_back(Complex(slots.grid[slot * size.grid() + (a * slot_symbols + symbol) * size.subcarriers +
                                       subcarrier]) /
                    Complex(estimate.phase[symbol]));
        noise[a * size.antennas + a] = double{estimate.noise_variance} + error;
    }
    if (!slots.covariance.empty()) {
        const std::size_t matrices = slots.covariance.size() / slots.count / noise.size();
        const std::size_t subband = matrices == 1 ? 0 : subcarrier / 12 / subband_of(size.antennas);
        const cf32* const covariance = &slots.covariance[(slot * matrices + subband) * noise.size()];
        double trace = 0.0;
        for (std::size_t a = 0; a < size.antennas; ++a)
            trace += double{covariance[a * (size.antennas + 1)].real()};
        for (std::size_t i = 0; i < noise.size(); ++i)
            noise[i] = (1.0 + error * static_cast<double>(size.antennas) / trace) * Complex(covariance[i]);
    }
    return {h, y, noise};
}

inline ElementResult expected_element(const EqualizerConfig& config, const Slots& slots, std::size_t slot,
                                      std::size_t symbol, std::size_t subcarrier) {
    const Element element = element_of(config, slots, slot, symbol, subcarrier);
    return equalized(element.h, element.y, element.noise, Dimensions(config).layers,
                     config.method == phy::Equalization::mmse);
}

/// Data elements of a slot in the order of the codeword, found without ResourceMap: (symbol, subcarrier).
inline std::vector<std::pair<std::size_t, std::size_t>> data_elements(const phy::SlotAllocation& allocation) {
    std::vector<std::pair<std::size_t, std::size_t>> elements;
    const auto in = [](const std::vector<int>& list, int value) {
        return std::ranges::find(list, value) != list.end();
    };
    for (int symbol = allocation.first_symbol; symbol < allocation.first_symbol + allocation.symbols;
         ++symbol) {
        for (const phy::ResourceBlocks& range : allocation.resource_blocks) {
            for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k) {
                // Type 1: CDM group g has subcarriers of parity g.
                const bool is_pilot =
                    in(allocation.dmrs.symbols, symbol) && k % 2 < allocation.dmrs.cdm_groups_without_data;
                bool is_reserved = false;
                for (const phy::ReservedElements& reserved : allocation.reserved) {
                    const int block = k / 12 - reserved.resource_blocks.first;
                    is_reserved = is_reserved || (in(reserved.symbols, symbol) && block >= 0 &&
                                                  block < reserved.resource_blocks.count &&
                                                  in(reserved.subcarriers, k % 12));
                }
                if (!is_pilot && !is_reserved) elements.emplace_back(symbol, k);
            }
        }
    }
    return elements;
}

struct Equalized {
    std::vector<cf32> symbols;
    std::vector<float> noise;
    std::vector<phy::LayerPair> pairs = {};
    friend bool operator==(const Equalized& a, const Equalized& b) {
        const auto same = [](const auto& one, const auto& other) {
            return one.size() == other.size() &&
                   (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof one[0]) == 0);
        };
        return same(a.symbols, b.symbols) && same(a.noise, b.noise) && same(a.pairs, b.pairs);
    }
};

/// Samples stored in a format.
inline std::vector<std::byte> stored(std::span<const cf32> samples, SampleFormat format) {
    std::vector<std::byte> bytes;
    const auto append = [&bytes](const auto& sample) {
        const auto* const first = reinterpret_cast<const std::byte*>(&sample);
        bytes.insert(bytes.end(), first, first + sizeof sample);
    };
    for (const cf32& sample : samples) {
        const auto integer = [](float value, float scale, float limit) {
            return std::clamp(std::round(value * scale), -limit, limit);
        };
        switch (format) {
            case SampleFormat::cf32:
                append(sample);
                break;
            case SampleFormat::cf16:
                append(phy::cf16{phy::half(sample.real()), phy::half(sample.imag())});
                break;
            case SampleFormat::ci16:
                append(phy::ci16{static_cast<std::int16_t>(integer(sample.real(), 4096.0F, 32767.0F)),
                                 static_cast<std::int16_t>(integer(sample.imag(), 4096.0F, 32767.0F))});
                break;
            case SampleFormat::ci8:
                append(phy::ci8{static_cast<std::int8_t>(integer(sample.real(), 30.0F, 127.0F)),
                                static_cast<std::int8_t>(integer(sample.imag(), 30.0F, 127.0F))});
                break;
        }
    }
    return bytes;
}

/// The values of stored samples.
inline std::vector<cf32> as_numbers(std::span<const std::byte> samples, SampleFormat format,
                                    float full_scale) {
    std::vector<cf32> numbers;
    for (std::size_t at = 0; at < samples.size(); at += size_of(format)) {
        const auto read = [&](auto sample) {
            std::memcpy(&sample, samples.data() + at, sizeof sample);
            return cf32(static_cast<float>(sample.re), static_cast<float>(sample.im));
        };
        if (format == SampleFormat::cf16) {
            numbers.push_back(read(phy::cf16()));
        } else if (format == SampleFormat::ci16) {
            numbers.push_back(read(phy::ci16()) * (1.0F / full_scale));
        } else if (format == SampleFormat::ci8) {
            numbers.push_back(read(phy::ci8()) * (1.0F / full_scale));
        } else {
            cf32 number;
            std::memcpy(&number, samples.data() + at, sizeof number);
            numbers.push_back(number);
        }
    }
    return numbers;
}

/// Equalises slots on a host, with arrays of the exact size.
inline Equalized equalize(const phy::Host& host, const EqualizerConfig& config, const Slots& slots,
                          phy::SymbolView grid) {
    phy::Equalizer equalizer(host, config);
    Equalized out{std::vector<cf32>(slots.count * equalizer.symbols_per_slot(), cf32(-7.0F)),
                  std::vector<float>(slots.count * equalizer.symbols_per_slot(), -7.0F)};
    if (config.pairs) out.pairs.resize(slots.count * equalizer.elements_per_slot());
    equalizer(grid, slots.channel, slots.estimates, out.symbols, out.noise, slots.covariance, out.pairs);
    return out;
}

template <typename T>
std::vector<T> piece_of(const std::vector<T>& all, std::size_t index, std::size_t count) {
    const std::size_t size = all.size() / count;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(index * size);
    return {first, first + static_cast<std::ptrdiff_t>(size)};
}

/// One slot of several, in arrays of its own.
inline Slots slot_of(const Slots& slots, std::size_t index) {
    return {1,
            piece_of(slots.grid, index, slots.count),
            piece_of(slots.channel, index, slots.count),
            {slots.estimates[index]},
            piece_of(slots.covariance, index, slots.count)};
}

inline Equalized part_of(const Equalized& all, std::size_t index, std::size_t count) {
    return {piece_of(all.symbols, index, count), piece_of(all.noise, index, count)};
}

/// Sends 16QAM over the channel of the slots. Returns the sent symbols in the order of the codewords.
inline std::vector<cf32> transmit(const EqualizerConfig& config, Slots& slots, std::mt19937& random) {
    const Dimensions size(config);
    std::normal_distribution<double> normal(0.0, std::sqrt(0.5));
    std::uniform_int_distribution<int> level(0, 3);
    const auto elements = data_elements(config.allocation);
    std::vector<cf32> sent;
    for (std::size_t slot = 0; slot < slots.count; ++slot) {
        SlotEstimate& estimate = slots.estimates[slot];
        estimate.channel_error = 0.0F;
        for (const auto& [symbol, k] : elements) {
            for (std::size_t l = 0; l < size.layers; ++l)
                sent.emplace_back(static_cast<float>(2 * level(random) - 3) / std::sqrt(10.0F),
                                  static_cast<float>(2 * level(random) - 3) / std::sqrt(10.0F));
            const cf32* const x = &sent[sent.size() - size.layers];
            for (std::size_t a = 0; a < size.antennas; ++a) {
                Complex y =
                    std::sqrt(double{estimate.noise_variance}) * Complex(normal(random), normal(random));
                for (std::size_t l = 0; l < size.layers; ++l) {
                    const float* const h = slots.channel.data() + slot * size.channel() +
                                           2 * (a * size.layers + l) * size.subcarriers + k;
                    y += Complex(double{h[0]}, double{h[size.subcarriers]}) *
                         Complex(estimate.phase[symbol]) * Complex(x[l]);
                }
                slots.grid[slot * size.grid() + (a * slot_symbols + symbol) * size.subcarriers + k] =
                    static_cast<cf32>(y);
            }
        }
    }
    return sent;
}

}  // namespace phy_test
