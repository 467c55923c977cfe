#include "drifting_recording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "air_capture.hpp"
#include "common/random.hpp"

namespace phy_test {
namespace {

constexpr double frame_seconds = 0.01;
constexpr double full_turn = 2.0 * std::numbers::pi;

/// Of the sent frame: cubic interpolation then errs by less than -70 dB.
constexpr int oversampling = 8;
constexpr std::size_t neighbours = 2;

/// Within these samples the clock is constant: 2 ppm over a minute change by 3e-11.
constexpr std::uint64_t block = 256;

constexpr std::size_t noise_samples = std::size_t{1} << 18U;

/// Integers of the signal's rms, about.
constexpr double level = 2000.0;

std::vector<phy::cf32> sent_frame(const DriftingRecording::Config& config, double gain) {
    phy::apps::Recording::Config sent;
    sent.link = config.link;
    sent.link.carrier.sample_rate = oversampling * *config.link.carrier.sample_rate;
    sent.slots = 10U * static_cast<std::uint64_t>(config.link.carrier.subcarrier_spacing / 15000);
    sent.snr_db = 200.0;
    sent.seed = config.seed;
    const std::vector<phy::cf32> frame = AirCapture(sent).data;
    std::vector<phy::cf32> result(frame.end() - neighbours, frame.end());
    result.insert(result.end(), frame.begin(), frame.end());
    result.insert(result.end(), frame.begin(), frame.begin() + neighbours);
    for (phy::cf32& sample : result)
        sample *= static_cast<float>(gain);
    return result;
}

std::vector<phy::cf32> noise_of(double rms, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<float> component(0.0F, static_cast<float>(rms / std::numbers::sqrt2));
    std::vector<phy::cf32> noise(noise_samples);
    for (phy::cf32& sample : noise)
        sample = phy::cf32(component(random), component(random));
    return noise;
}

/// Through four samples around `at` (Lagrange).
std::complex<double> interpolated(const phy::cf32* at, double share) {
    const double before = share + 1.0;
    const double after = share - 1.0;
    const double second = share - 2.0;
    const std::array<double, 4> weights = {-share * after * second / 6.0, before * after * second / 2.0,
                                           -before * share * second / 2.0, before * share * after / 6.0};
    std::complex<double> sum;
    for (std::size_t i = 0; i < weights.size(); ++i)
        sum += weights[i] * std::complex<double>(at[i].real(), at[i].imag());
    return sum;
}

std::int16_t to_integer(double value) {
    return static_cast<std::int16_t>(std::lrint(std::clamp(value, -32768.0, 32767.0)));
}

}  // namespace

double SwingingClock::at(double time) const {
    return offset + swing * std::sin(full_turn * (time / period + phase));
}

double SwingingClock::ahead(double time) const {
    return offset * time + swing * period / full_turn *
                               (std::cos(full_turn * phase) - std::cos(full_turn * (time / period + phase)));
}

DriftingRecording::DriftingRecording(const Config& config)
    : config_(config),
      rate_(config.link.carrier.sample_rate.value()),
      frame_(static_cast<std::uint64_t>(frame_seconds * rate_)) {
    // OFDM symbols are sums over a symbol's samples, so that the gain is over the size of the FFT.
    const double fft = rate_ / config.link.carrier.subcarrier_spacing;
    const double gain = level * std::sqrt(fft);
    sent_ = sent_frame(config, gain * oversampling);
    noise_ = noise_of(gain * std::sqrt(std::pow(10.0, -config.snr_db / 10.0) / fft), config.seed);
    const double end = frame_seconds * std::floor(config.seconds / frame_seconds + 0.5);
    double shown = end;
    for (int i = 0; i < 4; ++i)
        shown = end + config.clock.ahead(shown);
    size_ = static_cast<std::uint64_t>(std::ceil(shown * rate_));
}

/// Phase of the signal at a time that the clock shows.
double DriftingRecording::turns_at(double time) const {
    return config_.has_one_reference
               ? -config_.link.carrier.center_frequency.value() * config_.clock.ahead(time)
               : config_.frequency * time;
}

void DriftingRecording::make(std::uint64_t first, std::span<phy::ci16> samples) const {
    while (!samples.empty()) {
        const std::size_t count = std::min<std::size_t>(samples.size(), block - first % block);
        make_in_block(first, samples.first(count));
        samples = samples.subspan(count);
        first += count;
    }
}

void DriftingRecording::make_in_block(std::uint64_t first, std::span<phy::ci16> samples) const {
    const std::uint64_t begin = first - first % block;
    const double time = static_cast<double>(begin) / rate_;
    const double end = static_cast<double>(begin + block) / rate_;
    const double ahead = config_.clock.ahead(time);
    const double in_frame = static_cast<double>(begin % frame_) - ahead * rate_;
    const double step =
        oversampling * (1.0 - (config_.clock.ahead(end) - ahead) * rate_ / static_cast<double>(block));
    const double turns = turns_at(time);
    const double turns_step = (turns_at(end) - turns) / static_cast<double>(block);
    const auto offset = static_cast<double>(first - begin);
    const auto length = static_cast<double>(sent_.size() - 2 * neighbours);
    std::complex<double> phase =
        std::polar(1.0, full_turn * std::remainder(turns + offset * turns_step, 1.0));
    const std::complex<double> phase_step = std::polar(1.0, full_turn * turns_step);
    const phy::cf32* noise =
        noise_.data() + phy::apps::RandomSequence(config_.seed, 0).bits(begin) % (noise_.size() - block) +
        (first - begin);
    double position = oversampling * in_frame + offset * step;
    position -= std::floor(position / length) * length;
    for (phy::ci16& sample : samples) {
        const auto whole = static_cast<std::size_t>(position);
        const std::complex<double> sent =
            interpolated(sent_.data() + whole + neighbours - 1, position - static_cast<double>(whole));
        const double re = sent.real() * phase.real() - sent.imag() * phase.imag();
        const double im = sent.real() * phase.imag() + sent.imag() * phase.real();
        sample = {to_integer(re + static_cast<double>(noise->real())),
                  to_integer(im + static_cast<double>(noise->imag()))};
        ++noise;
        phase = {phase.real() * phase_step.real() - phase.imag() * phase_step.imag(),
                 phase.real() * phase_step.imag() + phase.imag() * phase_step.real()};
        position += step;
        if (position >= length) position -= length;
    }
}

}  // namespace phy_test
