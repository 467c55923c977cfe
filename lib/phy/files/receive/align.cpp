#include "phy/files/receive/align.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "phy/receiver/acquisition/fourier.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

/// Stretches of a file that are correlated, at most.
constexpr std::uint64_t max_stretches = 4;

/// The antennas of a file that are correlated, at most.
constexpr std::uint64_t max_antennas_of_file = 4;

/// The strongest correlation over the mean, if `terms` were added, is at least this: noise reaches it with a
/// probability of about 1e-9.
double sure_ratio(double terms) {
    return 6.0 + 30.0 / terms;
}

/// Correlations from this share of the strongest on may be the right one: of signals that repeat, the nearest
/// is taken.
constexpr double similar = 0.7;

/// A delay that is less clear is doubtful. Noise alone hardly makes it so.
constexpr double doubtful_clarity = 2.5;

/// A delay that is so clear is not measured again with other files: errors of a part of the channel's spread
/// add up from file to file.
constexpr double sure_clarity = 10.0;

/// Paths that count have this power over that of the strongest.
constexpr double weakest_path = 0.1;

/// A bin of the product of two spectra is at most this, over the mean magnitude: a line would correlate at
/// all delays.
constexpr double max_bin = 8.0;

using Spectrum = std::vector<float>;  ///< real parts, then imaginary ones

/// Samples of the antennas of a file.
class AntennaFile {
public:
    AntennaFile(const std::filesystem::path& file, const CaptureOptions& options) : reader_(file, options) {}

    [[nodiscard]] std::uint64_t antennas() const { return reader_.description().antennas; }
    [[nodiscard]] std::uint64_t length() const { return reader_.description().symbols / antennas(); }
    [[nodiscard]] std::string name() const { return reader_.description().file.string(); }

    /// The spectrum of samples without their mean, of unit energy. Those outside of the file are 0. empty: no
    /// sample differs from the mean.
    Spectrum spectrum(std::uint64_t antenna, std::int64_t first, std::size_t count,
                      FourierTransform& transform) {
        const auto end = static_cast<std::int64_t>(length());
        const std::int64_t from = std::clamp<std::int64_t>(first, 0, end);
        const std::int64_t to = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(count), from, end);
        const auto there = static_cast<std::size_t>(to - from);
        if (there == 0) return {};
        const SampleFormat format = reader_.description().format;
        bytes_.resize(there * size_of(format));
        reader_.read(antenna * length() + static_cast<std::uint64_t>(from), SymbolSpan(format, bytes_));
        Spectrum result(2 * transform.points());
        float* const re = result.data();
        float* const im = re + transform.points();
        const auto at = static_cast<std::size_t>(from - first);
        read_samples(SymbolView(format, bytes_), re + at, im + at);
        if (!normalise({re + at, there}, {im + at, there})) return {};
        transform(re, im);
        return result;
    }

private:
    static bool normalise(std::span<float> re, std::span<float> im) {
        double energy = 0.0;
        for (const std::span<float> plane : {re, im}) {
            const double sum = std::accumulate(plane.begin(), plane.end(), 0.0);
            const auto mean = static_cast<float>(sum / static_cast<double>(plane.size()));
            for (float& component : plane) {
                component -= mean;
                energy += static_cast<double>(component) * static_cast<double>(component);
            }
        }
        if (!(energy > 0.0 && std::isfinite(energy))) return false;
        const auto scale = static_cast<float>(1.0 / std::sqrt(energy));
        for (const std::span<float> plane : {re, im})
            for (float& component : plane)
                component *= scale;
        return true;
    }

    CaptureReader reader_;
    std::vector<std::byte> bytes_;
};

/// Of a file, in samples.
struct Delay {
    std::int64_t samples = 0;
    /// Power of its correlation over the strongest beyond the channel's spread; the least on the way.
    double clarity = std::numeric_limits<double>::infinity();
};

/// Correlates two files.
class Correlation {
public:
    /// transform: of 4 max_delay points, at least.
    Correlation(AntennaFile& a, AntennaFile& b, FourierTransform& transform, const AlignConfig& config)
        : config_(config),
          count_(std::min(2 * config.max_delay, a.length())),
          transform_(transform),
          powers_(2 * config.max_delay + 1) {
        const std::uint64_t stretches = std::min(max_stretches, a.length() / count_);
        for (std::uint64_t i = 0; i < stretches && !config.stop.stop_requested(); ++i)
            add_stretch(a, b, i * (a.length() / stretches));
    }

    /// By how much the signal comes later in b. None: the samples do not correlate.
    [[nodiscard]] std::optional<Delay> delay() const;

private:
    void add_stretch(AntennaFile& a, AntennaFile& b, std::uint64_t first);
    void add_powers(const Spectrum& a, const Spectrum& b);
    [[nodiscard]] double power(std::int64_t lag) const {
        return powers_[static_cast<std::size_t>(lag + static_cast<std::int64_t>(config_.max_delay))];
    }

    AlignConfig config_;
    std::size_t count_;
    FourierTransform& transform_;
    std::vector<double> powers_;  ///< by lag, from -max_delay on
    double terms_ = 0.0;          ///< of their sums
};

void Correlation::add_stretch(AntennaFile& a, AntennaFile& b, std::uint64_t first) {
    const auto begin = static_cast<std::int64_t>(first);
    std::vector<Spectrum> of_a;
    for (std::uint64_t antenna = 0; antenna < std::min(a.antennas(), max_antennas_of_file); ++antenna)
        of_a.push_back(a.spectrum(antenna, begin, count_, transform_));
    for (std::uint64_t antenna = 0; antenna < std::min(b.antennas(), max_antennas_of_file); ++antenna) {
        const Spectrum of_b = b.spectrum(antenna, begin - static_cast<std::int64_t>(config_.max_delay),
                                         count_ + 2 * config_.max_delay, transform_);
        for (const Spectrum& spectrum : of_a)
            if (!spectrum.empty() && !of_b.empty()) add_powers(spectrum, of_b);
    }
}

