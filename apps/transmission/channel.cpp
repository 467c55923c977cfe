#include "transmission/channel.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

namespace phy::apps {
namespace {

constexpr double two_pi = 2.0 * std::numbers::pi;

/// From the start of a symbol to the start of the next, in units of a symbol without its cyclic prefix.
/// Ignores that the first prefix of each half subframe is a few samples longer.
constexpr double symbol_period = 1.0 + 9.0 / 128.0;

std::array<cf32, symbols_per_slot> phases_of(const Channel::Config& config) {
    std::array<cf32, symbols_per_slot> phases;
    const double turn = config.frequency_offset / config.subcarrier_spacing * symbol_period;
    for (int l = 0; l < symbols_per_slot; ++l)
        phases[static_cast<std::size_t>(l)] = cf32(std::polar(1.0, two_pi * std::remainder(turn * l, 1.0)));
    return phases;
}

/// The triangular root of the matrix of correlations J0(2 pi doppler tau) between symbols (Clarke, BSTJ
/// 1968).
std::vector<double> mixing_of(const Channel::Config& config) {
    if (config.doppler == 0.0) return {1.0};
    constexpr auto size = static_cast<std::size_t>(symbols_per_slot);
    const double turn = two_pi * config.doppler / config.subcarrier_spacing * symbol_period;
    std::vector<double> root(size * size);
    for (std::size_t j = 0; j < size; ++j) {
        for (std::size_t i = j; i < size; ++i) {
            double rest = std::cyl_bessel_j(0.0, turn * static_cast<double>(i - j));
            for (std::size_t k = 0; k < j; ++k)
                rest -= root[i * size + k] * root[j * size + k];
            // Slow fading has fewer dimensions than symbols.
            constexpr double rounding = 1e-12;
            const double pivot = i == j ? rest : root[j * size + j] * root[j * size + j];
            if (pivot > rounding) root[i * size + j] = rest / std::sqrt(pivot);
        }
    }
    return root;
}

/// Adds symbols times coefficients of one layer, rotated by the phase. Avoids std::complex, whose product
/// checks for NaN.
void add_layer(std::span<const cf32> sent, std::span<const float> coefficients, cf32 phase,
               std::span<cf32> received) {
    const std::size_t count = sent.size();
    const float* const re = coefficients.data();
    const float* const im = re + count;
    for (std::size_t k = 0; k < count; ++k) {
        const float h_re = re[k] * phase.real() - im[k] * phase.imag();
        const float h_im = re[k] * phase.imag() + im[k] * phase.real();
        const cf32 x = sent[k];
        received[k] += cf32(h_re * x.real() - h_im * x.imag(), h_re * x.imag() + h_im * x.real());
    }
}

}  // namespace

void draw_noise(const RandomSequence& random, std::uint64_t first, double noise_variance,
                std::span<cf32> noise) {
    if (noise_variance == 0.0) {
        std::ranges::fill(noise, cf32());
        return;
    }
    const double deviation = std::sqrt(noise_variance);
    for (std::size_t i = 0; i < noise.size(); ++i)
        noise[i] = cf32(deviation * random.gaussian(first + i));
}

Channel::Channel(const Config& config)
    : config_(config), mixing_(mixing_of(config)), phase_(phases_of(config)) {
    const auto count = static_cast<std::size_t>(config.subcarriers);
    for (const Tap& tap : taps_of(config.model)) {
        amplitudes_.push_back(std::sqrt(tap.power));
        const double turn = -(tap.delay + config.timing_offset) * config.subcarrier_spacing;
        const std::size_t first = turns_.size();
        turns_.resize(first + 2 * count);
        for (std::size_t k = 0; k < count; ++k) {
            // Counted from the middle of the carrier, so that a delay causes no common rotation.
            const double middle = static_cast<double>(k) - static_cast<double>(count) / 2.0;
            const double angle = two_pi * std::remainder(turn * middle, 1.0);
            turns_[first + k] = std::cos(angle);
            turns_[first + count + k] = std::sin(angle);
        }
    }
}

int Channel::moments() const {
    return config_.doppler == 0.0 ? 1 : symbols_per_slot;
}

std::size_t Channel::size() const {
    return static_cast<std::size_t>(moments()) * static_cast<std::size_t>(config_.antennas) *
           static_cast<std::size_t>(config_.layers) * 2 * static_cast<std::size_t>(config_.subcarriers);
}

std::size_t Channel::received_size() const {
    return static_cast<std::size_t>(config_.antennas) * symbols_per_slot *
           static_cast<std::size_t>(config_.subcarriers);
}

void Channel::draw_gains(const RandomSequence& random, std::uint64_t next,
                         std::span<std::complex<double>> gains) const {
    const auto count = static_cast<std::size_t>(moments());
    std::array<std::complex<double>, symbols_per_slot> independent;
    for (std::size_t tap = 0; tap < amplitudes_.size(); ++tap) {
        for (std::size_t i = 0; i < count; ++i)
            independent[i] = amplitudes_[tap] * random.gaussian(next++);
        for (std::size_t i = 0; i < count; ++i) {
            std::complex<double>& gain = gains[i * amplitudes_.size() + tap];
            gain = 0.0;
            for (std::size_t j = 0; j <= i; ++j)
                gain += mixing_[i * count + j] * independent[j];
        }
    }
}

void Channel::sum_taps(std::span<const std::complex<double>> gains, std::span<double> sum) const {
    const auto count = static_cast<std::size_t>(config_.subcarriers);
    double* const re = sum.data();
    double* const im = re + count;
    std::ranges::fill(sum, 0.0);
    for (std::size_t tap = 0; tap < gains.size(); ++tap) {
        const std::complex<double> gain = gains[tap];
        const double* const cosine = turns_.data() + tap * 2 * count;
        const double* const sine = cosine + count;
        for (std::size_t k = 0; k < count; ++k) {
            re[k] += gain.real() * cosine[k] - gain.imag() * sine[k];
            im[k] += gain.real() * sine[k] + gain.imag() * cosine[k];
        }
    }
}

void Channel::draw(const RandomSequence& random, std::span<float> coefficients) const {
    const std::size_t taps = amplitudes_.size();
    const auto layers = static_cast<std::size_t>(config_.layers);
    const std::size_t paths = static_cast<std::size_t>(config_.antennas) * layers;
    const auto count = static_cast<std::size_t>(moments());
    std::vector<std::complex<double>> gains(count * taps);
    std::vector<double> sum(2 * static_cast<std::size_t>(config_.subcarriers));
    for (std::size_t path = 0; path < paths; ++path) {
        const std::size_t turn = path / layers * (path % layers) % static_cast<std::size_t>(config_.antennas);
        if (config_.model.kind == ChannelKind::awgn)
            std::ranges::fill(gains, std::polar(1.0, -two_pi * static_cast<double>(turn) / config_.antennas));
        else
            draw_gains(random, path * taps * count, gains);
        for (std::size_t i = 0; i < count; ++i) {
            sum_taps(std::span(gains).subspan(i * taps, taps), sum);
            const auto out =
                coefficients.begin() + static_cast<std::ptrdiff_t>((i * paths + path) * sum.size());
            std::ranges::transform(sum, out, [](double x) { return static_cast<float>(x); });
        }
    }
}

void Channel::pass(std::span<const cf32> sent, std::span<const float> coefficients, double noise_variance,
                   const RandomSequence& random, std::span<cf32> received) const {
    const auto count = static_cast<std::size_t>(config_.subcarriers);
    const auto layers = static_cast<std::size_t>(config_.layers);
    draw_noise(random, 0, noise_variance, received);
    const std::size_t of_moment = coefficients.size() / static_cast<std::size_t>(moments());
    for (std::size_t row = 0; row * count < received.size(); ++row) {
        const std::size_t antenna = row / symbols_per_slot;
        const std::size_t symbol = row % symbols_per_slot;
        const auto now = coefficients.subspan(moments() == 1 ? 0 : symbol * of_moment, of_moment);
        for (std::size_t layer = 0; layer < layers; ++layer) {
            add_layer(sent.subspan((layer * symbols_per_slot + symbol) * count, count),
                      now.subspan((antenna * layers + layer) * 2 * count, 2 * count), phase_[symbol],
                      received.subspan(row * count, count));
        }
    }
}

}  // namespace phy::apps
