#include "capture_gen/recording.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "capture_gen/scalar_host.hpp"

namespace phy::apps {
namespace {

/// Samples per piece of the noise before the first slot.
constexpr std::uint64_t noise_piece = 1U << 17U;

/// The use of a seed's sequences; those of a slot have seeds of their own.
enum Sequence : std::uint64_t { of_slots = 0, of_antennas = 1 };
enum SlotSequence : std::uint64_t { of_bits = 0, of_channel = 1, of_noise = 2 };

bool is_grid(const Recording::Config& config) {
    return config.kind == CaptureKind::grid;
}

double delay_in_samples(const Recording::Config& config) {
    return is_grid(config) ? 0.0 : config.timing_offset * config.link.carrier.sample_rate.value();
}

Channel::Config channel_config(const Recording::Config& config) {
    const double delay = delay_in_samples(config);
    const double rest = is_grid(config)
                            ? config.timing_offset
                            : (delay - std::nearbyint(delay)) / config.link.carrier.sample_rate.value();
    return {.model = config.channel,
            .antennas = config.antennas,
            .layers = config.link.allocation.layers(),
            .subcarriers = config.link.allocation.subcarriers(),
            .subcarrier_spacing = static_cast<double>(config.link.carrier.subcarrier_spacing),
            .timing_offset = rest,
            .frequency_offset = is_grid(config) ? config.frequency_offset : 0.0};
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
      delay_(std::llrint(delay_in_samples(config))),
      channel_(channel_config(config)),
      transmitter_(scalar_host(), {.allocation = config.link.allocation,
                                   .modulation = config.link.modulation,
                                   .scrambling = config.link.scrambling}),
      coefficients_(channel_.size()),
      grid_(channel_.received_size()) {
    if (is_grid(config)) {
        size_ = config.slots * grid_size();
        return;
    }
    modulate_.emplace(scalar_host(), ofdm_config(config.link, config.antennas));
    size_ = static_cast<std::uint64_t>(start_of(config.slots) - delay_);
    const auto before = std::max<std::int64_t>(start_of(0), 0);
    pieces_before_ = (static_cast<std::uint64_t>(before) + noise_piece - 1) / noise_piece;
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

/// Where the signal of a slot begins; negative: before the recording.
std::int64_t Recording::start_of(std::uint64_t slot) const {
    const OfdmTiming& timing = modulate_->timing();
    const std::uint64_t first = schedule_.first_slot();
    const std::uint64_t start = timing.slot_start(first + slot) - timing.slot_start(first);
    return static_cast<std::int64_t>(config_.first_sample + start) + delay_;
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
    if (is_grid(config_)) return make_grid(index, piece);
    make_samples(index, piece);
}

/// The antennas' signal in a slot with the allocation.
void Recording::make_slot(std::uint64_t slot, double noise_variance, std::vector<std::uint8_t>& codeword) {
    const std::uint64_t seed = RandomSequence(config_.seed, of_slots).bits(slot);
    codeword.resize(bits_per_codeword());
    draw_bits({seed, of_bits}, codeword);
    const std::uint64_t in_frame =
        (schedule_.first_slot() + slot) % static_cast<std::uint64_t>(schedule_.slots_per_frame());
    transmitter_.transmit(static_cast<int>(in_frame), codeword);
    channel_.draw({seed, of_channel}, coefficients_);
    channel_.pass(transmitter_.grid(), coefficients_, noise_variance, {seed, of_noise}, grid_);
}

void Recording::make_grid(std::uint64_t slot, Piece& piece) {
    piece.first = std::min(slot * grid_size(), size_);
    piece.size = slot < config_.slots ? grid_size() : 0;
    piece.values.resize(piece.size * static_cast<std::size_t>(config_.antennas));
    if (piece.size == 0) return;
    if (has_allocation(slot)) {
        make_slot(slot, noise_variance(), piece.codeword);
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
    const double variance = noise_variance() / static_cast<double>(modulate_->timing().fft_size());
    for (std::size_t antenna = 0; antenna < antennas; ++antenna)
        draw_noise({config_.seed, of_antennas + antenna}, piece.first, variance,
                   std::span(piece.values).subspan(antenna * piece.size, piece.size));
    const bool is_slot = index >= pieces_before_ && index - pieces_before_ < config_.slots;
    if (is_slot && has_allocation(index - pieces_before_)) add_signal(index - pieces_before_, piece);
}

void Recording::add_signal(std::uint64_t slot, Piece& piece) {
    make_slot(slot, 0.0, piece.codeword);
    const std::uint64_t number = schedule_.first_slot() + slot;
    const std::size_t samples = modulate_->timing().slot_samples(number);
    const auto antennas = static_cast<std::size_t>(config_.antennas);
    samples_.resize(samples * antennas);
    (*modulate_)(grid_, {.first = number, .count = 1}, samples_);
    if (piece.size == 0) return;
    // A recording may begin or end inside a slot.
    const auto skipped = static_cast<std::size_t>(static_cast<std::int64_t>(piece.first) - start_of(slot));
    for (std::size_t antenna = 0; antenna < antennas; ++antenna)
        add_samples(std::span(samples_).subspan(antenna * samples + skipped, piece.size),
                    static_cast<std::int64_t>(piece.first),
                    std::span(piece.values).subspan(antenna * piece.size, piece.size));
}

/// first: their index in the recording.
void Recording::add_samples(std::span<const cf32> signal, std::int64_t first,
                            std::span<cf32> recorded) const {
    const double turn = config_.frequency_offset / config_.link.carrier.sample_rate.value();
    const std::int64_t since = first - static_cast<std::int64_t>(config_.first_sample);
    for (std::size_t i = 0; i < signal.size(); ++i) {
        const double turns = turn * static_cast<double>(since + static_cast<std::int64_t>(i));
        const std::complex<double> phase =
            std::polar(1.0, 2.0 * std::numbers::pi * std::remainder(turns, 1.0));
        recorded[i] += cf32(phase * std::complex<double>(signal[i]));
    }
}

}  // namespace phy::apps
