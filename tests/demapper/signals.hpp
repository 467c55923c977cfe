#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "demapper/reference.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"

/// Symbols for tests, and their stored formats.
namespace phy_test {

using Bytes = std::vector<std::byte>;

inline float noise_of_snr(double decibel) {
    return static_cast<float>(std::pow(10.0, -decibel / 10.0));
}

/// An endless sequence of random points with Gaussian noise.
class NoisySymbols {
public:
    NoisySymbols(phy::Modulation modulation, double snr_decibel, unsigned seed)
        : random_(seed), sigma_(std::sqrt(std::pow(10.0, -snr_decibel / 10.0) / 2.0)) {
        points_ = {all_points(modulation, 0), all_points(modulation, 1)};
    }

    phy::cf32 next() {
        const std::vector<std::complex<double>>& points = points_[index_++ % 2];
        const std::complex<double> point = points[random_() % points.size()];
        return {static_cast<float>(point.real() + sigma_ * gauss_(random_)),
                static_cast<float>(point.imag() + sigma_ * gauss_(random_))};
    }

    std::vector<phy::cf32> take(std::size_t count) {
        std::vector<phy::cf32> symbols(count);
        for (phy::cf32& symbol : symbols)
            symbol = next();
        return symbols;
    }

private:
    std::mt19937 random_;
    std::normal_distribution<double> gauss_;
    double sigma_;
    std::vector<std::vector<std::complex<double>>> points_;
    std::uint64_t index_ = 0;
};

/// N0 of each symbol; a few are unusable.
inline std::vector<float> noise_of_symbols(std::size_t count) {
    std::vector<float> noise(count);
    for (std::size_t i = 0; i < count; ++i)
        noise[i] = i % 777 == 5 ? 0.0F : 0.05F + 0.001F * static_cast<float>(i % 50);
    return noise;
}

template <typename T>
T to_integer(float value, float full_scale) {
    if (std::isnan(value)) return 0;
    constexpr auto lowest = static_cast<float>(std::numeric_limits<T>::min());
    constexpr auto highest = static_cast<float>(std::numeric_limits<T>::max());
    return static_cast<T>(std::nearbyint(std::clamp(value * full_scale, lowest, highest)));
}

template <typename Component, typename Convert>
Bytes converted(std::span<const phy::cf32> symbols, Convert convert) {
    Bytes bytes(symbols.size() * 2 * sizeof(Component));
    for (std::size_t n = 0; n < symbols.size(); ++n) {
        const Component iq[2] = {convert(symbols[n].real()), convert(symbols[n].imag())};
        std::memcpy(bytes.data() + n * sizeof(iq), iq, sizeof(iq));
    }
    return bytes;
}

/// The bytes of symbols in a format. Integers saturate, and NaN becomes 0.
inline Bytes stored(phy::SampleFormat format, std::span<const phy::cf32> symbols, float full_scale) {
    switch (format) {
        case phy::SampleFormat::cf16:
            return converted<phy::half>(symbols, [](float x) { return phy::half(x); });
        case phy::SampleFormat::ci16:
            return converted<std::int16_t>(symbols,
                                           [&](float x) { return to_integer<std::int16_t>(x, full_scale); });
        case phy::SampleFormat::ci8:
            return converted<std::int8_t>(symbols,
                                          [&](float x) { return to_integer<std::int8_t>(x, full_scale); });
        case phy::SampleFormat::cf32:
            break;
    }
    return converted<float>(symbols, [](float x) { return x; });
}

template <typename T>
T read(const Bytes& bytes, std::size_t n) {
    T value;
    std::memcpy(&value, bytes.data() + n * sizeof(T), sizeof(T));
    return value;
}

/// Component n (2i: I, 2i+1: Q of symbol i) of stored symbols.
inline double component(phy::SampleFormat format, const Bytes& bytes, std::size_t n, double full_scale) {
    switch (format) {
        case phy::SampleFormat::cf16:
            return static_cast<double>(static_cast<float>(read<phy::half>(bytes, n)));
        case phy::SampleFormat::ci16:
            return read<std::int16_t>(bytes, n) / full_scale;
        case phy::SampleFormat::ci8:
            return read<std::int8_t>(bytes, n) / full_scale;
        case phy::SampleFormat::cf32:
            break;
    }
    return static_cast<double>(read<float>(bytes, n));
}

/// Soft bit n as a number.
inline double soft_bit(phy::SoftBitFormat format, const Bytes& bytes, std::size_t n) {
    switch (format) {
        case phy::SoftBitFormat::int8:
            return read<std::int8_t>(bytes, n);
        case phy::SoftBitFormat::float16:
            return static_cast<double>(static_cast<float>(read<phy::half>(bytes, n)));
        case phy::SoftBitFormat::float32:
            break;
    }
    return static_cast<double>(read<float>(bytes, n));
}

/// The host backends of this machine.
inline std::vector<phy::Backend> host_backends() {
    std::vector<phy::Backend> backends = phy::Backend::all();
    std::erase_if(backends, [](const phy::Backend& backend) {
        return backend.kind() == phy::Backend::Kind::cuda || !backend.supported();
    });
    return backends;
}

/// A host with exactly this number of threads, even with fewer processors.
inline phy::Host host_of(const phy::Backend& backend, int threads = 1) {
    return phy::detail::host_of_exactly(threads, backend);
}

inline phy::Host scalar_host() {
    return host_of(phy::Backend::scalar());
}

/// A modulation's name as gtest allows it.
inline std::string test_name(phy::Modulation modulation) {
    std::string name(to_string(modulation));
    std::erase(name, '-');
    return name;
}

}  // namespace phy_test
