#include "phy/files/receive/capture_signal.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "phy/files/common.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/samples.hpp"

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
                             const std::optional<ResamplerConfig>& rates, std::uint64_t skipped,
                             const std::optional<std::vector<std::uint64_t>>& left_out)
    : host_(host),
      capture_(capture),
      description_(capture.description()),
      rows_(description_.antennas),
      skipped_(skipped),
      recorded_length_(capture.description().symbols / capture.description().antennas),
      length_(recorded_length_),
      rates_(rates.value_or(ResamplerConfig{.input_rate = 1.0, .output_rate = 1.0})) {
    rates_.full_scale = full_scale_of(capture.description());
    resample(false);
    if (is_resampled()) length_ = count_of(recorded_length_);
    std::iota(rows_.begin(), rows_.end(), 0);
    leave_out(left_out ? *left_out : still_antennas());
}

bool CaptureSignal::is_still(std::uint64_t antenna) {
    constexpr std::uint64_t most = 16'384;
    std::vector<std::byte> bytes;
    std::vector<float> re(most);
    std::vector<float> im(most);
    cf32 first;
    for (std::uint64_t begin = 0; begin < recorded_length_; begin += most) {
        const std::size_t count = std::min(most, recorded_length_ - begin);
        bytes.resize(count * size_of(description_.format));
        const SymbolSpan samples(description_.format, bytes);
        capture_.read(antenna * recorded_length_ + begin, samples);
        read_samples(samples, re.data(), im.data());
        if (begin == 0) first = {re[0], im[0]};
        for (std::size_t i = 0; i < count; ++i)
            if (cf32(re[i], im[i]) != first) return false;
    }
    return true;
}

std::vector<std::uint64_t> CaptureSignal::still_antennas() {
    std::vector<std::uint64_t> still;
    for (const std::uint64_t antenna : rows_)
        if (is_still(antenna)) still.push_back(antenna);
    return still;
}

void CaptureSignal::leave_out(const std::vector<std::uint64_t>& antennas) {
    left_out_ = antennas;
    if (left_out_.empty()) return;
    std::erase_if(rows_, [&](std::uint64_t antenna) {
        return std::ranges::find(left_out_, antenna) != left_out_.end();
    });
    const bool has_dimension = description_.antennas > 1;
    description_.antennas = rows_.size();
    description_.symbols = rows_.size() * recorded_length_;
    if (has_dimension) description_.shape.front() = rows_.size();
}

bool CaptureSignal::can_resample() const {
    return rates_.bandwidth > 0.0;
}

void CaptureSignal::resample(bool all) {
    is_resampled_ = all || rates_.input_rate != rates_.output_rate;
    if (is_resampled_ && !resample_) resample_.emplace(host_, rates_);
}

SampleFormat CaptureSignal::format() const {
    return is_resampled() ? SampleFormat::cf32 : description().format;
}

std::uint64_t CaptureSignal::recorded(std::uint64_t sample) const {
    return skipped_ + recorded_count(sample);
}

std::uint64_t CaptureSignal::recorded_count(std::uint64_t samples) const {
    return scaled(samples, ratio_of(rates_.input_rate, rates_.output_rate));
}

