#include "phy/files/receive/capture_signal.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "phy/files/common.hpp"

namespace phy::detail {
namespace {

/// Two numbers with the ratio a / b.
struct Ratio {
    std::uint64_t a;
    std::uint64_t b;
};

/// Of rates in units of a millihertz, in which recorders give them.
Ratio ratio_of(double a, double b) {
    const auto whole = [](double rate) { return static_cast<std::uint64_t>(std::llround(1e3 * rate)); };
    const std::uint64_t divisor = std::gcd(whole(a), whole(b));
    return {whole(a) / divisor, whole(b) / divisor};
}

__extension__ using Wide = unsigned __int128;

/// number a / b rounded to the nearest integer.
std::uint64_t scaled(std::uint64_t number, const Ratio& ratio) {
    return static_cast<std::uint64_t>((Wide{number} * ratio.a + ratio.b / 2) / ratio.b);
}

}  // namespace

CaptureSignal::CaptureSignal(const Host& host, CaptureReader& capture,
                             const std::optional<ResamplerConfig>& rates)
    : capture_(capture),
      recorded_length_(capture.description().symbols / capture.description().antennas),
      length_(recorded_length_),
      rates_(rates.value_or(ResamplerConfig{.input_rate = 1.0, .output_rate = 1.0})) {
    if (rates_.input_rate == rates_.output_rate) return;
    rates_.full_scale = full_scale_of(capture.description());
    resample_.emplace(host, rates_);
    length_ = sample_at(recorded_length_);
}

SampleFormat CaptureSignal::format() const {
    return is_resampled() ? SampleFormat::cf32 : description().format;
}

std::uint64_t CaptureSignal::recorded(std::uint64_t sample) const {
    return scaled(sample, ratio_of(rates_.input_rate, rates_.output_rate));
}

std::uint64_t CaptureSignal::sample_at(std::uint64_t recorded) const {
    return scaled(recorded, ratio_of(rates_.output_rate, rates_.input_rate));
}

CaptureSignal::Position CaptureSignal::position_of(std::int64_t sample) const {
    const Ratio ratio = ratio_of(rates_.input_rate, rates_.output_rate);
    const auto b = static_cast<std::int64_t>(ratio.b);
    // Rounded down, also below 0.
    const std::int64_t periods = sample >= 0 ? sample / b : -((b - 1 - sample) / b);
    const Wide in_period = Wide{static_cast<std::uint64_t>(sample - periods * b)} * ratio.a;
    return {.sample =
                periods * static_cast<std::int64_t>(ratio.a) + static_cast<std::int64_t>(in_period / ratio.b),
            .fraction = static_cast<std::uint64_t>((in_period % ratio.b << 32U) / ratio.b)};
}

Link CaptureSignal::receiver_link(Link link) const {
    if (!is_resampled()) return link;
    link.carrier.sample_rate = rates_.output_rate;
    if (link.carrier.first_sample) link.carrier.first_sample = sample_at(*link.carrier.first_sample);
    return link;
}

Link CaptureSignal::recorded_link(Link link) const {
    if (!is_resampled()) return link;
    link.carrier.sample_rate = rates_.input_rate;
    if (link.carrier.first_sample) link.carrier.first_sample = recorded(*link.carrier.first_sample);
    return link;
}

/// Reads recorded samples, or elements; 0 outside.
void CaptureSignal::copy(std::int64_t first, std::size_t count, std::size_t stride, std::span<std::byte> to) {
    const auto end = static_cast<std::int64_t>(recorded_length_);
    const std::int64_t from = std::clamp<std::int64_t>(first, 0, end);
    const std::int64_t last = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(count), from, end);
    const auto there = static_cast<std::size_t>(last - from);
    if (there < count) std::ranges::fill(to, std::byte{0});
    if (there == 0) return;
    const SymbolSpan all(description().format, to);
    for (std::uint64_t antenna = 0; antenna < antennas(); ++antenna)
        capture_.read(antenna * recorded_length_ + static_cast<std::uint64_t>(from),
                      all.subspan(antenna * stride + static_cast<std::size_t>(from - first), there));
}

void CaptureSignal::read(std::int64_t first, std::size_t count, std::size_t stride, std::span<std::byte> to) {
    if (!is_resampled()) return copy(first, count, stride, to);
    const Position begin = position_of(first);
    const auto margin = static_cast<std::int64_t>(resample_->margin());
    const auto span = static_cast<std::int64_t>((count * resample_->step()) >> 32U) + 2;
    const auto inputs = static_cast<std::size_t>(span + 2 * margin);
    input_.resize(antennas() * inputs * size_of(description().format));
    copy(begin.sample - margin, inputs, inputs, input_);
    output_.resize(antennas() * count);
    const std::vector<ResampledRow> rows(
        antennas(), {.position = (static_cast<std::uint64_t>(margin) << 32U) + begin.fraction,
                     .step = resample_->step()});
    (*resample_)(SymbolView(description().format, input_), rows, output_);
    for (std::uint64_t antenna = 0; antenna < antennas(); ++antenna)
        std::memcpy(to.data() + antenna * stride * sizeof(cf32), output_.data() + antenna * count,
                    count * sizeof(cf32));
}

std::vector<std::byte> CaptureSignal::read(std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> samples(antennas() * count * size_of(format()));
    read(static_cast<std::int64_t>(first), count, count, samples);
    return samples;
}

std::vector<std::byte> CaptureSignal::read_recorded(std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> samples(antennas() * count * size_of(description().format));
    copy(static_cast<std::int64_t>(first), count, count, samples);
    return samples;
}

}  // namespace phy::detail
