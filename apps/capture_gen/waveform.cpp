#include "capture_gen/waveform.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace phy::apps {
namespace {

std::complex<double> turn(double turns) {
    return std::polar(1.0, 2.0 * std::numbers::pi * std::remainder(turns, 1.0));
}

}  // namespace

void Waveform::make(std::span<const cf32> grid, std::uint64_t slot, const SampleTimes& times,
                    std::span<cf32> samples) {
    std::ranges::fill(samples, cf32());
    const std::size_t width = timing_.subcarriers();
    for (std::size_t symbol = 0; symbol < timing_.symbols(); ++symbol)
        add_symbol(grid.subspan(symbol * width, width), slot, symbol, times, samples);
}

void Waveform::add_symbol(std::span<const cf32> elements, std::uint64_t slot, std::size_t symbol,
                          const SampleTimes& times, std::span<cf32> samples) {
    const double scale = times.rate / config_.sample_rate;
    const double samples_per_symbol = times.rate / config_.subcarrier_spacing;
    const auto prefix = static_cast<double>(timing_.prefix_samples(slot, symbol));
    const auto start = static_cast<double>(timing_.symbol_start(slot, symbol));
    const double length = prefix + static_cast<double>(timing_.fft_size());
    const auto index_of = [&](double time) {
        const double index = std::ceil(time * scale - times.first);
        return static_cast<std::size_t>(std::clamp(index, 0.0, static_cast<double>(samples.size())));
    };
    const std::size_t begin = index_of(start);
    const std::size_t end = index_of(start + length);
    if (begin == end) return;
    steps_.clear();
    for (std::size_t i = begin; i < end; ++i) {
        const double time = (times.first + static_cast<double>(i)) - (start + prefix) * scale;
        steps_.push_back(turn(time / samples_per_symbol));
    }
    sums_.assign(end - begin, 0.0);
    for (auto element = elements.rbegin(); element != elements.rend(); ++element) {
        const double re = static_cast<double>(element->real());
        const double im = static_cast<double>(element->imag());
        for (std::size_t i = 0; i < sums_.size(); ++i) {
            const double x = sums_[i].real() * steps_[i].real() - sums_[i].imag() * steps_[i].imag() + re;
            const double y = sums_[i].real() * steps_[i].imag() + sums_[i].imag() * steps_[i].real() + im;
            sums_[i] = {x, y};
        }
    }
    // f0, from the start of the subframe on.
    const std::uint64_t in_subframe = slot % timing_.slots_per_subframe();
    const double before = static_cast<double>(timing_.slot_start(in_subframe)) + start + prefix;
    const std::complex<double> factor =
        turn(-std::fmod(config_.center_frequency * before, config_.sample_rate) / config_.sample_rate) /
        samples_per_symbol;
    const double slot_start = static_cast<double>(timing_.slot_start(slot)) * scale;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        const double time = times.first + static_cast<double>(begin + i);
        const double of_zero = (time - (start + prefix) * scale) / samples_per_symbol *
                               static_cast<double>(timing_.zero_subcarrier());
        const double shift = config_.frequency_shift * (slot_start + time) / times.rate;
        samples[begin + i] = cf32(sums_[i] * factor * turn(-of_zero) * turn(-shift));
    }
}

}  // namespace phy::apps
