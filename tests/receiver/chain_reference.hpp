#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/dmrs/slot_allocation.hpp"
#include "receiver/test_air.hpp"

/// A reference receiver that knows the channel, in binary64 and independent of the library.
namespace phy_test {

/// The levels of an axis by TS 38.211 clauses 5.1.3 to 5.1.7, for Qm bits.
struct QamAxis {
    int bits;      ///< per axis
    double scale;  ///< 1 / sqrt(10), 1 / sqrt(42) ...

    explicit QamAxis(std::size_t bits_per_symbol)
        : bits(static_cast<int>(bits_per_symbol / 2)),
          scale(1.0 / std::sqrt(2.0 * (std::pow(4.0, bits) - 1.0) / 3.0)) {}

    /// (1 - 2 b0) (2^(bits-1) - (1 - 2 b1) (2^(bits-2) - ...)).
    [[nodiscard]] double level(const std::uint8_t* bit) const {
        double value = 1.0;
        for (int i = bits - 1; i >= 0; --i) {
            const double sign = 1.0 - 2.0 * bit[2 * i];
            value = i == bits - 1 ? sign : sign * (std::pow(2.0, bits - 1 - i) - value);
        }
        return value * scale;
    }

    /// The bits of the nearest level.
    void decide(double value, std::uint8_t* bit) const {
        double rest = value / scale;
        for (int i = 0; i < bits; ++i) {
            bit[2 * i] = rest < 0.0 ? 1 : 0;
            rest = std::pow(2.0, bits - 1 - i) - std::abs(rest);
        }
    }
};

inline AirComplex qam_point(const QamAxis& axis, const std::uint8_t* bit) {
    return {axis.level(bit), axis.level(bit + 1)};
}

/// Positions of a codeword's symbols: one per resource element with data.
struct ElementPlace {
    int symbol;
    std::size_t subcarrier;
};

/// All elements except DM-RS, unused ones beside them, and reserved ones: subcarriers first, resource blocks
/// as listed, then symbols.
inline std::vector<ElementPlace> data_places(const phy::SlotAllocation& allocation) {
    const phy::DmrsConfig& dmrs = allocation.dmrs;
    const auto contains = [](const std::vector<int>& list, int value) {
        return std::find(list.begin(), list.end(), value) != list.end();
    };
    std::vector<ElementPlace> places;
    for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l) {
        for (const phy::ResourceBlocks range : allocation.resource_blocks) {
            for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k) {
                const int group = dmrs.type == 1 ? k % 2 : k % 6 / 2;
                bool is_data = !contains(dmrs.symbols, l) || group >= dmrs.cdm_groups_without_data;
                for (const phy::ReservedElements& reserved : allocation.reserved) {
                    const int block = k / 12 - reserved.resource_blocks.first;
                    is_data = is_data && !(contains(reserved.symbols, l) && block >= 0 &&
                                           block < reserved.resource_blocks.count &&
                                           contains(reserved.subcarriers, k % 12));
                }
                if (is_data) places.push_back({l, static_cast<std::size_t>(k)});
            }
        }
    }
    return places;
}

/// Symbols of all layers of a resource element, each with the variance of its noise.
struct EqualizedElement {
    std::vector<AirComplex> symbols;
    std::vector<double> noise;
};

/// The unbiased linear MMSE estimate: y = H x + n, H (antennas, layers), noise of variance n0 per antenna.
inline EqualizedElement mmse(std::span<const AirComplex> h, std::span<const AirComplex> y, std::size_t layers,
                             double n0) {
    const std::size_t antennas = y.size();
    // (G | z | I), G = H^H H + n0 I, becomes (I | x | G^-1) by Gauss-Jordan elimination.
    const std::size_t columns = 2 * layers + 1;
    std::vector<AirComplex> a(layers * columns);
    for (std::size_t i = 0; i < layers; ++i) {
        for (std::size_t m = 0; m < antennas; ++m) {
            for (std::size_t k = 0; k < layers; ++k)
                a[i * columns + k] += std::conj(h[m * layers + i]) * h[m * layers + k];
            a[i * columns + layers] += std::conj(h[m * layers + i]) * y[m];
        }
        a[i * columns + i] += n0;
        a[i * columns + layers + 1 + i] = 1.0;
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const AirComplex pivot = 1.0 / a[i * columns + i];
        for (std::size_t k = 0; k < columns; ++k)
            a[i * columns + k] *= pivot;
        for (std::size_t row = 0; row < layers; ++row) {
            if (row == i) continue;
            const AirComplex factor = a[row * columns + i];
            for (std::size_t k = 0; k < columns; ++k)
                a[row * columns + k] -= factor * a[i * columns + k];
        }
    }
    EqualizedElement element;
    for (std::size_t i = 0; i < layers; ++i) {
        const double error = n0 * a[i * columns + layers + 1 + i].real();
        element.symbols.push_back(a[i * columns + layers] / (1.0 - error));
        element.noise.push_back(error / (1.0 - error));
    }
    return element;
}

/// A received slot with known signal, noise and channel.
struct KnownSlot {
    std::vector<AirComplex> signal;   ///< (antennas, 14, subcarriers)
    std::vector<AirComplex> noise;    ///< of power 1, same shape
    std::vector<AirComplex> channel;  ///< (subcarriers, antennas, layers)
    int antennas = 0;
    std::size_t layers = 0;
    std::size_t subcarriers = 0;
};

/// Bit errors of a receiver that knows the channel, at noise n0. bits: the scrambled codeword in the order of
/// places, layers first.
inline std::size_t bit_errors_of_known_channel(const KnownSlot& slot, const std::vector<ElementPlace>& places,
                                               std::size_t bits_per_symbol,
                                               std::span<const std::uint8_t> codeword, double n0) {
    const QamAxis axis(bits_per_symbol);
    const auto antennas = static_cast<std::size_t>(slot.antennas);
    std::vector<AirComplex> y(antennas);
    std::vector<std::uint8_t> decided(bits_per_symbol);
    std::size_t errors = 0;
    std::size_t at = 0;
    for (const ElementPlace& place : places) {
        for (std::size_t m = 0; m < antennas; ++m) {
            const std::size_t element =
                (m * 14 + static_cast<std::size_t>(place.symbol)) * slot.subcarriers + place.subcarrier;
            y[m] = slot.signal[element] + std::sqrt(n0) * slot.noise[element];
        }
        const std::span<const AirComplex> channel(slot.channel);
        const auto x =
            mmse(channel.subspan(place.subcarrier * antennas * slot.layers, antennas * slot.layers), y,
                 slot.layers, n0);
        for (const AirComplex& point : x.symbols) {
            axis.decide(point.real(), decided.data());
            axis.decide(point.imag(), decided.data() + 1);
            for (std::size_t bit = 0; bit < bits_per_symbol; ++bit)
                errors += decided[bit] != codeword[at + bit] ? 1 : 0;
            at += bits_per_symbol;
        }
    }
    return errors;
}

}  // namespace phy_test
