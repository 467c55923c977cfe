#include "common/signal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace phy::apps {
namespace {

constexpr std::uint64_t seed = 38211;

template <typename Integer>
Integer quantise(float value, float full_scale) {
    const float limit = static_cast<float>(std::numeric_limits<Integer>::max());
    return static_cast<Integer>(std::clamp(std::nearbyint(value * full_scale), -limit, limit));
}

void write(SampleFormat format, cf32 value, float full_scale, std::byte* out) {
    const auto put = [&](const auto& sample) { std::memcpy(out, &sample, sizeof sample); };
    switch (format) {
        case SampleFormat::cf32:
            return put(value);
        case SampleFormat::cf16:
            return put(cf16{half(value.real()), half(value.imag())});
        case SampleFormat::ci16:
            return put(ci16{quantise<std::int16_t>(value.real(), full_scale),
                            quantise<std::int16_t>(value.imag(), full_scale)});
        case SampleFormat::ci8:
            return put(ci8{quantise<std::int8_t>(value.real(), full_scale),
                           quantise<std::int8_t>(value.imag(), full_scale)});
    }
}

}  // namespace

void fill_repeating(std::span<std::byte> target, std::span<const std::byte> values) {
    for (std::size_t first = 0; first < target.size(); first += values.size()) {
        const std::size_t count = std::min(values.size(), target.size() - first);
        std::ranges::copy(values.first(count), target.subspan(first).begin());
    }
}

SoftDemapStage::Config stage_config(Modulation modulation, const Signal& signal, SoftBitFormat output) {
    return {.demapper = {.modulation = modulation, .full_scale = signal.full_scale},
            .input = signal.format,
            .output = output,
            .noise_variance = signal.noise_variance};
}

double working_snr(Modulation modulation) {
    constexpr std::array<double, all_modulations.size()> db = {5, 5, 8, 15, 21, 30, 36};
    return db[static_cast<std::size_t>(modulation)];
}

std::vector<std::uint8_t> random_bits(std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bits(count);
    for (auto& bit : bits)
        bit = static_cast<std::uint8_t>(random() >> 63);
    return bits;
}

Signal::Signal(Modulation modulation, SampleFormat sample_format, double snr_db, std::size_t count)
    : format(sample_format),
      samples(count * size_of(sample_format)),
      noise_per_symbol(count),
      noise_variance(static_cast<float>(std::pow(10.0, -snr_db / 10.0))),
      full_scale(sample_format == SampleFormat::ci8 ? 48.0F : 8192.0F),
      symbols(count) {
    const std::size_t unique = std::min(count, signal_stretch);
    std::vector<cf32> clean(unique);
    const Mapper map(Host({.backend = Backend::scalar()}), {.modulation = modulation});
    map(random_bits(unique * bits_per_symbol(modulation)), clean);
    std::mt19937_64 random(seed + 1);
    std::normal_distribution<float> noise(0.0F, std::sqrt(noise_variance / 2.0F));
    std::uniform_real_distribution<float> spread(0.8F, 1.25F);
    const std::size_t size = size_of(format);
    for (std::size_t i = 0; i < unique; ++i) {
        const cf32 received = clean[i] + cf32(noise(random), noise(random));
        write(format, received, full_scale.value_for(format), samples.data() + i * size);
        noise_per_symbol[i] = noise_variance * spread(random);
    }
    for (std::size_t i = unique; i < count; i += unique) {
        const std::size_t copied = std::min(unique, count - i);
        std::memcpy(samples.data() + i * size, samples.data(), copied * size);
        std::copy_n(noise_per_symbol.begin(), copied,
                    noise_per_symbol.begin() + static_cast<std::ptrdiff_t>(i));
    }
}

}  // namespace phy::apps
