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

Channel::Channel(const Config& config) : config_(config), phase_(phases_of(config)) {
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

std::size_t Channel::size() const {
    return static_cast<std::size_t>(config_.antennas) * static_cast<std::size_t>(config_.layers) * 2 *
           static_cast<std::size_t>(config_.subcarriers);
}

std::size_t Channel::received_size() const {
    return static_cast<std::size_t>(config_.antennas) * symbols_per_slot *
           static_cast<std::size_t>(config_.subcarriers);
}

void Channel::draw(const RandomSequence& random, std::span<float> coefficients) const {
    const auto count = static_cast<std::size_t>(config_.subcarriers);
    std::vector<double> re(count);
    std::vector<double> im(count);
    std::uint64_t drawn = 0;
    auto out = coefficients.begin();
    for (int antenna = 0; antenna < config_.antennas; ++antenna) {
        for (int layer = 0; layer < config_.layers; ++layer) {
            std::ranges::fill(re, 0.0);
            std::ranges::fill(im, 0.0);
            for (std::size_t tap = 0; tap < amplitudes_.size(); ++tap) {
                const std::complex<double> gain =
                    config_.model.kind == ChannelKind::awgn
                        ? std::polar(1.0, -two_pi * ((antenna * layer) % config_.antennas) / config_.antennas)
                        : amplitudes_[tap] * random.gaussian(drawn++);
                const double* const cosine = turns_.data() + tap * 2 * count;
                const double* const sine = cosine + count;
                for (std::size_t k = 0; k < count; ++k) {
                    re[k] += gain.real() * cosine[k] - gain.imag() * sine[k];
                    im[k] += gain.real() * sine[k] + gain.imag() * cosine[k];
                }
            }
            for (const std::vector<double>* part : {&re, &im})
                out = std::ranges::transform(*part, out, [](double x) { return static_cast<float>(x); }).out;
        }
    }
}

void Channel::pass(std::span<const cf32> sent, std::span<const float> coefficients, double noise_variance,
                   const RandomSequence& random, std::span<cf32> received) const {
    const auto count = static_cast<std::size_t>(config_.subcarriers);
    const auto layers = static_cast<std::size_t>(config_.layers);
    draw_noise(random, 0, noise_variance, received);
    for (std::size_t row = 0; row * count < received.size(); ++row) {
        const std::size_t antenna = row / symbols_per_slot;
        const std::size_t symbol = row % symbols_per_slot;
        for (std::size_t layer = 0; layer < layers; ++layer) {
            add_layer(sent.subspan((layer * symbols_per_slot + symbol) * count, count),
                      coefficients.subspan((antenna * layers + layer) * 2 * count, 2 * count), phase_[symbol],
                      received.subspan(row * count, count));
        }
    }
}

}  // namespace phy::apps
