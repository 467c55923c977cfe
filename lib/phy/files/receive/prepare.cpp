#include "phy/files/receive/prepare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/digest.hpp"
#include "phy/core/version.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/files/receive/align.hpp"
#include "phy/files/receive/antennas.hpp"
#include "phy/files/receive/correct.hpp"
#include "phy/files/receive/diagnose_capture.hpp"
#include "phy/files/receive/follow.hpp"
#include "phy/files/receive/search.hpp"

namespace phy::detail {
namespace {

/// A given link overrides an attribute, even one that is no text.
ReceiveOptions with_own_link(ReceiveOptions options) {
    if (options.link) options.capture.link.emplace();
    return options;
}

Link link_of(const CaptureDescription& capture, const ReceiveOptions& options) {
    require_use_of(options.capture, capture);
    const std::optional<Link> known = options.link ? options.link : detail::link_of(capture);
    if (!known)
        throw DescriptionError(name_of(capture) + " has no attribute link", DescriptionError::Lacks::link);
    Link link = *known;
    if (options.capture.modulation) link.modulation = *options.capture.modulation;
    try {
        if (capture.kind == CaptureKind::samples)
            return complete_link(std::move(link), capture.sample_rate, capture.center_frequency);
        check(link);
    } catch (const ArgumentError& error) {
        throw FileError(name_of(capture) + ": its link: " + error.what());
    }
    return link;
}

/// link: of the recording.
ReceiverConfig config_of(const CaptureSignal& signal, const Link& link, const ReceiveOptions& options) {
    ReceiverConfig config = {.link = signal.receiver_link(link),
                             .llr = options.llr,
                             .format = options.format,
                             .equalization = options.equalization,
                             .interference_rejection = options.interference_rejection,
                             .time = options.time,
                             .doppler_spread = options.doppler_spread,
                             .delay_spread = options.delay_spread,
                             .noise_variance = options.noise_variance};
    set_input(config, signal.description());
    if (signal.is_resampled()) config.full_scale = {};
    return config;
}

/// None for a grid.
std::optional<ResamplerConfig> rates_of(const CaptureDescription& capture, const Link& link) {
    if (capture.kind != CaptureKind::samples) return std::nullopt;
    try {
        return resampler_config(link);
    } catch (const ArgumentError& error) {
        throw FileError(name_of(capture) + ": its link: " + error.what());
    }
}

/// Warns if the capture and its link contradict each other.
void warn_of_sample_rate(Reception& result, const Link& link) {
    const auto of_capture = result.capture.sample_rate;
    if (!of_capture || !link.carrier.sample_rate || *of_capture == *link.carrier.sample_rate) return;
    result.warnings.push_back(name_of(result.capture) + ": the attribute sample_rate is " +
                              number_text(*of_capture) + " and the link's is " +
                              number_text(*link.carrier.sample_rate) + ": the link's is used");
}

/// Warns of each file of antennas that is longer than the shortest, by a slot or more. Throws FileError if
/// the shortest has less than a slot.
void check_lengths(Reception& result, const Link& link, const ReceiveOptions& options) {
    const std::vector<std::uint64_t>& lengths = result.capture.lengths;
    const double slot = 0.01 * *link.carrier.sample_rate / slots_per_frame(link.carrier);
    std::vector<std::filesystem::path> files = options.capture.more_antennas;
    files.insert(files.begin(), result.capture.file);
    const auto shortest = std::ranges::min_element(lengths);
    if (files.size() == 1 || shortest == lengths.end()) return;
    const std::string name = files[static_cast<std::size_t>(shortest - lengths.begin())].string();
    if (static_cast<double>(*shortest) < slot)
        throw FileError(name + " has " + std::to_string(*shortest) +
                        " samples per antenna, less than a slot: expected as many as the other files of "
                        "antennas have");
    for (std::size_t i = 0; i < lengths.size(); ++i)
        if (static_cast<double>(lengths[i] - *shortest) >= slot)
            result.warnings.push_back(files[i].string() + ": the last " +
                                      std::to_string(lengths[i] - *shortest) +
                                      " samples per antenna are left out: " + name + " ends before them");
}

/// Occasions of the link before the first that is received: where files of antennas begin later.
std::uint64_t occasions_before(const Link& received, const Link& link) {
    const double late =
        static_cast<double>(*received.carrier.first_sample) - static_cast<double>(*link.carrier.first_sample);
    const double slots = late / *link.carrier.sample_rate * 100.0 * slots_per_frame(link.carrier);
    return SlotSchedule(link).occasions(static_cast<std::uint64_t>(std::llround(slots)));
}

class Text {
public:
    Text& add(const char* name, const std::string& value) {
        text_ += (text_.empty() ? "" : ", ") + std::string(name) + " " + value;
        return *this;
    }
    Text& add(const char* name, double value) { return add(name, number_text(value)); }
    Text& add(const char* name, std::uint64_t value) { return add(name, std::to_string(value)); }