std::uint64_t CaptureSignal::count_of(std::uint64_t recorded) const {
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

/// late: recorded samples.
CaptureSignal::Position CaptureSignal::moved(const Position& position, double late) {
    const double whole = std::floor(late);
    const auto fraction =
        static_cast<std::uint64_t>(std::llround((late - whole) * 0x1p32)) + position.fraction;
    return {.sample = position.sample + static_cast<std::int64_t>(whole) +
                      static_cast<std::int64_t>(fraction >> 32U),
            .fraction = fraction & 0xFFFFFFFFU};
}

Link CaptureSignal::receiver_link(Link link) const {
    std::optional<std::uint64_t>& first = link.carrier.first_sample;
    if (first && *first < skipped_) {
        const double subframe = 1e-3 * rates_.input_rate;
        const double later = std::ceil(static_cast<double>(skipped_ - *first) / subframe);
        *first += static_cast<std::uint64_t>(std::llround(later * subframe));
        const int slots = slots_per_frame(link.carrier);
        link.carrier.first_slot = static_cast<int>(
            (link.carrier.first_slot + static_cast<std::int64_t>(later) * (slots / 10)) % slots);
    }
    if (first) first = count_of(*first - skipped_);
    if (is_resampled()) link.carrier.sample_rate = rates_.output_rate;
    return link;
}

Link CaptureSignal::recorded_link(Link link) const {
    if (link.carrier.first_sample) link.carrier.first_sample = recorded(*link.carrier.first_sample);
    if (is_resampled()) link.carrier.sample_rate = rates_.input_rate;
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
        capture_.read(rows_[antenna] * recorded_length_ + static_cast<std::uint64_t>(from),
                      all.subspan(antenna * stride + static_cast<std::size_t>(from - first), there));
}

/// Takes impairments out of the output.
void CaptureSignal::correct(std::size_t count) {
    for (std::size_t antenna = 0; antenna < impairments_.size(); ++antenna) {
        const auto [line, image, gain] = impairments_[antenna];
        const float scale = 1.0F / gain;
        for (cf32& sample : std::span(output_).subspan(antenna * count, count)) {
            const cf32 x = sample - line;
            sample = {scale * (x.real() - (image.real() * x.real() + image.imag() * x.imag())),
                      scale * (x.imag() - (image.imag() * x.real() - image.real() * x.imag()))};
        }
    }
}

/// Takes a frequency, in turns per sample, out of the output.
void CaptureSignal::rotate(double turns, std::size_t count) {
    constexpr std::size_t block = 128;
    const auto make = [](std::vector<cf32>& phases, std::size_t size, double step) {
        phases.resize(size);
        for (std::size_t i = 0; i < size; ++i) {
            const double angle = step * static_cast<double>(i);
            phases[i] = cf32(elementary::turn(angle - std::floor(angle)));
        }
    };
    make(fine_, block, -turns);
    make(coarse_, (count + block - 1) / block, -turns * static_cast<double>(block));
    for (std::size_t first = 0; first < output_.size(); first += count)
        for (std::size_t begin = 0; begin < count; begin += block) {
            const cf32 a = coarse_[begin / block];
            const auto of_block = std::span(output_).subspan(first + begin, std::min(block, count - begin));
            for (std::size_t i = 0; i < of_block.size(); ++i) {
                const cf32 b = fine_[i];
                const cf32 phase(a.real() * b.real() - a.imag() * b.imag(),
                                 a.real() * b.imag() + a.imag() * b.real());
                const cf32 x = of_block[i];
                of_block[i] = {x.real() * phase.real() - x.imag() * phase.imag(),
                               x.real() * phase.imag() + x.imag() * phase.real()};
            }
        }
}

void CaptureSignal::resample_to_output(std::int64_t first, std::size_t count, const SlotPlace& place) {
    const Position begin = moved(position_of(first), place.late * rates_.input_rate / rates_.output_rate);
    const auto step = static_cast<std::uint64_t>(
        std::llround(static_cast<double>(resample_->step()) * (1.0 + place.clock)));
    const auto margin = static_cast<std::int64_t>(resample_->margin());
    const auto span = static_cast<std::int64_t>((count * step) >> 32U) + 2;
    const auto inputs = static_cast<std::size_t>(span + 2 * margin);
    input_.resize(antennas() * inputs * size_of(description().format));
    copy(begin.sample - margin, inputs, inputs, input_);
    output_.resize(antennas() * count);
    const std::vector<ResampledRow> rows(
        antennas(), {.position = (static_cast<std::uint64_t>(margin) << 32U) + begin.fraction, .step = step});
    (*resample_)(SymbolView(description().format, input_), rows, output_);
    if (!impairments_.empty()) correct(count);
    if (place.frequency != 0.0) rotate(place.frequency / rates_.output_rate, count);
}

void CaptureSignal::read(std::int64_t first, std::size_t count, std::size_t stride, std::span<std::byte> to,
                         const SlotPlace& place) {
    if (!is_resampled()) return copy(first + std::llround(place.late), count, stride, to);
    resample_to_output(first, count, place);
    for (std::uint64_t antenna = 0; antenna < antennas(); ++antenna)
        std::memcpy(to.data() + antenna * stride * sizeof(cf32), output_.data() + antenna * count,
                    count * sizeof(cf32));
}

std::vector<std::byte> CaptureSignal::read(std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> samples(antennas() * count * size_of(format()));
    read(static_cast<std::int64_t>(first), count, count, samples);
    return samples;
}

std::vector<SampleMoments> CaptureSignal::moments() {
    if (!moments_.empty()) return moments_;
    constexpr std::uint64_t stretches = 16;
    constexpr std::uint64_t most = 65536;
    const std::uint64_t count = std::min(most, length_ / stretches);
    std::vector<SampleMoments> result(antennas());
    for (std::uint64_t i = 0; i < stretches; ++i) {
        resample_to_output(static_cast<std::int64_t>(i * (length_ / stretches)), count, {});
        for (std::size_t antenna = 0; antenna < result.size(); ++antenna)
            for (const cf32 sample : std::span(output_).subspan(antenna * count, count)) {
                const auto re = static_cast<double>(usable(sample.real()));
                const auto im = static_cast<double>(usable(sample.imag()));
                result[antenna].mean += std::complex<double>(re, im);
                result[antenna].square += std::complex<double>(re * re - im * im, 2.0 * re * im);
                result[antenna].power += re * re + im * im;
            }
    }
    for (SampleMoments& moments : result) {
        moments.samples = static_cast<double>(stretches * count);
        const double re = moments.mean.real() / moments.samples;
        const double im = moments.mean.imag() / moments.samples;
        moments.mean = {re, im};
        moments.square =
            moments.square / moments.samples - std::complex<double>(re * re - im * im, 2.0 * re * im);
        moments.power = moments.power / moments.samples - (re * re + im * im);
    }
    moments_ = result;
    return result;
}

std::vector<std::byte> CaptureSignal::read_recorded(std::uint64_t first, std::uint64_t count) {
    std::vector<std::byte> samples(antennas() * count * size_of(description().format));
    copy(static_cast<std::int64_t>(first), count, count, samples);
    return samples;
}

}  // namespace phy::detail
