#include "phy/files/demodulate/symbol_sample.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/files/common.hpp"
#include "phy/measure/symbol_fit.hpp"
#include "phy/measure/symbol_meter.hpp"

namespace phy {
namespace detail {
namespace {

/// Even, so that pi/2-BPSK continues as if blocks were neighbours.
constexpr std::uint64_t block = 1024;
constexpr std::uint64_t min_blocks = 8;
constexpr std::uint64_t max_blocks = 256;
constexpr std::uint64_t share = 256;

constexpr double min_symbols = 256;
constexpr double deviations = 5.0;
constexpr double decibel = 1.2589254117941673;

double norm(cf32 symbol) {
    const double i = symbol.real();
    const double q = symbol.imag();
    return i * i + q * q;
}

/// Moments of a block's symbols, without NaN.
struct Moments {
    double count = 0.0;
    double second = 0.0;
    double fourth = 0.0;
};

Moments moments_of(std::span<const cf32> symbols) {
    Moments moments;
    for (const cf32 symbol : symbols) {
        const double power = norm(symbol);
        if (std::isnan(power)) continue;
        moments.count += 1.0;
        moments.second += power;
        moments.fourth += power * power;
    }
    return moments;
}

/// Relative to the block's power; none without power.
std::optional<double> kurtosis_of(const Moments& moments) {
    const bool is_known = moments.count >= 0.5 * block && moments.second > 0.0;
    if (!is_known) return std::nullopt;
    return moments.fourth * moments.count / (moments.second * moments.second);
}

std::vector<std::span<const cf32>> in_blocks(std::span<const cf32> symbols) {
    std::vector<std::span<const cf32>> blocks;
    for (std::size_t begin = 0; begin < symbols.size(); begin += block)
        blocks.push_back(symbols.subspan(begin, std::min<std::size_t>(block, symbols.size() - begin)));
    return blocks;
}

/// Divides each block by its root mean square; NaN if that is 0.
std::vector<cf32> of_unit_power(std::span<const cf32> symbols) {
    std::vector<cf32> divided;
    divided.reserve(symbols.size());
    for (const std::span<const cf32> part : in_blocks(symbols)) {
        const Moments moments = moments_of(part);
        const auto factor = static_cast<float>(std::sqrt(moments.count / moments.second));
        for (const cf32 symbol : part)
            divided.push_back(symbol * factor);
    }
    return divided;
}

/// The kurtosis of a constellation with noise. Levels of an axis are equally frequent and equally spaced;
/// both axes are independent.
double expected_kurtosis(Modulation modulation, double noise) {
    const std::size_t bits = bits_per_symbol(modulation);
    double points = 1.0;
    if (bits > 1) {
        const double levels = static_cast<double>(1U << bits / 2);
        const double of_axis = (9.0 * levels * levels - 21.0) / (5.0 * (levels * levels - 1.0));
        points = 0.5 * (of_axis + 1.0);
    }
    return (points + 4.0 * noise + 2.0 * noise * noise) / ((1.0 + noise) * (1.0 + noise));
}

double error_ratio(const ExpectedDecisions& expected) {
    return expected.error / expected.decided;
}

/// Blocks of pi/2-BPSK are decided as if each began a sequence.
ItemRange even_range(const ItemRange& range, Modulation modulation) {
    const bool is_odd = modulation == Modulation::pi2_bpsk && range.first % 2 != 0 && range.count > 1;
    return is_odd ? ItemRange{range.first + 1, range.count - 1} : range;
}

/// The factor of components.
double unit_of(const SymbolSample::Config& config) {
    return 1.0 / (double{config.full_scale.value_for(config.format)} * double{config.gain});
}

/// Values that are not finite, or become so, are NaN.
void divide(SymbolView symbols, float factor, std::span<cf32> divided) {
    const auto finite_product = [factor](auto component) {
        const float product = static_cast<float>(component) * factor;
        return std::isfinite(product) ? product : std::numeric_limits<float>::quiet_NaN();
    };
    with_constant(symbols.format(), [&](auto format) {
        ComponentOf<format()> iq[2];
        for (std::size_t n = 0; n < divided.size(); ++n) {
            std::memcpy(iq, symbols.data() + n * sizeof iq, sizeof iq);
            divided[n] = {finite_product(iq[0]), finite_product(iq[1])};
        }
    });
}

SymbolSums decide(std::span<const cf32> symbols, Modulation modulation) {
    return SymbolMeter(fastest_host(), {.modulation = modulation})(symbols);
}

}  // namespace

void NoiseHistogram::add(float noise) {
    int exponent = 0;
    const double above = 2.0 * std::frexp(double{noise}, &exponent) - 1.0;  // 0 for 2^exponent / 2
    const auto bin = static_cast<std::size_t>(std::min(1 - exponent, static_cast<int>(bins_.size()) - 2));
    bins_[bin] += above;
    bins_[bin + 1] += 1.0 - above;
    sum_ += noise;
    count_ += 1.0;
}

double NoiseHistogram::value_of(std::size_t bin) {
    return std::ldexp(1.0, 1 - static_cast<int>(bin));
}

SymbolSample::SymbolSample(const Config& config)
    : config_(config),
      range_(even_range(config.range, config.modulation)),
      blocks_(range_.count, block, std::clamp(range_.count / block / share, min_blocks, max_blocks)) {
    symbols_.reserve(blocks_.max_items());
}

void SymbolSample::add(std::uint64_t first, SymbolView symbols, std::span<const float> noise) {
    if (first < range_.first) {
        const std::size_t skipped = std::min<std::uint64_t>(range_.first - first, symbols.size());
        symbols = symbols.subspan(skipped, symbols.size() - skipped);
        if (!noise.empty()) noise = noise.subspan(skipped);
        first += skipped;
    }
    first -= range_.first;
    blocks_.visit({first, symbols.size()}, [&](const SpreadBlocks::Range& range) {
        const std::size_t before = symbols_.size();
        symbols_.resize(before + range.items);
        const std::span kept = std::span(symbols_).subspan(before);
        divide(symbols.subspan(range.first - first, range.items), static_cast<float>(unit_of(config_)), kept);
        if (noise.empty()) return;
        for (std::size_t n = 0; n < kept.size(); ++n) {
            const float value = noise[range.first - first + n];
            const bool counts = value > 0.0F && value <= 1.0F && !std::isnan(norm(kept[n]));
            if (counts) {
                noise_.add(value);
            } else {
                kept[n] = cf32(std::numeric_limits<float>::quiet_NaN(), 0.0F);
            }
        }
    });
}

void SymbolSample::read(CaptureReader& capture) {
    std::vector<std::byte> bytes;
    blocks_.visit({0, range_.count}, [&](const SpreadBlocks::Range& range) {
        bytes.resize(range.items * size_of(config_.format));
        const SymbolSpan symbols(config_.format, bytes);
        capture.read(range_.first + range.first, symbols);
        add(range_.first + range.first, symbols, {});
    });
}

double SymbolSample::rounding_noise() const {
    if (default_full_scale(config_.format) == 1.0F) return 0.0;
    const double step = unit_of(config_);
    return step * step / 6.0;
}

double SymbolSample::expected_evm(double more_noise) const {
    const auto of = [&](double noise) {
        return expected_decisions(config_.modulation, {.gain = 1.0, .noise_variance = noise + more_noise});
    };
    if (noise_variance_) return std::sqrt(error_ratio(of(*noise_variance_)));
    ExpectedDecisions sum;
    noise_.visit([&](double noise, double count) {
        const ExpectedDecisions each = of(noise);
        sum.error += each.error * count;
        sum.decided += each.decided * count;
    });
    return std::sqrt(error_ratio(sum));
}

SymbolCheck SymbolSample::check(std::optional<float> noise_variance) {
    noise_variance_ = noise_variance;
    SymbolCheck check;
    const SymbolSums sums = decide(symbols_, config_.modulation);
    check.symbols = sums.symbols;
    if (sums.symbols == 0) return check;
    check.mean_power = (sums.ii + sums.qq) / static_cast<double>(sums.symbols);
    check.evm = std::sqrt(sums.error / sums.decided);
    check.mean_noise_variance = noise_variance_ ? double{*noise_variance_} : noise_.mean();
    check.expected_evm = expected_evm(0.0);
    check.mismatch = mismatch_of(check);
    return check;
}

SymbolMismatch SymbolSample::mismatch_of(SymbolCheck& check) const {
    if (static_cast<double>(check.symbols) < min_symbols) return SymbolMismatch::none;
    if (check.mean_power == 0.0) return SymbolMismatch::power;
    if (shows_no_constellation(check)) return SymbolMismatch::no_constellation;
    const std::vector<cf32> scaled = scaled_symbols(check);
    // Empty points, and BPSK that rotates as pi/2-BPSK does, may look like a fault. Symbols with a fault do
    // not look like fewer points.
    const std::size_t bits = bits_per_symbol(config_.modulation);
    check.likelier = likelier_modulation(check, scaled, bits);
    if (check.likelier) return SymbolMismatch::modulation;
    check.faults = find_symbol_fault(fastest_host(), config_.modulation, scaled, block);
    if (check.faults.fault != SymbolFault::none) return SymbolMismatch::fault;
    check.likelier = likelier_modulation(check, scaled, max_bits_per_symbol);
    if (check.likelier) return SymbolMismatch::modulation;
    if (has_other_power(check)) return SymbolMismatch::power;
    if (has_other_noise(check)) return SymbolMismatch::noise_variance;
    return SymbolMismatch::none;
}

/// At the amplitude that the power implies.
std::vector<cf32> SymbolSample::scaled_symbols(const SymbolCheck& check) const {
    const auto factor = static_cast<float>(1.0 / check.amplitude());
    std::vector<cf32> scaled;
    scaled.reserve(symbols_.size());
    for (const cf32 symbol : symbols_)
        scaled.push_back(symbol * factor);
    return scaled;
}

/// Fits modulations of up to max_bits per symbol, each with its own gain and N0.
std::optional<Modulation> SymbolSample::likelier_modulation(const SymbolCheck& check,
                                                            std::span<const cf32> scaled,
                                                            std::size_t max_bits) const {
    constexpr double doubtful_share = 0.1;
    const SymbolSums sums = decide(scaled, config_.modulation);
    const ExpectedDecisions of_noise =
        expected_decisions(config_.modulation, {.gain = 0.0, .noise_variance = 1.0});
    const Moments moments = moments_of(scaled);
    const double kurtosis = moments.fourth * moments.count / (moments.second * moments.second);
    constexpr double tolerance = 0.1;
    const bool is_doubtful =
        sums.error / sums.decided > doubtful_share * error_ratio(of_noise) ||
        std::abs(kurtosis - expected_kurtosis(config_.modulation, check.mean_noise_variance)) > tolerance;
    // Good decisions are those of the right points, but QPSK has those of BPSK too.
    const bool may_be_bpsk = config_.modulation == Modulation::qpsk;
    if (!is_doubtful && !may_be_bpsk) return std::nullopt;
    constexpr std::size_t fitted = 1024;
    const std::size_t step = std::max<std::size_t>(symbols_.size() / fitted, 1) | 1U;
    const auto fit = [&](Modulation modulation) {
        const GainAndNoise measured = estimate_gain(fastest_host(), {.modulation = modulation}, symbols_);
        std::vector<cf32> divided;
        for (const cf32 symbol : symbols_)
            divided.push_back(symbol / static_cast<float>(measured.gain));
        // Rounding is noise too.
        const std::vector<float> noise(divided.size(),
                                       static_cast<float>(std::max(measured.noise_variance, 1e-6)));
        return fit_symbols(divided, noise, block, step, modulation);
    };
    constexpr double min_bits = 0.2;
    constexpr double min_evidence = 1.0;
    SymbolFit best = fit(config_.modulation);
    std::optional<Modulation> likelier;
    for (const Modulation modulation : all_modulations) {
        if (modulation == config_.modulation || bits_per_symbol(modulation) > (is_doubtful ? max_bits : 1))
            continue;
        SymbolFit other = fit(modulation);
        if (other.evidence < min_evidence || !other.is_better_than(best, min_bits)) continue;
        best = std::move(other);
        likelier = modulation;
    }
    return likelier;
}

bool SymbolSample::shows_no_constellation(const SymbolCheck& check) const {
    std::vector<double> kurtosis;
    for (const std::span<const cf32> part : in_blocks(std::span(symbols_)))
        if (const std::optional<double> of_block = kurtosis_of(moments_of(part)))
            kurtosis.push_back(*of_block);
    if (kurtosis.size() < min_blocks / 2) return false;
    const auto middle = kurtosis.begin() + static_cast<std::ptrdiff_t>(kurtosis.size() / 2);
    std::ranges::nth_element(kurtosis, middle);
    // The kurtosis of a block of noise deviates by 2 / sqrt(length). The median over blocks deviates 1.25
    // times as much as their mean.
    const double by_chance =
        deviations * 2.0 * 1.25 / std::sqrt(static_cast<double>(kurtosis.size()) * double{block});
    constexpr double tolerance = 0.05;
    const bool like_noise = std::abs(*middle - 2.0) < tolerance + by_chance;
    const double with_n0 = expected_kurtosis(config_.modulation, check.mean_noise_variance);
    if (!like_noise || *middle < with_n0 + tolerance + by_chance) return false;

    const SymbolSums sums = decide(of_unit_power(symbols_), config_.modulation);
    const double of_noise =
        error_ratio(expected_decisions(config_.modulation, {.gain = 0.0, .noise_variance = 1.0}));
    constexpr double nearly = 0.9;
    return sums.error / sums.decided > nearly * of_noise;
}

bool SymbolSample::has_other_power(const SymbolCheck& check) const {
    // The power of noise deviates most: its standard deviation is its mean.
    const double by_chance = deviations / std::sqrt(static_cast<double>(check.symbols));
    const double with_noise = 1.0 + check.mean_noise_variance;
    const bool too_much = check.mean_power * (1.0 - by_chance) > with_noise * decibel;
    const bool too_little = check.mean_power * (1.0 + by_chance) < 1.0 / (with_noise * decibel);
    return too_much || too_little;
}

bool SymbolSample::has_other_noise(const SymbolCheck& check) const {
    constexpr double not_counted = 1e-4;
    constexpr double no_noise = 1e-3;
    if (check.evm > 2.0 * check.expected_evm)
        return check.evm > 2.0 * expected_evm(not_counted + rounding_noise());
    return check.evm > no_noise && check.evm < 0.5 * check.expected_evm;
}

}  // namespace detail

double SymbolCheck::amplitude() const {
    return std::sqrt(mean_power / (1.0 + mean_noise_variance));
}

std::string warning_of(const SymbolCheck& check, Modulation modulation) {
    if (check.mismatch == SymbolMismatch::modulation)
        return "the symbols look like " + std::string(to_string(*check.likelier)) + " rather than " +
               std::string(to_string(modulation)) + ": the modulation may be wrong";
    const SymbolFaults& faults = check.faults;
    switch (faults.fault) {
        case SymbolFault::none:
            break;
        case SymbolFault::rotated:
            return "the constellation is rotated by " + detail::rounded(faults.phase_deg) +
                   " degrees, or by a multiple of " + (bits_per_symbol(modulation) == 1 ? "180" : "90") +
                   " degrees more, which symbols alone do not show: rotate the symbols back";
        case SymbolFault::rotating:
            return "the constellation rotates: the symbols have a frequency offset or phase noise, which is "
                   "not corrected";
        case SymbolFault::offset:
            return "the symbols have a DC offset of " + detail::rounded(faults.offset_i) + " on I and " +
                   detail::rounded(faults.offset_q) + " on Q, in units of their amplitude: subtract it";
        case SymbolFault::imbalance:
            return "the symbols have an IQ imbalance of " + detail::rounded(faults.iq_gain_db) + " dB and " +
                   detail::rounded(faults.iq_phase_deg) + " degrees: correct it";
    }
    return "";
}

}  // namespace phy
