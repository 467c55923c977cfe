#include "phy/receiver/acquisition/prefix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

/// A frequency offset counts from this number of standard deviations on.
constexpr double min_deviations = 4.0;

/// Fewer terms show no deviation.
constexpr std::size_t min_terms = 8;

/// The lower median; 0 of nothing.
double median_of(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Weighted {
    double value = 0.0;
    double weight = 0.0;
};

/// The value below which half of the weight lies; 0 of nothing.
double median_of(std::vector<Weighted> values) {
    std::ranges::sort(values, {}, &Weighted::value);
    double above = 0.0;
    for (const Weighted& each : values)
        above += 0.5 * each.weight;
    for (const Weighted& each : values) {
        above -= each.weight;
        if (above <= 0.0) return each.value;
    }
    return 0.0;
}

/// A limit for sizes, which only those of a few strong samples exceed: few slots may have a signal.
double largest_size(std::vector<double> sizes) {
    constexpr std::size_t strong = 4;
    const std::size_t from_top = std::min(strong, sizes.size() - 1);
    const auto place = sizes.begin() + static_cast<std::ptrdiff_t>(from_top);
    std::nth_element(sizes.begin(), place, sizes.end(), std::greater<>());
    return *place;
}

/// The direction in which most terms point, of length 1; 0 without any. The size of a term hardly matters: a
/// strong sample makes it large, and noise alone, such as in slots without a signal, small.
std::complex<double> direction_of(const std::vector<std::complex<double>>& terms,
                                  const std::vector<double>& sizes) {
    if (terms.empty()) return 0.0;
    const double largest = largest_size(sizes);
    const auto weight = [&](std::size_t i) { return std::sqrt(std::sqrt(std::min(sizes[i], largest))); };
    std::complex<double> direction = 0.0;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (sizes[i] > 0.0) direction += terms[i] / sizes[i] * weight(i);
    if (!(std::norm(direction) > 0.0)) return 0.0;
    // The sum of some directions that are none, such as where samples are missing, rotates it.
    std::vector<Weighted> angles;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (sizes[i] > 0.0)
            angles.push_back({elementary::angle_of(terms[i] * std::conj(direction)), weight(i)});
    return direction * elementary::phasor(median_of(std::move(angles))) / std::sqrt(std::norm(direction));
}

/// Removes terms of strong samples and short bursts. The part of a term at a right angle to the others grows
/// with the root of its size if it is due to noise, so that quotient is alike in all terms of a signal.
void erase_disturbed(std::vector<std::complex<double>>& terms) {
    constexpr double max_over_median = 8.0;  // 5.4 standard deviations
    constexpr double negligible = 0.02;      // rad
    std::vector<double> sizes;
    for (const std::complex<double>& term : terms)
        sizes.push_back(std::sqrt(std::norm(term)));
    const std::complex<double> direction = direction_of(terms, sizes);
    if (direction == 0.0) return;
    std::vector<double> quotients;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const std::complex<double> turned = terms[i] * std::conj(direction);
        const double across = turned.real() > 0.0 ? std::fabs(turned.imag()) : sizes[i];
        quotients.push_back(sizes[i] > 0.0 ? across / std::sqrt(sizes[i]) : 0.0);
    }
    const double most =
        max_over_median * median_of(quotients) + negligible * std::sqrt(median_of(std::move(sizes)));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms.size(); ++i)
        if (quotients[i] <= most) terms[kept++] = terms[i];
    terms.resize(kept);
}

std::size_t segment_of(const OfdmTiming& timing, std::uint64_t slot, std::size_t symbol) {
    return timing.prefix_samples(slot, symbol) / 2;
}

/// Leaves room for a linear convolution, and makes bins narrow compared with the resolution of a segment.
std::size_t points_for(const OfdmTiming& timing) {
    return std::max<std::size_t>(4, 2 * std::bit_ceil(segment_of(timing, 0, 0)));
}

}  // namespace

bool PrefixFrequency::may_be(double other) const {
    return std::fabs(hertz - other) < min_deviations * deviation;
}