    [[nodiscard]] const std::string& str() const { return text_; }

private:
    std::string text_;
};

/// Of samples at the begin, the middle and the end of each antenna.
std::uint64_t digest_of_samples(CaptureReader& reader) {
    constexpr std::uint64_t max_samples = 4096;
    const CaptureDescription& capture = reader.description();
    const std::uint64_t length = capture.symbols / capture.antennas;
    const std::uint64_t count = std::min(max_samples, length);
    std::vector<std::byte> bytes(count * size_of(capture.format));
    std::uint64_t digest = digest_of({});
    for (std::uint64_t antenna = 0; antenna < capture.antennas; ++antenna)
        for (const std::uint64_t first : {std::uint64_t{0}, (length - count) / 2, length - count}) {
            reader.read(antenna * length + first, SymbolSpan(capture.format, bytes));
            digest = digest_of(bytes, digest);
        }
    return digest;
}

}  // namespace

PreparedCapture::PreparedCapture(const std::filesystem::path& capture, const ReceiveOptions& options)
    : options_(with_own_link(options)),
      reader_(capture, options_.capture),
      link_(link_of(reader_.description(), options_)) {}

SurveyOrigin PreparedCapture::origin() {
    const CaptureDescription& capture = reader_.description();
    Text of_capture;
    of_capture.add("dataset", capture.dataset)
        .add("kind", std::string(to_string(capture.kind)))
        .add("format", std::string(to_string(capture.format)))
        .add("antennas", capture.antennas)
        .add("full_scale", double{full_scale_of(capture).value_for(capture.format)});
    for (const std::uint64_t length : capture.lengths)
        of_capture.add("length", length);
    of_capture.add("digest", digest_of_samples(reader_));
    Text settings;
    const auto add = [&](const char* name, const auto& value) {
        if (value) settings.add(name, static_cast<double>(*value));
    };
    settings.add("equalization", static_cast<double>(options_.equalization))
        .add("time", static_cast<double>(options_.time));
    add("interference_rejection", options_.interference_rejection);
    add("doppler_spread", options_.doppler_spread);
    add("delay_spread", options_.delay_spread);
    add("noise_variance", options_.noise_variance);
    for (const std::uint64_t skipped : options_.capture.skip)
        settings.add("skip", skipped);
    return {
        .version = version, .capture = of_capture.str(), .link = to_json(link_), .settings = settings.str()};
}

/// Opens the capture again, without the samples to skip.
void PreparedCapture::reopen(Reception& result) {
    result.skipped = options_.capture.skip;
    reader_ = CaptureReader(result.capture.file, options_.capture);
    result.capture = reader_.description();
}

/// Files of antennas shall begin together.
void PreparedCapture::align(Reception& result) {
    CaptureOptions& options = options_.capture;
    const auto skips = [](std::uint64_t samples) { return samples > 0; };
    if (std::ranges::any_of(options.skip, skips)) result.skipped = options.skip;
    if (!options.skip.empty() || options.more_antennas.empty() || result.capture.kind != CaptureKind::samples)
        return;
    const double rate = *link_.carrier.sample_rate;
    const double prefix = 144.0 / 2048.0 * rate / link_.carrier.subcarrier_spacing;
    options.skip = aligning_skip(result.capture.file, options,
                                 {.max_delay = static_cast<std::uint64_t>(0.005 * rate),
                                  .harmless = static_cast<std::uint64_t>(0.5 * prefix),
                                  .spread = static_cast<std::uint64_t>(prefix),
                                  .stop = options_.stop},
                                 result.warnings);
    if (!options.skip.empty()) reopen(result);
}

void PreparedCapture::open_signal(Reception& result, const std::optional<Survey>& known) {
    const std::optional<ResamplerConfig> rates = rates_of(result.capture, link_);
    if (!known) {
        align(result);
    } else if (!known->skipped.empty()) {
        options_.capture.skip = known->skipped;
        reopen(result);
    }
    if (result.capture.kind == CaptureKind::samples) check_lengths(result, link_, options_);
    const std::uint64_t skipped = result.skipped.empty() ? 0 : result.skipped.front();
    signal_.emplace(*host_, reader_, rates, skipped, known ? std::optional(known->left_out) : std::nullopt);
    result.capture = signal_->description();
    warn_of_left_out(result, *signal_, link_);
}

bool PreparedCapture::survey(Reception& result) {
    result.capture = reader_.description();
    host_ = host_among(options_.places);
    std::optional<Survey> known;
    if (!options_.survey.empty()) known = parse_survey(options_.survey, origin());
    open_signal(result, known);
    if (known)
        apply(*known, result);
    else if (!measure(result))
        return false;
    complete(result);
    return true;
}

void PreparedCapture::apply(const Survey& known, Reception& result) {
    signal_->resample(known.is_resampled);
    signal_->take_out(known.impairments);
    config_ = config_of(*signal_, link_, options_);
    LinkCarrier& carrier = config_.link.carrier;
    carrier.first_sample = known.first_sample;
    carrier.first_slot = known.first_slot;
    carrier.frequency_shift = known.frequency_shift;
    slots_.emplace(*signal_, config_);
    require_occasions(*slots_, result);
    if (result.capture.kind == CaptureKind::samples) slots_->set_track(Track(known.stretches));
    result.found = known.found;
    result.corrected = known.corrected;
    result.clock = known.clock;
    result.gaps = known.gaps;
    result.warnings = known.warnings;
}

bool PreparedCapture::measure(Reception& result) {
    const bool is_samples = result.capture.kind == CaptureKind::samples;
    if (is_samples) take_out_harmful_lines(*signal_, link_);
    config_ = config_of(*signal_, link_, options_);
    if (is_samples) warn_of_sample_rate(result, link_);
    if (is_samples && !config_.link.carrier.first_sample)
        result.found = find_slots(*host_, config_, *signal_, options_);
    if (options_.stop.stop_requested()) return false;
    slots_.emplace(*signal_, config_);
    if (options_.diagnoses && slots_->occasions() == 0)
        diagnose_reception(*host_, config_, *slots_, result, options_);
    require_occasions(*slots_, result);
    if (!is_samples) return true;
    auto corrected = correct_offsets(*host_, config_, *slots_, result.found.has_value(), result.warnings);
    const double found = result.found ? result.found->frequency : 0.0;
    corrected.offsets.frequency += found;
    corrected.offsets.at_prefixes += found;
    result.corrected = corrected.offsets;
    if (corrected.offsets.coherence > 0.0)
        follow_slots(*host_, config_, *slots_, corrected, result, options_);
    return !options_.stop.stop_requested();
}

void PreparedCapture::complete(Reception& result) {
    result.impairments = signal_->impairments();
    result.rejects_interference = rejects_interference(config_);
    result.link = signal_->recorded_link(config_.link);
    const std::uint64_t skipped = result.skipped.empty() ? 0 : result.skipped.front();
    const std::optional<std::uint64_t>& first_sample = link_.carrier.first_sample;
    if (first_sample && *first_sample < skipped) {
        first_codeword_ = occasions_before(result.link, link_);
    } else if (first_sample) {
        result.link.carrier.first_sample = first_sample;
        result.link.carrier.first_slot = link_.carrier.first_slot;
    }
}

std::string PreparedCapture::survey_text(const Reception& result, const SurveyOrigin& origin) const {
    const LinkCarrier& carrier = config_.link.carrier;
    const std::span<const Track::Stretch> stretches = slots_->track().stretches();
    return to_text({.skipped = result.skipped,
                    .left_out = signal_->left_out(),
                    .first_sample = carrier.first_sample,
                    .first_slot = carrier.first_slot,
                    .frequency_shift = carrier.frequency_shift,
                    .is_resampled = signal_->is_resampled(),
                    .impairments = signal_->impairments(),
                    .stretches = {stretches.begin(), stretches.end()},
                    .found = result.found,
                    .corrected = result.corrected,
                    .clock = result.clock,
                    .gaps = result.gaps,
                    .warnings = result.warnings},
                   origin);
}

}  // namespace phy::detail