void Correlation::add_powers(const Spectrum& a, const Spectrum& b) {
    const std::size_t points = transform_.points();
    Spectrum product(2 * points);
    double sum = 0.0;
    for (std::size_t k = 0; k < points; ++k) {
        const cf32 x(a[k], a[points + k]);
        const cf32 y(b[k], b[points + k]);
        product[k] = x.real() * y.real() + x.imag() * y.imag();
        product[points + k] = x.real() * y.imag() - x.imag() * y.real();
        sum += static_cast<double>(std::abs(cf32(product[k], product[points + k])));
    }
    const auto most = static_cast<float>(max_bin * sum / static_cast<double>(points));
    for (std::size_t k = 0; k < points; ++k) {
        const float magnitude = std::abs(cf32(product[k], product[points + k]));
        if (magnitude <= most) continue;
        product[k] *= most / magnitude;
        product[points + k] *= most / magnitude;
    }
    // The inverse.
    transform_(product.data() + points, product.data());
    for (std::size_t lag = 0; lag < powers_.size(); ++lag)
        powers_[lag] += static_cast<double>(std::norm(cf32(product[lag], product[points + lag])));
    terms_ += 1.0;
}

std::optional<Delay> Correlation::delay() const {
    if (terms_ == 0.0) return {};
    const double strongest = std::ranges::max(powers_);
    const double mean =
        std::accumulate(powers_.begin(), powers_.end(), 0.0) / static_cast<double>(powers_.size());
    if (!(strongest > sure_ratio(terms_) * mean)) return {};
    const auto max = static_cast<std::int64_t>(config_.max_delay);
    std::int64_t nearest = 2 * max;
    for (std::int64_t lag = -max; lag <= max; ++lag)
        if (power(lag) >= similar * strongest && std::abs(lag) < std::abs(nearest)) nearest = lag;
    // The paths of two antennas lie around the delay.
    const auto spread = static_cast<std::int64_t>(config_.spread);
    double sum = 0.0;
    double weights = 0.0;
    double elsewhere = 0.0;
    for (std::int64_t lag = -max; lag <= max; ++lag) {
        if (std::abs(lag - nearest) > spread) {
            elsewhere = std::max(elsewhere, power(lag));
        } else if (power(lag) >= weakest_path * strongest) {
            sum += power(lag) * static_cast<double>(lag);
            weights += power(lag);
        }
    }
    return Delay{.samples = std::llround(sum / weights), .clarity = power(nearest) / elsewhere};
}

}  // namespace

std::vector<std::uint64_t> aligning_skip(const std::filesystem::path& first, const CaptureOptions& options,
                                         const AlignConfig& config, std::vector<std::string>& warnings) {
    CaptureOptions alone = options;
    alone.more_antennas.clear();
    std::vector<AntennaFile> files;
    files.emplace_back(first, alone);
    for (const std::filesystem::path& file : options.more_antennas)
        files.emplace_back(file, alone);
    FourierTransform transform(std::bit_ceil(4 * config.max_delay));
    // Channels of several layers may be orthogonal: then a file does not correlate with another, or only with
    // its DM-RS, which repeat within a symbol. Files are joined by the clearest delays.
    std::vector<std::optional<Delay>> delays(files.size());
    delays[0] = Delay{};
    std::vector<bool> is_joined(files.size());
    const auto next = [&] {
        std::size_t clearest = files.size();
        for (std::size_t i = 0; i < files.size(); ++i)
            if (delays[i] && !is_joined[i] &&
                (clearest == files.size() || delays[i]->clarity > delays[clearest]->clarity))
                clearest = i;
        return clearest;
    };
    for (std::size_t from = next(); from < files.size() && !config.stop.stop_requested(); from = next()) {
        is_joined[from] = true;
        for (std::size_t to = 1; to < files.size(); ++to) {
            if (is_joined[to] || (delays[to] && delays[to]->clarity >= sure_clarity)) continue;
            const auto delay = Correlation(files[from], files[to], transform, config).delay();
            if (!delay) continue;
            const double clarity = std::min(delays[from]->clarity, delay->clarity);
            if (delays[to] && delays[to]->clarity >= clarity) continue;
            delays[to] = Delay{delays[from]->samples + delay->samples, clarity};
        }
    }
    std::vector<std::int64_t> known;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (!delays[i])
            warnings.push_back(files[i].name() +
                               ": its samples do not correlate with those of the other files: they are taken "
                               "as simultaneous with those of " +
                               files[0].name());
        known.push_back(delays[i].value_or(Delay{}).samples);
    }
    const auto [earliest, latest] = std::ranges::minmax(known);
    if (latest - earliest <= static_cast<std::int64_t>(config.harmless)) return {};
    std::vector<std::uint64_t> skip;
    for (std::size_t i = 0; i < files.size(); ++i) {
        skip.push_back(static_cast<std::uint64_t>(known[i] - earliest));
        if (i > 0 && delays[i] && delays[i]->clarity < doubtful_clarity)
            warnings.push_back(files[i].name() +
                               ": its samples correlate with those of the other files at several delays, and "
                               "it may be aligned with a wrong one");
    }
    return skip;
}

}  // namespace phy::detail
