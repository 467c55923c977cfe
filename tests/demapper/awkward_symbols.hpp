#pragma once

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "demapper/signals.hpp"
#include "phy/demapper/demapper.hpp"

/// Inputs that find differences between backends: noisy symbols with all kinds of awkward values.
namespace phy_test {

inline constexpr unsigned awkward_seed = 1234567;

/// Values where the formula of an axis changes, their neighbours, and numerically awkward values.
inline std::vector<float> awkward_components(phy::Modulation modulation) {
    using Limits = std::numeric_limits<float>;
    constexpr float infinity = Limits::infinity();
    std::vector<float> values = {Limits::quiet_NaN(),
                                 -Limits::quiet_NaN(),
                                 Limits::signaling_NaN(),
                                 infinity,
                                 Limits::max(),
                                 Limits::min(),
                                 Limits::denorm_min(),
                                 0.0F,
                                 65504.0F,
                                 65520.0F,
                                 0x1p-24F,
                                 0x1p-14F,
                                 1e20F,
                                 1e10F,
                                 30000.0F,
                                 0x1p60F};
    const std::vector<std::complex<double>> points = all_points(modulation, 0);
    double unit = infinity;
    double corner = 0.0;
    for (const std::complex<double> point : points) {
        unit = std::min(unit, std::abs(point.real()));
        corner = std::max(corner, std::abs(point.real()));
    }
    for (double multiple = 1.0; multiple * unit < 2.1 * corner; multiple += 1.0) {
        const auto value = static_cast<float>(multiple * unit);
        values.insert(values.end(), {value, std::nextafter(value, 0.0F), std::nextafter(value, infinity)});
    }
    const std::size_t positive = values.size();
    for (std::size_t n = 0; n < positive; ++n)
        values.push_back(-values[n]);
    return values;
}

/// Noise variances that make a symbol's soft bits 0.
inline std::vector<float> unusable_noise() {
    using Limits = std::numeric_limits<float>;
    return {Limits::quiet_NaN(),  0.0F, -0.0F, -0.25F, Limits::infinity(), -Limits::infinity(),
            -Limits::denorm_min()};
}

/// Valid but extreme noise variances.
inline std::vector<float> extreme_noise() {
    using Limits = std::numeric_limits<float>;
    return {Limits::denorm_min(), Limits::min(), 1e-30F, 1e-6F, 1e6F, 1e30F, Limits::max()};
}

/// The extreme ones, and those of SNRs from 0 to 45 dB.
inline std::vector<float> all_noise(double decibel_step) {
    std::vector<float> variances = extreme_noise();
    for (double snr = 0.0; snr <= 45.0; snr += decibel_step)
        variances.push_back(noise_of_snr(snr));
    return variances;
}

/// Symbols with a noise variance each.
struct SymbolsWithNoise {
    std::vector<phy::cf32> symbols;
    std::vector<float> noise;
};

/// About one in four components and one in eight noise variances is awkward.
inline SymbolsWithNoise awkward_symbols(phy::Modulation modulation, std::size_t count) {
    std::mt19937 random(awkward_seed);
    const std::vector<float> components = awkward_components(modulation);
    std::vector<float> noises = unusable_noise();
    for (const float noise : extreme_noise())
        noises.push_back(noise);
    std::uniform_real_distribution<double> decibel(0.0, 45.0);
    std::size_t next_component = 0;
    std::size_t next_noise = 0;
    SymbolsWithNoise result{NoisySymbols(modulation, 15.0, awkward_seed).take(count),
                            std::vector<float>(count)};
    const auto maybe_awkward = [&](float value) {
        return random() % 4 != 0 ? value : components[next_component++ % components.size()];
    };
    for (std::size_t n = 0; n < count; ++n) {
        const float i = maybe_awkward(result.symbols[n].real());
        const float q = maybe_awkward(result.symbols[n].imag());
        result.symbols[n] = {i, q};
        result.noise[n] =
            random() % 8 != 0 ? noise_of_snr(decibel(random)) : noises[next_noise++ % noises.size()];
    }
    return result;
}

/// The configuration that selects code. One demapper serves all formats and kinds of noise.
struct Variant {
    phy::Modulation modulation;
    phy::Method method;
    phy::Evaluator evaluator;

