#include "phy/files/receive/capture_slots.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/files/common.hpp"

namespace phy::detail {
namespace {

[[noreturn]] void fail(const CaptureDescription& capture, const std::string& what) {
    throw FileError(name_of(capture) + ": " + what);
}

}  // namespace

void set_input(ReceiverConfig& config, const CaptureDescription& capture) {
    if (capture.kind == CaptureKind::symbols)
        fail(capture, "holds symbols: expected samples or a grid (--from sets the kind)");
    config.input = capture.kind == CaptureKind::grid ? ReceiverInput::grid : ReceiverInput::samples;
    if (capture.antennas > max_antennas)
        fail(capture, "has " + std::to_string(capture.antennas) + " antennas: expected at most " +
                          std::to_string(max_antennas));
    config.antennas = static_cast<int>(capture.antennas);
    config.full_scale = full_scale_of(capture);
    const int layers = config.link.allocation.layers();
    if (config.antennas < layers)
        fail(capture, "has " + std::to_string(config.antennas) +
                          (config.antennas == 1 ? " antenna" : " antennas") +
                          ": expected at least as many as the link's " + std::to_string(layers) + " layers");
}

CaptureSlots::CaptureSlots(CaptureSignal& signal, const ReceiverConfig& config)
    : signal_(signal), schedule_(config.link), input_(config.input) {
    if (input_ == ReceiverInput::samples)
        measure_samples(config);
    else
        measure_grid(config);
    occasions_ = schedule_.occasions(whole_slots_);
}

void CaptureSlots::measure_samples(const ReceiverConfig& config) {
    const LinkCarrier& carrier = config.link.carrier;
    timing_.emplace_back(ofdm_config(config.link, config.antennas));
    first_ = static_cast<std::int64_t>(carrier.first_sample.value_or(0));
    const std::uint64_t first_slot = schedule_.first_slot();
    for (std::uint64_t i = 0; i < timing_[0].slots_per_subframe(); ++i)
        input_per_slot_ = std::max(input_per_slot_, timing_[0].slot_samples(i));
    const std::uint64_t length = signal_.length();
    // A lower bound, because the longest slot is a little longer than most.
    const std::int64_t available = static_cast<std::int64_t>(length) - first_;
    if (available > 0) whole_slots_ = static_cast<std::uint64_t>(available) / input_per_slot_;
    while (end_of(first_slot + whole_slots_) <= static_cast<std::int64_t>(length))
        ++whole_slots_;
    if (whole_slots_ == 0)
        fail(signal_.description(),
             "has " + std::to_string(signal_.recorded(length)) + " samples per antenna: expected at least " +
                 std::to_string(signal_.recorded(static_cast<std::uint64_t>(end_of(first_slot)))) +
                 ", the end of one slot from first_sample " +
                 std::to_string(signal_.recorded(static_cast<std::uint64_t>(first_))));
}

void CaptureSlots::measure_grid(const ReceiverConfig& config) {
    const CaptureDescription& capture = signal_.description();
    const auto subcarriers = static_cast<std::uint64_t>(config.link.allocation.subcarriers());
    if (capture.shape.back() != subcarriers)
        fail(capture, "has " + std::to_string(capture.shape.back()) + " subcarriers: expected the link's " +
                          std::to_string(subcarriers) + ", 12 for each of carrier.resource_blocks");
    unit_ = subcarriers;
    input_per_slot_ = subcarriers * symbols_per_slot;
    whole_slots_ = signal_.length() / input_per_slot_;
    if (whole_slots_ == 0)
        fail(capture, "has " + std::to_string(signal_.length() / subcarriers) +
                          " OFDM symbols: expected at least the " + std::to_string(symbols_per_slot) +
                          " of a slot");
}

std::int64_t CaptureSlots::nominal_begin_of(std::uint64_t slot) const {
    const std::uint64_t first_slot = schedule_.first_slot();
    if (input_ == ReceiverInput::grid) return static_cast<std::int64_t>(slot - first_slot) * symbols_per_slot;
    return first_ +
           static_cast<std::int64_t>(timing_[0].slot_start(slot) - timing_[0].slot_start(first_slot));
}

double CaptureSlots::lateness_of(std::uint64_t slot) const {
    const double late = track_.at(slot).late;
    return signal_.is_resampled() ? late : std::nearbyint(late);
}

std::int64_t CaptureSlots::begin_of(std::uint64_t slot) const {
    return nominal_begin_of(slot) + std::llround(lateness_of(slot));
}

void CaptureSlots::set_track(Track track) {
    track_ = std::move(track);
    const auto length = static_cast<std::int64_t>(signal_.length());
    const std::uint64_t first = schedule_.first_slot();
    // A late signal may lack the end of the last slot's last symbol.
    const auto missing = static_cast<std::int64_t>(input_per_slot_ / (2 * symbols_per_slot));
    // An FFT begins before the end of its prefix.
    const auto unused = timing_.empty() ? 0 : static_cast<std::int64_t>(timing_[0].prefix_samples(0, 1) / 4);
    while (whole_slots_ > 1 && end_of(first + whole_slots_ - 1) > length + missing)
        --whole_slots_;
    while (end_of(first + whole_slots_) <= length + unused)
        ++whole_slots_;
    occasions_ = schedule_.occasions(whole_slots_);
}

std::string CaptureSlots::name() const {
    return name_of(signal_.description());
}

std::int64_t CaptureSlots::end_of(std::uint64_t slot) const {
    return begin_of(slot) + static_cast<std::int64_t>(samples_of(slot));
}

std::uint64_t CaptureSlots::samples_of(std::uint64_t slot) const {
    return timing_.empty() ? 0 : timing_[0].slot_samples(slot);
}

std::size_t CaptureSlots::bytes_per_slot() const {
    return signal_.antennas() * input_per_slot_ * size_of(format());
}

void CaptureSlots::read_slot(std::uint64_t slot, std::span<std::byte> input) {
    const std::size_t count = timing_.empty() ? input_per_slot_ : samples_of(slot);
    if (track_.is_lost(slot)) {
        std::ranges::fill(input, std::byte{0});
        return;
    }
    signal_.read(nominal_begin_of(slot) * static_cast<std::int64_t>(unit_), count, input_per_slot_, input,
                 track_.at(slot));
}

void CaptureSlots::read(std::uint64_t occasion, std::uint64_t count, std::span<std::byte> input) {
    const std::size_t bytes = bytes_per_slot();
    for (std::uint64_t i = 0; i < count; ++i)
        read_slot(schedule_.slot(occasion + i), input.subspan(i * bytes, bytes));
}

std::vector<std::byte> CaptureSlots::read_recorded(std::uint64_t occasion) {
    const std::uint64_t slot = schedule_.slot(occasion);
    const auto first = static_cast<std::uint64_t>(std::max<std::int64_t>(begin_of(slot), 0));
    return signal_.read_recorded(signal_.recorded_count(first), signal_.recorded_count(samples_of(slot)));
}

std::string CaptureSlots::rest() const {
    const std::uint64_t slot = schedule_.first_slot() + whole_slots_;
    const std::int64_t moved = std::llround(lateness_of(schedule_.first_slot()));
    const std::uint64_t used = static_cast<std::uint64_t>(begin_of(slot) - moved) * unit_;
    if (used >= signal_.length()) return {};
    const std::uint64_t left = signal_.recorded_count(signal_.length() - used);
    // The lengths of resampled recordings are rounded, and so is the lateness of slots, which the clock
    // moves.
    const bool is_rounded =
        signal_.is_resampled() || track_.at(slot).late != track_.at(schedule_.first_slot()).late;
    if (is_rounded && !timing_.empty() && signal_.length() - used <= timing_[0].prefix_samples(0, 1) / 4)
        return {};
    const std::string what = timing_.empty() ? " OFDM symbols" : " samples";
    return name_of(signal_.description()) + " ends inside a slot: " + std::to_string(whole_slots_) +
           (whole_slots_ == 1 ? " whole slot and " : " whole slots and ") + std::to_string(left / unit_) +
           " more" + what + " per antenna";
}

}  // namespace phy::detail
