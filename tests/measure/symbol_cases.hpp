#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/phy.hpp"

/// Symbols to measure, and their expected sums.
namespace phy_test {

/// Stored samples of any format.
struct StoredSymbols {
    phy::SampleFormat format = phy::SampleFormat::cf32;
    std::vector<std::byte> bytes = {};

    [[nodiscard]] std::size_t size() const { return bytes.size() / phy::size_of(format); }
    [[nodiscard]] phy::SymbolView view() const { return {format, bytes}; }
};

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
    const auto* const raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
}

inline void append_component(StoredSymbols& to, double value) {
    switch (to.format) {
        case phy::SampleFormat::cf32:
            append(to.bytes, static_cast<float>(value));
            break;
        case phy::SampleFormat::cf16:
            append(to.bytes, phy::half(static_cast<float>(value)));
            break;
        case phy::SampleFormat::ci16:
            append(to.bytes,
                   static_cast<std::int16_t>(std::lround(std::clamp(value * 8111, -32768.0, 32767.0))));
            break;
        case phy::SampleFormat::ci8:
            append(to.bytes, static_cast<std::int8_t>(std::lround(std::clamp(value * 61, -128.0, 127.0))));
            break;
    }
}

/// The full scale of append_component(), which floats ignore. It is prime, so that only 0 lies halfway
/// between levels.
inline phy::FullScale full_scale_of(phy::SampleFormat format) {
    if (format == phy::SampleFormat::ci16) return 8111.0F;
    if (format == phy::SampleFormat::ci8) return 61.0F;
    return {};
}

inline double component_of(const StoredSymbols& symbols, std::size_t index) {
    const auto load = [&]<typename T>(T value) {
        std::memcpy(&value, symbols.bytes.data() + index * sizeof value, sizeof value);
        return value;
    };
    switch (symbols.format) {
        case phy::SampleFormat::cf32:
            return double{load(float{})};
        case phy::SampleFormat::cf16:
            return double{static_cast<float>(load(phy::half()))};
        case phy::SampleFormat::ci16:
            return double(load(std::int16_t{}));
        default:
            return double(load(std::int8_t{}));
    }
}

/// Random points of a constellation, and the same with noise as symbols.
struct NoisySymbols {
    std::vector<phy::cf32> sent;
    StoredSymbols received;
};

inline NoisySymbols make_noisy(phy::Modulation modulation, phy::SampleFormat format, std::size_t count,
                               double noise_variance, double gain, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> noise(0.0, std::sqrt(0.5 * noise_variance));
    NoisySymbols made;
    made.received.format = format;
    for (std::size_t n = 0; n < count; ++n) {
        const auto label = static_cast<unsigned>(random() >> (64 - phy::bits_per_symbol(modulation)));
        const phy::cf32 point = phy::constellation_point(modulation, label, n);
        made.sent.push_back(point);
        append_component(made.received, gain * (point.real() + noise(random)));
        append_component(made.received, gain * (point.imag() + noise(random)));
    }
    return made;
}

enum class Awkward { large_and_small, all_equal, alternating, not_finite, tiny };
inline constexpr Awkward all_awkward[] = {Awkward::large_and_small, Awkward::all_equal, Awkward::alternating,
                                          Awkward::not_finite, Awkward::tiny};

inline StoredSymbols make_awkward(Awkward kind, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const float specials[] = {std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              3e38F,
                              0x1p58F,
                              0x1.fp57F,
                              1e-45F,
                              -0.0F};
    StoredSymbols made;
    for (std::size_t n = 0; n < 2 * count; ++n) {
        double value = uniform(random);
        if (kind == Awkward::large_and_small) value *= std::exp2(static_cast<double>(random() % 80) - 40.0);
        if (kind == Awkward::all_equal) value = 0.7;
        if (kind == Awkward::alternating) value = n / 2 % 2 == 0 ? 1.0F / 3 : -1.0F / 3;
        if (kind == Awkward::tiny) value = (n % 2 == 0 ? 1e-30 : -1e-30) * (random() % 97 == 0 ? 1e60 : 1.0);
        if (kind == Awkward::not_finite && random() % 5 == 0) value = double{specials[random() % 8]};
        append_component(made, value);
    }
    return made;
}