    [[nodiscard]] phy::DemapperConfig config() const {
        return {.modulation = modulation, .llr = {.method = method, .evaluator = evaluator}};
    }
    [[nodiscard]] phy::SoftDemapper on(const phy::Host& host) const {
        return phy::SoftDemapper(host, config());
    }
    [[nodiscard]] phy::SoftDemapper on(const phy::Backend& backend, int threads = 1) const {
        return on(host_of(backend, threads));
    }
};

inline std::string name_of(const Variant& variant) {
    return test_name(variant.modulation) + "_" + std::string(to_string(variant.method)) + "_" +
           std::string(to_string(variant.evaluator));
}

inline std::vector<Variant> all_variants() {
    std::vector<Variant> variants;
    for (const phy::Modulation modulation : phy::all_modulations) {
        for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
            for (const phy::Evaluator evaluator : {phy::Evaluator::arithmetic, phy::Evaluator::table}) {
                variants.push_back({modulation, method, evaluator});
            }
        }
    }
    return variants;
}

/// An input of a call.
class Input {
public:
    Input(phy::SampleFormat format, const SymbolsWithNoise& symbols)
        : format_(format),
          symbols_(stored(format, symbols.symbols, default_full_scale(format))),
          noise_(symbols.noise) {}

    [[nodiscard]] std::size_t size() const { return noise_.size(); }
    [[nodiscard]] phy::SampleFormat format() const { return format_; }
    [[nodiscard]] const Bytes& bytes() const { return symbols_; }
    [[nodiscard]] const std::vector<float>& noise() const { return noise_; }

    [[nodiscard]] phy::SymbolView symbols() const { return {format_, symbols_.data(), noise_.size()}; }

private:
    phy::SampleFormat format_;
    Bytes symbols_;
    std::vector<float> noise_;
};

/// One N0 for all symbols, or those of an input.
struct NoiseKind {
    bool per_symbol;
    float scalar;

    /// The values may lie in host or device memory.
    template <typename Noise = phy::NoiseVariance>
    [[nodiscard]] Noise of(typename Noise::Values values) const {
        return per_symbol ? Noise(values) : Noise(scalar);
    }
};

inline std::string name_of(const NoiseKind& noise) {
    return noise.per_symbol ? "N0 per symbol" : "N0 " + std::to_string(noise.scalar);
}

/// The soft bits of an input, by one call.
inline Bytes demapped(phy::SoftDemapper& demap, const Input& input, const NoiseKind& noise,
                      phy::SoftBitFormat format, phy::DemapCounters* counters = nullptr,
                      std::uint64_t first_symbol = 0) {
    const std::size_t count = input.size() * bits_per_symbol(demap.config().modulation);
    Bytes bytes(count * size_of(format));
    const phy::SoftBitSpan out(format, bytes.data(), count);
    demap(input.symbols(), noise.of(input.noise()), out, first_symbol, counters);
    return bytes;
}

/// The counters of a call by their definition, from the symbols, their noise variances (empty: one for all)
/// and the soft bits.
inline phy::DemapCounters counted(phy::SampleFormat in, const Bytes& symbols, std::span<const float> noise,
                                  phy::SoftBitFormat out, const Bytes& soft_bits, int llr_clip = 127) {
    phy::DemapCounters counters;
    for (std::size_t n = 0; n < 2 * symbols.size() / size_of(in); ++n) {
        const bool finite = std::isfinite(component(in, symbols, n, default_full_scale(in)));
        counters.erasures += finite ? 0 : 1;
    }
    for (const float n0 : noise)
        counters.erasures += std::isfinite(n0) && n0 > 0.0F ? 0 : 1;
    if (out == phy::SoftBitFormat::float32) return counters;
    const double limit = out == phy::SoftBitFormat::int8 ? llr_clip : 65504.0;
    for (std::size_t n = 0; n < soft_bits.size() / size_of(out); ++n)
        counters.saturated += std::abs(soft_bit(out, soft_bits, n)) == limit ? 1 : 0;
    return counters;
}

/// Calls visit(input, soft_bit_format) for all formats. Soft-bit formats are the outer loop, because a table
/// is built for each.
template <typename Visitor>
void for_all_formats(const SymbolsWithNoise& symbols, Visitor visit) {
    for (const phy::SoftBitFormat soft_bits : phy::all_soft_bit_formats) {
        for (const phy::SampleFormat format : phy::all_sample_formats)
            visit(Input(format, symbols), soft_bits);
    }
}

}  // namespace phy_test
