#include "capture_gen/stored_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace phy::apps {
namespace {

template <typename Integer>
Integer to_integer(float value, double full_scale) {
    using Limits = std::numeric_limits<Integer>;
    const double scaled = std::nearbyint(static_cast<double>(value) * full_scale);
    return static_cast<Integer>(std::clamp<double>(scaled, Limits::min(), Limits::max()));
}

template <typename Stored, typename Convert>
SymbolView converted(std::span<const cf32> samples, std::vector<Stored>& stored, Convert convert) {
    stored.resize(samples.size());
    std::ranges::transform(samples, stored.begin(), [&convert](cf32 sample) {
        return Stored{convert(sample.real()), convert(sample.imag())};
    });
    return stored;
}

}  // namespace

bool is_integer(SampleFormat format) {
    return format == SampleFormat::ci16 || format == SampleFormat::ci8;
}

double largest_integer(SampleFormat format) {
    return format == SampleFormat::ci16 ? std::numeric_limits<std::int16_t>::max()
                                        : std::numeric_limits<std::int8_t>::max();
}

StoredSamples::StoredSamples(SampleFormat format, std::optional<double> full_scale)
    : format_(format), full_scale_(full_scale.value_or(1.0)) {}

SymbolView StoredSamples::operator()(std::span<const cf32> samples) {
    switch (format_) {
        case SampleFormat::cf32:
            break;
        case SampleFormat::cf16:
            return converted(samples, halves_, [](float value) { return half(value); });
        case SampleFormat::ci16:
            return converted(samples, shorts_,
                             [this](float value) { return to_integer<std::int16_t>(value, full_scale_); });
        case SampleFormat::ci8:
            return converted(samples, bytes_,
                             [this](float value) { return to_integer<std::int8_t>(value, full_scale_); });
    }
    return samples;
}

}  // namespace phy::apps
