#include "capture_gen/recording.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "capture_gen/scalar_host.hpp"

namespace phy::apps {
namespace {

/// Samples per piece of the noise before the first slot.
constexpr std::uint64_t noise_piece = 1U << 17U;

/// The use of a seed's sequences; those of a slot have seeds of their own.
enum Sequence : std::uint64_t { of_slots = 0, of_antennas = 1 };
enum SlotSequence : std::uint64_t { of_bits = 0, of_channel = 1, of_noise = 2, of_uci = 3 };

bool is_grid(const Recording::Config& config) {
    return config.kind == CaptureKind::grid;
}

double sample_rate_of(const Recording::Config& config) {
    return config.link.carrier.sample_rate.value();
}

/// True if an FFT makes the samples.
bool is_modulated(const Recording::Config& config) {
    return config.clock == RecorderClock() &&
           resampler_config(config.link).output_rate == sample_rate_of(config);
}

/// Samples by which the signal is delayed.
double delay_of(const Recording::Config& config) {
    if (is_grid(config)) return 0.0;
    const double delay = config.timing_offset * sample_rate_of(config);
    return is_modulated(config) ? std::nearbyint(delay) : delay;
}

Channel::Config channel_config(const Recording::Config& config) {
    const double rest = is_grid(config) ? config.timing_offset
                                        : config.timing_offset - delay_of(config) / sample_rate_of(config);
    return {.model = config.channel,
            .antennas = config.antennas,
            .layers = config.link.allocation.layers(),
            .subcarriers = config.link.allocation.subcarriers(),
            .subcarrier_spacing = static_cast<double>(config.link.carrier.subcarrier_spacing),
            .timing_offset = rest,
            .frequency_offset = is_grid(config) ? config.frequency_offset : 0.0};
}

/// At a rate that an FFT takes.
OfdmConfig ofdm_config_of(const Recording::Config& config) {
    Link link = config.link;
    link.carrier.sample_rate = resampler_config(link).output_rate;
    return ofdm_config(link, config.antennas);
}

const Recording::Config& checked(const Recording::Config& config) {
    check(config.link);
    const int layers = config.link.allocation.layers();
    if (config.antennas < layers)
        throw ArgumentError(fmt::format("--antennas {}: expected at least one for each of {} layers",
                                        config.antennas, layers));
    if (SlotSchedule(config.link).occasions(config.slots) == 0)
        throw ArgumentError(
            fmt::format("--slots {}: expected enough slots from carrier.first_slot {} to contain one of "
                        "allocation.slots",
                        config.slots, config.link.carrier.first_slot));
    return config;
}

}  // namespace

Recording::Recording(const Config& config)
    : config_(checked(config)),
      schedule_(config.link),
      delay_(delay_of(config)),
      channel_(channel_config(config)),
      transmitter_(scalar_host(), {.allocation = config.link.allocation,
                                   .modulation = config.link.modulation,
                                   .scrambling = config.link.scrambling}),
      coefficients_(channel_.size()),
      grid_(channel_.received_size()) {
    if (config.link.coding) encode_.emplace(scalar_host(), transport_block_config(config.link));
    if (config.link.coding && config.link.coding->uci)
        add_uci_.emplace(scalar_host(), config.link, config.uci);
    if (encode_) ul_sch_.resize(encode_->config().coded_bits);
    if (is_grid(config)) {
        size_ = config.slots * grid_size();
        return;
    }
    if (is_modulated(config))
        modulate_.emplace(scalar_host(), ofdm_config_of(config));
    else
        waveform_.emplace(ofdm_config_of(config));
    nominal_rate_ = ofdm_config_of(config).sample_rate;
    size_ = static_cast<std::uint64_t>(std::ceil(exact_start(config.slots) - delay_));
    const auto before = std::max<std::int64_t>(start_of(0), 0);
    pieces_before_ = (static_cast<std::uint64_t>(before) + noise_piece - 1) / noise_piece;
    for (const DroppedSamples& gap : config.gaps)
        if (gap.first >= size_)
            throw ArgumentError(
                fmt::format("--gap {},{}: expected a first dropped sample below {}, the "
                            "number of samples",
                            gap.first, gap.count, size_));
}

std::size_t Recording::transport_block_bytes() const {
    return encode_ ? encode_->config().size / 8 : 0;
}

double Recording::noise_variance() const {
    return config_.link.allocation.layers() * std::pow(10.0, -config_.snr_db / 10.0);
}

std::size_t Recording::grid_size() const {
    return grid_.size() / static_cast<std::size_t>(config_.antennas);
}

bool Recording::has_allocation(std::uint64_t slot) const {
    return schedule_.occasions(slot + 1) > schedule_.occasions(slot);
}

const OfdmTiming& Recording::timing() const {
    return waveform_ ? waveform_->timing() : modulate_->timing();
}

/// From the start of the first slot to that of a slot, in samples of timing().
double Recording::nominal_start(std::uint64_t slot) const {
    const std::uint64_t first = schedule_.first_slot();
    return static_cast<double>(timing().slot_start(first + slot) - timing().slot_start(first));
}

/// How fast the recorder's clock is where a slot begins, and on average up to there.
Recording::Clocks Recording::clocks_at(std::uint64_t slot) const {
    const double drift = config_.clock.drift * nominal_start(slot) / nominal_rate_;
    return {.now = 1.0 + config_.clock.offset + drift, .mean = 1.0 + config_.clock.offset + 0.5 * drift};
}

/// Where the signal of a slot begins, in samples; negative: before the recording.
double Recording::exact_start(std::uint64_t slot) const {
    const double samples = nominal_start(slot) * (sample_rate_of(config_) / nominal_rate_);
    return static_cast<double>(config_.first_sample) + samples * clocks_at(slot).mean + delay_;
}

/// The phase of the signal against that without a frequency offset.
double Recording::turns_at(std::int64_t sample) const {
    const auto first = static_cast<std::int64_t>(config_.first_sample);
    // Of the recorder's clock, and true.
    const long double shown =
        static_cast<long double>(sample - first) / static_cast<long double>(sample_rate_of(config_));
    const long double ratio = 1.0L + static_cast<long double>(config_.clock.offset);
    const auto drift = static_cast<long double>(config_.clock.drift);
    const long double seconds = 2.0L * shown / (ratio + std::sqrt(ratio * ratio + 2.0L * drift * shown));
    const LinkCarrier& carrier = config_.link.carrier;
    const double oscillator = carrier.center_frequency.value() + carrier.frequency_shift;
    const long double turns = static_cast<long double>(config_.frequency_offset) * seconds -
                              static_cast<long double>(oscillator) * (shown - seconds);
    return static_cast<double>(std::remainder(turns, 1.0L));
}

std::uint64_t Recording::size() const {
    std::uint64_t dropped = 0;
    for (const DroppedSamples& gap : config_.gaps)
        dropped += std::min(gap.first + gap.count, size_) - std::min(gap.first, size_);
    return size_ - dropped;
}

/// The first sample of a slot.
std::int64_t Recording::start_of(std::uint64_t slot) const {
    return static_cast<std::int64_t>(std::ceil(exact_start(slot)));
}

/// Pieces before the first slot, one per slot, and possibly a rest at the end.
std::uint64_t Recording::begin_of_piece(std::uint64_t index) const {
    if (index >= pieces()) return size_;
    if (index < pieces_before_) return std::min(index * noise_piece, size_);
    const std::int64_t start = start_of(index - pieces_before_);
    return std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(start, 0)), size_);
}

