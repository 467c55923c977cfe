#include "phy/files/receive/correct.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

using Stretches = std::vector<Track::Stretch>;

/// A correction must lower the power of errors to this share of that without it, or with the one before.
constexpr double clear_share = 0.99;

/// A recorder's clock, and the clock that is looked at: a larger one shows a mistake, such as f0 in MHz.
constexpr double max_clock = 1e-4;

/// Below this phase, in radians, a clock turns the outermost subcarriers too little within half a slot.
constexpr double min_phase = 3e-3;

/// A change of the frequency below this share of the subcarrier spacing does no harm.
constexpr double min_frequency = 2e-3;

/// Lines and images are looked at from these powers on: of a line over a subcarrier, of an image over the
/// signal, and of either over what chance explains.
constexpr double min_line = 0.02;
constexpr double min_image = 1e-5;
constexpr double sure = 25.0;

/// A line of this power over the signal moves the frequency that prefixes show, and a stronger one hides the
/// DM-RS from a search.
constexpr double harmful_line = 1e-3;

/// Ratios of the noise of antennas that do no harm, and that gains do not make.
constexpr double min_noise_ratio = 1.5;
constexpr double max_noise_ratio = 1e8;

/// Noise that differs by more makes N0, a mean over antennas, clearly wrong for most of them. Symbols need
/// not be nearer to their points then: those of an antenna without a cable take no part.
constexpr double clear_noise_ratio = 10.0;
constexpr double same_share = 1.01;

/// What is corrected.
struct Choice {
    ClockSource source = ClockSource::none;
    bool follows_frequency = false;
    Stretches stretches;
    std::vector<Impairment> impairments = {};  ///< per antenna
};

double samples_per_slot(const CaptureSlots& slots, const ReceiverConfig& config) {
    return 0.01 * *config.link.carrier.sample_rate / slots.schedule().slots_per_frame();
}

/// Hz, of the recorder; 0: unknown.
double oscillator(const Link& link) {
    return *link.carrier.center_frequency == 0.0
               ? 0.0
               : *link.carrier.center_frequency + link.carrier.frequency_shift;
}

/// Of the samples as recorded, resampled.
std::vector<SampleMoments> moments_of(CaptureSignal& signal) {
    signal.take_out({});
    signal.resample(true);
    return signal.moments();
}

/// A line at frequency 0 and an image per antenna, if the samples show either. empty: neither.
std::vector<Impairment> impairments_of(std::span<const SampleMoments> antennas,
                                       const SlotAllocation& allocation) {
    const double subcarriers = allocation.subcarriers();
    std::vector<Impairment> result;
    bool any = false;
    for (const SampleMoments& moments : antennas) {
        Impairment& impairment = result.emplace_back();
        const double chance = sure / moments.samples;
        if (std::norm(moments.mean) > moments.power * std::max(min_line / subcarriers, chance))
            impairment.line = cf32(moments.mean);
        // Of s + g conj(s), the mean square over the power is 2 g / (1 + |g|^2).
        const std::complex<double> ratio = moments.square / moments.power;
        const std::complex<double> image = ratio / (1.0 + std::sqrt(std::max(1.0 - std::norm(ratio), 0.0)));
        if (std::norm(image) > std::max(min_image, 0.25 * chance)) impairment.image = cf32(image);
        any = any || impairment != Impairment();
    }
    return any ? result : std::vector<Impairment>();
}

class Chooser {
public:
    Chooser(const Host& host, ReceiverConfig& config, CaptureSlots& slots, std::uint64_t first,
            const Offsets& corrected)
        : host_(host),
          config_(config),
          slots_(slots),
          first_(first),
          corrected_(corrected),
          lines_(slots.signal().impairments()) {}

    Choice operator()(const Stretches& measured);

    void apply(const Choice& choice);

    [[nodiscard]] Stretches with_clock(Stretches stretches, ClockSource source) const;

private:
    [[nodiscard]] std::vector<Choice> clocks(const Stretches& measured) const;
    [[nodiscard]] std::vector<float> gains(const Choice& choice);
    [[nodiscard]] bool may_matter(const Stretches& stretches) const;
    [[nodiscard]] double error_of(const Choice& choice, std::uint64_t occasion);

    const Host& host_;
    ReceiverConfig& config_;
    CaptureSlots& slots_;
    std::uint64_t first_;
    const Offsets& corrected_;
    std::vector<Impairment> lines_;  ///< taken out before
    bool moves_ = false;             ///< the frequency does, over the recording
};