PrefixFrequency frequency_of(std::vector<std::complex<double>> terms, double subcarrier_spacing) {
    erase_disturbed(terms);
    const std::complex<double> sum = std::accumulate(terms.begin(), terms.end(), std::complex<double>());
    double across = 0.0;  // energy of the terms' parts at a right angle to their sum
    for (const std::complex<double>& term : terms) {
        const double part = (term * std::conj(sum)).imag();
        across += part * part;
    }
    const double of_turn = subcarrier_spacing / (2.0 * std::numbers::pi);
    const double power = std::norm(sum);
    const bool is_known = power > 0.0 && terms.size() >= min_terms;
    return {.hertz = elementary::angle_of(sum) * of_turn,
            .deviation =
                is_known ? std::sqrt(across) / power * of_turn : std::numeric_limits<double>::infinity()};
}

PrefixCorrelator::PrefixCorrelator(const ReceiverPlan& plan)
    : timing_(plan.demodulator.value().ofdm),
      antennas_(plan.antennas),
      length_(plan.input),
      first_symbol_(plan.config.link.allocation.first_symbol),
      symbols_(plan.config.link.allocation.symbols),
      transform_(points_for(timing_)),
      bins_(transform_.points(), false) {
    const OfdmConfig& ofdm = plan.demodulator->ofdm;
    const double turns = ofdm.frequency_shift / ofdm.subcarrier_spacing;
    phase_ = elementary::phasor(2.0 * std::numbers::pi * std::fmod(turns, 1.0));
    choose_bins(plan.config.link, ofdm);
    for (int i = 0; i < 2; ++i) {
        re_[i].resize(transform_.points());
        im_[i].resize(transform_.points());
    }
}

void PrefixCorrelator::choose_bins(const Link& link, const OfdmConfig& ofdm) {
    const auto points = static_cast<double>(transform_.points());
    for (const ResourceBlocks& range : link.allocation.resource_blocks) {
        const auto bin_of = [&](int block) {
            const double subcarrier =
                subcarriers_per_resource_block * block - static_cast<double>(timing_.zero_subcarrier());
            const double frequency = subcarrier * ofdm.subcarrier_spacing - ofdm.frequency_shift;
            return frequency / ofdm.sample_rate * points;
        };
        // One more bin to either side, as a range may be narrower than a bin.
        const auto first = static_cast<std::int64_t>(std::floor(bin_of(range.first)));
        const auto last = static_cast<std::int64_t>(std::ceil(bin_of(range.first + range.count)));
        const auto mask = transform_.points() - 1;
        for (std::int64_t bin = first; bin <= last; ++bin)
            bins_[static_cast<std::size_t>(bin) & mask] = true;
    }
}

void PrefixCorrelator::load(const AntennaSamples& samples, std::size_t antenna, std::int64_t first,
                            std::size_t count, std::vector<float>& re, std::vector<float>& im) {
    samples.read(antenna, first, count, re.data(), im.data());
    std::fill(re.begin() + static_cast<std::ptrdiff_t>(count), re.end(), 0.0F);
    std::fill(im.begin() + static_cast<std::ptrdiff_t>(count), im.end(), 0.0F);
    transform_(re.data(), im.data());
}

void PrefixCorrelator::operator()(SymbolView samples, std::uint64_t slot, std::int64_t late,
                                  std::vector<std::complex<double>>& terms) {
    const AntennaSamples all = {.all = samples, .antennas = antennas_, .length = length_};
    const auto size = static_cast<std::int64_t>(timing_.fft_size());
    const auto slot_end = static_cast<std::int64_t>(timing_.slot_samples(slot));
    for (int l = first_symbol_; l < first_symbol_ + symbols_; ++l) {
        const auto symbol = static_cast<std::size_t>(l);
        const std::size_t count = segment_of(timing_, slot, symbol);
        const std::size_t prefix_end =
            timing_.symbol_start(slot, symbol) + timing_.prefix_samples(slot, symbol);
        const std::int64_t first = static_cast<std::int64_t>(prefix_end - count) + late;
        if (first < 0 || first + size + static_cast<std::int64_t>(count) > slot_end) continue;
        std::complex<double> of_symbol = 0.0;
        for (std::size_t antenna = 0; antenna < antennas_; ++antenna) {
            load(all, antenna, first, count, re_[0], im_[0]);
            load(all, antenna, first + size, count, re_[1], im_[1]);
            for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
                if (!bins_[bin]) continue;
                const std::complex<double> prefix(re_[0][bin], im_[0][bin]);
                of_symbol += std::conj(prefix) * std::complex<double>(re_[1][bin], im_[1][bin]);
            }
        }
        terms.push_back(of_symbol * phase_);
    }
}

}  // namespace phy::detail