void Recording::make(std::uint64_t index, Piece& piece) {
    piece.codeword.clear();
    piece.transport_block.clear();
    piece.uci.clear();
    if (is_grid(config_)) return make_grid(index, piece);
    make_samples(index, piece);
    if (config_.line_db || config_.image_db || config_.clip_db) impair(piece);
    if (!config_.gaps.empty()) drop(piece);
}

/// Adds what a recorder's analogue part does, in units of the signal's power.
void Recording::impair(Piece& piece) const {
    const SlotAllocation& allocation = config_.link.allocation;
    const auto elements =
        std::transform_reduce(allocation.resource_blocks.begin(), allocation.resource_blocks.end(), 0.0,
                              std::plus<>(), [](const ResourceBlocks& range) { return 12.0 * range.count; });
    const double rms = std::sqrt(elements * allocation.layers()) * config_.link.carrier.subcarrier_spacing /
                       sample_rate_of(config_);
    const auto amplitude = [](const std::optional<double>& decibels, double turns) {
        return decibels ? std::polar(std::pow(10.0, *decibels / 20.0), 2.0 * std::numbers::pi * turns) : 0.0;
    };
    for (std::size_t i = 0; i < piece.values.size(); ++i) {
        const std::size_t antenna = i / piece.size;
        const double turns = 0.1 + 0.2 * static_cast<double>(antenna);
        const std::complex<double> x(piece.values[i]);
        std::complex<double> y = x + amplitude(config_.image_db, turns) * std::conj(x) +
                                 rms * amplitude(config_.line_db, 2.0 * turns);
        if (config_.clip_db) {
            const double most = rms * std::pow(10.0, *config_.clip_db / 20.0);
            y = {std::clamp(y.real(), -most, most), std::clamp(y.imag(), -most, most)};
        }
        piece.values[i] = cf32(y);
    }
}

/// Takes dropped samples out.
void Recording::drop(Piece& piece) const {
    std::vector<std::size_t> kept;
    std::uint64_t first = piece.first;
    for (std::size_t i = 0; i < piece.size; ++i) {
        const std::uint64_t sample = piece.first + i;
        if (std::ranges::none_of(config_.gaps, [sample](const DroppedSamples& gap) {
                return sample >= gap.first && sample - gap.first < gap.count;
            }))
            kept.push_back(i);
    }
    for (const DroppedSamples& gap : config_.gaps)
        first -= std::min(gap.first + gap.count, piece.first) - std::min(gap.first, piece.first);
    std::vector<cf32> values;
    for (std::size_t antenna = 0; antenna < static_cast<std::size_t>(config_.antennas); ++antenna)
        for (const std::size_t i : kept)
            values.push_back(piece.values[antenna * piece.size + i]);
    piece.first = first;
    piece.size = kept.size();
    piece.values = std::move(values);
}