Stretches Chooser::with_clock(Stretches stretches, ClockSource source) const {
    for (Track::Stretch& stretch : stretches)
        for (std::size_t i = 0; i < stretch.points.size(); ++i) {
            SlotPlace& place = stretch.points[i].place;
            if (source == ClockSource::timing)
                place.clock = slope_at(stretch.points, i) / samples_per_slot(slots_, config_);
            if (source == ClockSource::frequency)
                place.clock = -(corrected_.frequency + place.frequency) / oscillator(config_.link);
        }
    return stretches;
}

/// Sets the track, and whether samples are resampled.
void Chooser::apply(const Choice& choice) {
    Stretches stretches = choice.stretches;
    if (!choice.follows_frequency)
        for (Track::Stretch& stretch : stretches)
            for (Track::Point& point : stretch.points)
                point.place.frequency = 0.0;
    slots_.signal().take_out(choice.impairments);
    slots_.signal().resample(choice.source != ClockSource::none || choice.follows_frequency ||
                             !choice.impairments.empty());
    config_.full_scale =
        slots_.signal().is_resampled() ? FullScale() : full_scale_of(slots_.signal().description());
    slots_.set_track(Track(std::move(stretches)));
}

/// Power of the errors of equalised symbols, the geometric mean over some slots with DM-RS: a faded slot does
/// not decide alone.
double Chooser::error_of(const Choice& choice, std::uint64_t occasion) {
    apply(choice);
    const std::uint64_t count = std::min(measured_slots, slots_.occasions() - occasion);
    const double least = min_coherence(config_.link.allocation);
    double sum = 0.0;
    double found = 0.0;
    for (const SlotReport& report : received_slots(host_, config_, slots_, occasion, count)) {
        if (!(report.coherence >= least) || !(report.evm > 0.0) || !std::isfinite(report.evm)) continue;
        sum += 2.0 * elementary::log(report.evm);
        found += 1.0;
    }
    if (found == 0.0) return std::numeric_limits<double>::infinity();
    return elementary::exp(sum / found);
}

bool Chooser::may_matter(const Stretches& stretches) const {
    const Link& link = config_.link;
    const double slot_seconds = 0.01 / slots_.schedule().slots_per_frame();
    const double band = static_cast<double>(link.allocation.subcarriers()) * link.carrier.subcarrier_spacing;
    double largest = 0.0;
    for (const Track::Stretch& stretch : stretches)
        for (const Track::Point& point : stretch.points)
            largest = std::max(largest, std::fabs(point.place.clock));
    return largest <= max_clock && largest * std::numbers::pi * band * slot_seconds > min_phase;
}

/// The point with the largest frequency.
const Track::Point& farthest_of(const Stretches& stretches) {
    const Track::Point* farthest = &stretches.front().points.front();
    for (const Track::Stretch& stretch : stretches)
        for (const Track::Point& point : stretch.points)
            if (std::fabs(point.place.frequency) > std::fabs(farthest->place.frequency)) farthest = &point;
    return *farthest;
}

std::vector<Choice> Chooser::clocks(const Stretches& measured) const {
    std::vector<Choice> choices;
    for (const ClockSource source : {ClockSource::frequency, ClockSource::timing}) {
        if (source == ClockSource::frequency && oscillator(config_.link) == 0.0) continue;
        Stretches stretches = with_clock(measured, source);
        if (may_matter(stretches)) choices.push_back({source, true, std::move(stretches), lines_});
    }
    return choices;
}

/// Of antennas with a choice, if their noise differs. empty: it does not.
std::vector<float> Chooser::gains(const Choice& choice) {
    if (config_.antennas == 1 || rejects_interference(config_) || config_.noise_variance) return {};
    apply(choice);
    const std::vector<double> noise = measured_from(host_, config_, slots_, first_).noise;
    if (noise.empty()) return {};
    const double most = std::ranges::max(noise);
    // Samples that are not finite make it infinite; a simulation may have none.
    if (!(most > 0.0 && std::isfinite(most))) return {};
    // An antenna that is not connected has hardly any.
    const auto is_live = [&](double of_antenna) { return of_antenna * max_noise_ratio > most; };
    const double reference = *std::ranges::find_if(noise, is_live);
    std::vector<float> result;
    bool any = false;
    for (const double of_antenna : noise) {
        any = any || (is_live(of_antenna) && of_antenna * min_noise_ratio < most);
        result.push_back(is_live(of_antenna) ? static_cast<float>(std::sqrt(of_antenna / reference)) : 1.0F);
    }
    return any ? result : std::vector<float>();
}