/// Sums, and the sums of the magnitudes of their terms.
struct ReferenceSums {
    long double i = 0, q = 0, ii = 0, qq = 0, iq = 0, error = 0, decided = 0, rotated = 0;
    long double i_size = 0, q_size = 0, iq_size = 0, rotated_size = 0;
    long double peak = 0, error_peak = 0;
    std::uint64_t symbols = 0, not_finite = 0;
};

/// The nearest odd half, in units of level distance, by trying all; of two the larger.
inline double nearest_level(double w, std::size_t bits) {
    double best = 0.0;
    double distance = std::numeric_limits<double>::infinity();
    for (int k = (1 << bits) - 1; k >= 0; --k) {
        const double level = k - 0.5 * ((1 << bits) - 1);
        if (std::abs(w - level) < distance) {
            distance = std::abs(w - level);
            best = level;
        }
    }
    return best;
}

/// Bits per axis, and 1/A^2, from TS 38.211 clause 5.1.
struct AxisFacts {
    std::size_t bits;
    double inverse_power;
};
inline AxisFacts axis_facts(phy::Modulation modulation) {
    switch (modulation) {
        case phy::Modulation::qam16:
            return {2, 10.0};
        case phy::Modulation::qam64:
            return {3, 42.0};
        case phy::Modulation::qam256:
            return {4, 170.0};
        case phy::Modulation::qam1024:
            return {5, 682.0};
        default:
            return {1, 2.0};
    }
}

/// In long double, symbol by symbol.
inline ReferenceSums reference_sums(const StoredSymbols& symbols, const phy::SymbolMeterConfig& config,
                                    const std::vector<phy::cf32>* sent, std::uint64_t first_symbol = 0) {
    const auto [bits, inverse_power] = axis_facts(config.modulation);
    const double levels = std::sqrt(inverse_power);
    const double scale{config.full_scale.value_for(symbols.format)};
    const bool is_bpsk =
        config.modulation == phy::Modulation::bpsk || config.modulation == phy::Modulation::pi2_bpsk;
    ReferenceSums sums;
    for (std::size_t n = 0; n < symbols.size(); ++n) {
        const double i = component_of(symbols, 2 * n);
        const double q = component_of(symbols, 2 * n + 1);
        const double wi = i / scale / double{config.gain} * levels / 2;
        const double wq = q / scale / double{config.gain} * levels / 2;
        if (!(i * i + q * q < 0x1p116 && wi * wi + wq * wq < 0x1p116)) {
            ++sums.not_finite;
            continue;
        }
        double di, dq;
        if (sent != nullptr) {
            di = double{(*sent)[n].real()} * levels / 2;
            dq = double{(*sent)[n].imag()} * levels / 2;
        } else if (is_bpsk) {
            const bool turns = config.modulation == phy::Modulation::pi2_bpsk && (n + first_symbol) % 2 != 0;
            const bool negative = (turns ? -wi : wi) + wq < 0.0;
            dq = negative ? -0.5 : 0.5;
            di = turns ? -dq : dq;
        } else {
            di = nearest_level(wi, bits);
            dq = nearest_level(wq, bits);
        }
        const long double error = (wi - di) * (wi - di) + (wq - dq) * (wq - dq);
        ++sums.symbols;
        sums.i += i;
        sums.q += q;
        sums.ii += i * i;
        sums.qq += q * q;
        sums.iq += i * q;
        sums.error += error;
        sums.decided += di * di + dq * dq;
        sums.rotated += q * di - i * dq;
        sums.i_size += std::abs(i);
        sums.q_size += std::abs(q);
        sums.iq_size += std::abs(i * q);
        sums.rotated_size += std::abs(q * di) + std::abs(i * dq);
        sums.peak = std::max<long double>(sums.peak, i * i + q * q);
        sums.error_peak = std::max(sums.error_peak, error);
    }
    return sums;
}

inline bool same_bytes(const phy::SymbolSums& a, const phy::SymbolSums& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

inline bool same_bytes(std::span<const phy::SymbolSums> a, std::span<const phy::SymbolSums> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

/// Row lengths with whole and partial turns, blocks and units.
inline std::vector<std::size_t> awkward_rows() {
    return {1, 31, 32, 33, 1000, 1024, 1025, 3276, 4095, 8192, 20011, 1U << 20};
}

}  // namespace phy_test