/// seed: of the slot.
void Recording::make_codeword(std::uint64_t seed, Piece& piece) {
    const RandomSequence random(seed, of_bits);
    piece.codeword.resize(bits_per_codeword());
    if (!encode_) return draw_bits(random, piece.codeword);
    piece.transport_block.resize(transport_block_bytes());
    for (std::size_t i = 0; i < piece.transport_block.size(); ++i)
        piece.transport_block[i] = static_cast<std::uint8_t>(random.bits(i / 8) >> (i % 8 * 8));
    (*encode_)(piece.transport_block, config_.link.coding->redundancy_version, ul_sch_);
    if (!add_uci_) return static_cast<void>(std::ranges::copy(ul_sch_, piece.codeword.begin()));
    (*add_uci_)({seed, of_uci}, ul_sch_, piece.codeword);
    piece.uci = add_uci_->sent();
}

/// The antennas' signal in a slot with the allocation.
void Recording::make_slot(std::uint64_t slot, double noise_variance, Piece& piece) {
    const std::uint64_t seed = RandomSequence(config_.seed, of_slots).bits(slot);
    make_codeword(seed, piece);
    const std::uint64_t in_frame =
        (schedule_.first_slot() + slot) % static_cast<std::uint64_t>(schedule_.slots_per_frame());
    transmitter_.transmit(static_cast<int>(in_frame), piece.codeword);
    channel_.draw({seed, of_channel}, coefficients_);
    channel_.pass(transmitter_.grid(), coefficients_, noise_variance, {seed, of_noise}, grid_);
}

void Recording::make_grid(std::uint64_t slot, Piece& piece) {
    piece.first = std::min(slot * grid_size(), size_);
    piece.size = slot < config_.slots ? grid_size() : 0;
    piece.values.resize(piece.size * static_cast<std::size_t>(config_.antennas));
    if (piece.size == 0) return;
    if (has_allocation(slot)) {
        make_slot(slot, noise_variance(), piece);
        std::ranges::copy(grid_, piece.values.begin());
        return;
    }
    const std::uint64_t seed = RandomSequence(config_.seed, of_slots).bits(slot);
    draw_noise({seed, of_noise}, 0, noise_variance(), piece.values);
}

void Recording::make_samples(std::uint64_t index, Piece& piece) {
    piece.first = begin_of_piece(index);
    piece.size = begin_of_piece(index + 1) - piece.first;
    const auto antennas = static_cast<std::size_t>(config_.antennas);
    piece.values.resize(piece.size * antennas);
    // The FFT sums the noise of its samples.
    const double variance =
        noise_variance() * config_.link.carrier.subcarrier_spacing / sample_rate_of(config_);
    for (std::size_t antenna = 0; antenna < antennas; ++antenna)
        draw_noise({config_.seed, of_antennas + antenna}, piece.first, variance,
                   std::span(piece.values).subspan(antenna * piece.size, piece.size));
    const bool is_slot = index >= pieces_before_ && index - pieces_before_ < config_.slots;
    if (is_slot && has_allocation(index - pieces_before_)) add_signal(index - pieces_before_, piece);
}

void Recording::add_signal(std::uint64_t slot, Piece& piece) {
    make_slot(slot, 0.0, piece);
    if (piece.size == 0) return;
    const std::uint64_t number = schedule_.first_slot() + slot;
    const auto antennas = static_cast<std::size_t>(config_.antennas);
    // A recording may begin or end inside a slot.
    std::size_t of_antenna = piece.size;
    std::size_t skipped = 0;
    if (modulate_) {
        of_antenna = timing().slot_samples(number);
        skipped = static_cast<std::size_t>(static_cast<std::int64_t>(piece.first) - start_of(slot));
    }
    const SampleTimes times = {.first = static_cast<double>(piece.first) - exact_start(slot),
                               .rate = sample_rate_of(config_) * clocks_at(slot).now};
    samples_.resize(of_antenna * antennas);
    if (modulate_) (*modulate_)(grid_, {.first = number, .count = 1}, samples_);
    for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
        const auto of_this = std::span(samples_).subspan(antenna * of_antenna, of_antenna);
        if (waveform_)
            waveform_->make(std::span(grid_).subspan(antenna * grid_size(), grid_size()), number, times,
                            of_this);
        add_samples(of_this.subspan(skipped, piece.size), static_cast<std::int64_t>(piece.first),
                    std::span(piece.values).subspan(antenna * piece.size, piece.size));
    }
}

/// first: their index in the recording.
void Recording::add_samples(std::span<const cf32> signal, std::int64_t first,
                            std::span<cf32> recorded) const {
    for (std::size_t i = 0; i < signal.size(); ++i) {
        const double turns = turns_at(first + static_cast<std::int64_t>(i));
        const std::complex<double> phase = std::polar(1.0, 2.0 * std::numbers::pi * turns);
        recorded[i] += cf32(phase * std::complex<double>(signal[i]));
    }
}

}  // namespace phy::apps