Choice Chooser::operator()(const Stretches& measured) {
    Choice best = {.stretches = measured, .impairments = lines_};
    if (!slots_.signal().can_resample()) return best;
    const Track::Point& farthest = farthest_of(measured);
    moves_ = std::fabs(farthest.place.frequency) > min_frequency * config_.link.carrier.subcarrier_spacing;
    const std::uint64_t at = slots_.occasion_from(farthest.slot);
    std::optional<double> least;
    const auto error = [&](const Choice& choice) {
        return error_of(choice, first_) *
               (moves_ ? error_of(choice, std::min(at, slots_.occasions() - 1)) : 1.0);
    };
    const auto take_if_less = [&](Choice choice, double of_this, double share = clear_share) {
        if (!least) least = error(best);
        if (!(of_this < share * *least)) return;
        least = of_this;
        best = std::move(choice);
    };
    std::vector<Choice> with_clocks = clocks(measured);
    if (moves_ || !with_clocks.empty()) {
        Choice followed = {ClockSource::none, true, measured, lines_};
        const double of_followed = error(followed);
        // With a clock the frequency is followed too: the clock must explain more than that alone does.
        for (Choice& choice : with_clocks)
            if (const double of_this = error(choice); of_this < of_followed)
                take_if_less(std::move(choice), of_this);
        if (moves_) take_if_less(std::move(followed), of_followed);
    }
    std::vector<Impairment> found = impairments_of(moments_of(slots_.signal()), config_.link.allocation);
    if (!found.empty() && found != lines_) {
        Choice choice = best;
        choice.impairments = std::move(found);
        const double of_this = error(choice);
        take_if_less(std::move(choice), of_this);
    }
    if (const std::vector<float> scales = gains(best); !scales.empty()) {
        Choice choice = best;
        choice.impairments.resize(scales.size());
        for (std::size_t antenna = 0; antenna < scales.size(); ++antenna)
            choice.impairments[antenna].gain = scales[antenna];
        const auto [least_scale, most_scale] = std::ranges::minmax(scales);
        const bool is_clear = most_scale * most_scale > clear_noise_ratio * least_scale * least_scale;
        const double of_this = error(choice);
        take_if_less(std::move(choice), of_this, is_clear ? same_share : clear_share);
    }
    return best;
}

}  // namespace

void take_out_harmful_lines(CaptureSignal& signal, const Link& link) {
    if (!signal.can_resample()) return;
    double band = 0.0;
    for (const ResourceBlocks& range : link.allocation.resource_blocks)
        band += subcarriers_per_resource_block * range.count * link.carrier.subcarrier_spacing;
    std::vector<Impairment> lines;
    bool any = false;
    for (const SampleMoments& moments : moments_of(signal)) {
        // Samples of a narrow band are alike: fewer are independent.
        const double chance = sure * signal.recorded_rate() / (band * moments.samples);
        const bool is_harmful = std::norm(moments.mean) > moments.power * std::max(harmful_line, chance);
        lines.push_back({.line = is_harmful ? cf32(moments.mean) : cf32()});
        any = any || is_harmful;
    }
    signal.resample(any);
    if (any) signal.take_out(std::move(lines));
}

void choose_corrections(const Host& host, ReceiverConfig& config, CaptureSlots& slots,
                        const std::vector<Track::Stretch>& stretches, std::uint64_t first,
                        Reception& result) {
    Chooser choose(host, config, slots, first, result.corrected);
    const Stretches by_timing = choose.with_clock(stretches, ClockSource::timing);
    const auto longest = std::ranges::max_element(by_timing, {}, [](const Track::Stretch& stretch) {
        return stretch.points.back().slot - stretch.points.front().slot;
    });
    const Choice choice = choose(stretches);
    choose.apply(choice);
    result.clock.corrected = choice.source;
    const auto shown = choice.source == ClockSource::frequency ? choice.stretches : by_timing;
    const Track::Stretch& stretch = shown[static_cast<std::size_t>(longest - by_timing.begin())];
    if (choice.source == ClockSource::none && stretch.points.size() == 1) return;
    result.clock.first = stretch.points.front().place.clock;
    result.clock.last = stretch.points.back().place.clock;
}

}  // namespace phy::detail
