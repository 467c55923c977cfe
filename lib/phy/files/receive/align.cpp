#include "phy/files/receive/align.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "phy/receiver/acquisition/fourier.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

/// Stretches of the first file that are correlated.
constexpr std::uint64_t stretches = 4;

/// Of the strongest correlation over the mean: noise is as strong with a probability of about 1e-12.
constexpr double sure = 40.0;

/// Correlations from this share of the strongest on may be the right one: of signals that repeat, the nearest
/// is taken.
constexpr double similar = 0.7;

/// Of paths beside the strongest, in power.
constexpr double weakest_path = 0.1;

using Spectrum = std::vector<float>;  ///< real parts, then imaginary ones

/// Samples of the antennas of a file.
class AntennaFile {
public:
    AntennaFile(const std::filesystem::path& file, const CaptureOptions& options) : reader_(file, options) {}

    [[nodiscard]] std::uint64_t antennas() const { return reader_.description().antennas; }
    [[nodiscard]] std::uint64_t length() const { return reader_.description().symbols / antennas(); }
    [[nodiscard]] std::string name() const { return reader_.description().file.string(); }

    /// The spectrum of samples without their mean, of unit power, behind zeros. Those outside of the file
    /// are 0.
    Spectrum spectrum(std::uint64_t antenna, std::int64_t first, std::size_t count,
                      FourierTransform& transform) {
        const auto end = static_cast<std::int64_t>(length());
        const std::int64_t from = std::clamp<std::int64_t>(first, 0, end);
        const std::int64_t to = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(count), from, end);
        const auto there = static_cast<std::size_t>(to - from);
        const SampleFormat format = reader_.description().format;
        bytes_.resize(there * size_of(format));
        reader_.read(antenna * length() + static_cast<std::uint64_t>(from), SymbolSpan(format, bytes_));
        Spectrum result(2 * transform.points());
        float* const re = result.data();
        float* const im = re + transform.points();
        const auto at = static_cast<std::size_t>(from - first);
        read_samples(SymbolView(format, bytes_), re + at, im + at);
        normalise({re + at, there}, {im + at, there});
        transform(re, im);
        return result;
    }

private:
    static void normalise(std::span<float> re, std::span<float> im) {
        double power = 0.0;
        for (const std::span<float> plane : {re, im}) {
            const double sum = std::accumulate(plane.begin(), plane.end(), 0.0);
            const auto mean =
                static_cast<float>(sum / static_cast<double>(std::max<std::size_t>(plane.size(), 1)));
            for (float& component : plane) {
                component -= mean;
                power += static_cast<double>(component) * static_cast<double>(component);
            }
        }
        const auto scale = static_cast<float>(power > 0.0 ? 1.0 / std::sqrt(power) : 0.0);
        for (const std::span<float> plane : {re, im})
            for (float& component : plane)
                component *= scale;
    }

    CaptureReader reader_;
    std::vector<std::byte> bytes_;
};

/// Correlates files with the first one.
class Aligner {
public:
    Aligner(AntennaFile& first, const AlignConfig& config)
        : first_(first),
          config_(config),
          count_(std::min(2 * config.max_delay, first.length())),
          transform_(std::bit_ceil(count_ + 2 * config.max_delay)) {}

    /// By how much the signal comes later in another file. None: the samples do not correlate.
    [[nodiscard]] std::optional<std::int64_t> delay_of(AntennaFile& other);

private:
    void add_powers(const Spectrum& a, const Spectrum& b);

    AntennaFile& first_;
    AlignConfig config_;
    std::size_t count_;
    FourierTransform transform_;
    std::vector<double> powers_;  ///< by lag, from -max_delay on
};

void Aligner::add_powers(const Spectrum& a, const Spectrum& b) {
    const std::size_t points = transform_.points();
    Spectrum product(2 * points);
    for (std::size_t k = 0; k < points; ++k) {
        const cf32 x(a[k], a[points + k]);
        const cf32 y(b[k], b[points + k]);
        product[k] = x.real() * y.real() + x.imag() * y.imag();
        product[points + k] = x.real() * y.imag() - x.imag() * y.real();
    }
    // The inverse.
    transform_(product.data() + points, product.data());
    for (std::size_t lag = 0; lag < powers_.size(); ++lag)
        powers_[lag] += static_cast<double>(std::norm(cf32(product[lag], product[points + lag])));
}

std::optional<std::int64_t> Aligner::delay_of(AntennaFile& other) {
    const auto max = static_cast<std::int64_t>(config_.max_delay);
    powers_.assign(2 * config_.max_delay + 1, 0.0);
    for (std::uint64_t i = 0; i < stretches; ++i) {
        const auto begin = static_cast<std::int64_t>(i * (first_.length() - count_) / (stretches - 1));
        std::vector<Spectrum> own;
        for (std::uint64_t antenna = 0; antenna < first_.antennas(); ++antenna)
            own.push_back(first_.spectrum(antenna, begin, count_, transform_));
        for (std::uint64_t antenna = 0; antenna < other.antennas(); ++antenna) {
            const Spectrum its =
                other.spectrum(antenna, begin - max, count_ + 2 * config_.max_delay, transform_);
            for (const Spectrum& spectrum : own)
                add_powers(spectrum, its);
        }
    }
    const double strongest = std::ranges::max(powers_);
    const double mean =
        std::accumulate(powers_.begin(), powers_.end(), 0.0) / static_cast<double>(powers_.size());
    if (!(strongest > sure * mean)) return {};
    std::int64_t nearest = 2 * max;
    for (std::int64_t lag = -max; lag <= max; ++lag)
        if (powers_[static_cast<std::size_t>(lag + max)] >= similar * strongest &&
            std::abs(lag) < std::abs(nearest))
            nearest = lag;
    // The paths of two antennas lie around the delay.
    const auto spread = static_cast<std::int64_t>(config_.spread);
    double sum = 0.0;
    double weights = 0.0;
    for (std::int64_t lag = std::max(nearest - spread, -max); lag <= std::min(nearest + spread, max); ++lag) {
        const double power = powers_[static_cast<std::size_t>(lag + max)];
        if (power < weakest_path * strongest) continue;
        sum += power * static_cast<double>(lag);
        weights += power;
    }
    return std::llround(sum / weights);
}

}  // namespace

std::vector<std::uint64_t> aligning_skip(const std::filesystem::path& first, const CaptureOptions& options,
                                         const AlignConfig& config, std::vector<std::string>& warnings) {
    CaptureOptions alone = options;
    alone.more_antennas.clear();
    AntennaFile reference(first, alone);
    Aligner aligner(reference, config);
    std::vector<std::int64_t> delays = {0};
    for (const std::filesystem::path& file : options.more_antennas) {
        AntennaFile other(file, alone);
        const std::optional<std::int64_t> delay = aligner.delay_of(other);
        if (!delay)
            warnings.push_back(other.name() + ": its samples do not correlate with those of " +
                               reference.name() +
                               ": they are taken as simultaneous; one of them may hold no signal, or begin " +
                               "more than half a frame later than the other");
        const auto harmless = static_cast<std::int64_t>(config.harmless);
        delays.push_back(std::abs(delay.value_or(0)) > harmless ? *delay : 0);
    }
    const std::int64_t earliest = std::ranges::min(delays);
    std::vector<std::uint64_t> skip;
    for (const std::int64_t delay : delays)
        skip.push_back(static_cast<std::uint64_t>(delay - earliest));
    return std::ranges::max(skip) > 0 ? skip : std::vector<std::uint64_t>();
}

}  // namespace phy::detail
