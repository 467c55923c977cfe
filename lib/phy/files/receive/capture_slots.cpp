#include "phy/files/receive/capture_slots.hpp"

#include <algorithm>

#include "phy/core/error.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/files/common.hpp"

namespace phy::detail {
namespace {

[[noreturn]] void fail(const CaptureDescription& capture, const std::string& what) {
    throw FileError(name_of(capture) + ": " + what);
}

}  // namespace

std::vector<std::byte> read_antennas(CaptureReader& capture, std::uint64_t first, std::uint64_t count) {
    const CaptureDescription& description = capture.description();
    const std::uint64_t length = description.symbols / description.antennas;
    std::vector<std::byte> samples(description.antennas * count * size_of(description.format));
    const SymbolSpan all(description.format, samples);
    for (std::uint64_t antenna = 0; antenna < description.antennas; ++antenna)
        capture.read(antenna * length + first, all.subspan(antenna * count, count));
    return samples;
}

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

CaptureSlots::CaptureSlots(CaptureReader& capture, const ReceiverConfig& config)
    : capture_(capture),
      schedule_(config.link),
      input_(config.input),
      antennas_(capture.description().antennas),
      length_(capture.description().symbols / antennas_) {
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
    // A lower bound, because the longest slot is a little longer than most.
    const std::int64_t available = static_cast<std::int64_t>(length_) - first_;
    if (available > 0) whole_slots_ = static_cast<std::uint64_t>(available) / input_per_slot_;
    while (end_of(first_slot + whole_slots_) <= static_cast<std::int64_t>(length_))
        ++whole_slots_;
    if (whole_slots_ == 0)
        fail(capture_.description(), "has " + std::to_string(length_) +
                                         " samples per antenna: expected at least " +
                                         std::to_string(end_of(first_slot)) +
                                         ", the end of one slot from first_sample " + std::to_string(first_));
}

void CaptureSlots::measure_grid(const ReceiverConfig& config) {
    const CaptureDescription& capture = capture_.description();
    const auto subcarriers = static_cast<std::uint64_t>(config.link.allocation.subcarriers());
    if (capture.shape.back() != subcarriers)
        fail(capture, "has " + std::to_string(capture.shape.back()) + " subcarriers: expected the link's " +
                          std::to_string(subcarriers) + ", 12 for each of carrier.resource_blocks");
    unit_ = subcarriers;
    input_per_slot_ = subcarriers * symbols_per_slot;
    whole_slots_ = length_ / input_per_slot_;
    if (whole_slots_ == 0)
        fail(capture, "has " + std::to_string(length_ / subcarriers) +
                          " OFDM symbols: expected at least the " + std::to_string(symbols_per_slot) +
                          " of a slot");
}

std::int64_t CaptureSlots::begin_of(std::uint64_t slot) const {
    const std::uint64_t first_slot = schedule_.first_slot();
    if (input_ == ReceiverInput::grid) return static_cast<std::int64_t>(slot - first_slot) * symbols_per_slot;
    return first_ + moved_ +
           static_cast<std::int64_t>(timing_[0].slot_start(slot) - timing_[0].slot_start(first_slot));
}

void CaptureSlots::move(std::int64_t samples) {
    moved_ = samples;
    while (end_of(schedule_.first_slot() + whole_slots_) <= static_cast<std::int64_t>(length_))
        ++whole_slots_;
    occasions_ = schedule_.occasions(whole_slots_);
}

std::string CaptureSlots::name() const {
    return name_of(capture_.description());
}

std::int64_t CaptureSlots::end_of(std::uint64_t slot) const {
    return begin_of(slot) + static_cast<std::int64_t>(samples_of(slot));
}

std::uint64_t CaptureSlots::samples_of(std::uint64_t slot) const {
    return timing_.empty() ? 0 : timing_[0].slot_samples(slot);
}

std::size_t CaptureSlots::bytes_per_slot() const {
    return antennas_ * input_per_slot_ * size_of(capture_.description().format);
}

void CaptureSlots::read_slot(std::uint64_t slot, std::span<std::byte> input) {
    const SampleFormat format = capture_.description().format;
    const std::int64_t begin = begin_of(slot) * static_cast<std::int64_t>(unit_);
    const auto wanted = static_cast<std::int64_t>(timing_.empty() ? input_per_slot_ : samples_of(slot));
    const std::int64_t first = std::clamp<std::int64_t>(begin, 0, static_cast<std::int64_t>(length_));
    const std::int64_t end =
        std::clamp<std::int64_t>(begin + wanted, first, static_cast<std::int64_t>(length_));
    const auto count = static_cast<std::size_t>(end - first);
    if (end - first < wanted) std::ranges::fill(input, std::byte{0});
    if (count == 0) return;
    for (std::uint64_t antenna = 0; antenna < antennas_; ++antenna) {
        const std::size_t at = antenna * input_per_slot_ + static_cast<std::size_t>(first - begin);
        capture_.read(antenna * length_ + static_cast<std::uint64_t>(first),
                      SymbolSpan(format, input).subspan(at, count));
    }
}

void CaptureSlots::read(std::uint64_t occasion, std::uint64_t count, std::span<std::byte> input) {
    const std::size_t bytes = bytes_per_slot();
    for (std::uint64_t i = 0; i < count; ++i)
        read_slot(schedule_.slot(occasion + i), input.subspan(i * bytes, bytes));
}

std::string CaptureSlots::rest() const {
    const std::uint64_t slot = schedule_.first_slot() + whole_slots_;
    const std::uint64_t used = static_cast<std::uint64_t>(begin_of(slot) - moved_) * unit_;
    if (used >= length_) return {};
    const std::uint64_t left = length_ - used;
    const std::string what = timing_.empty() ? " OFDM symbols" : " samples";
    return name_of(capture_.description()) + " ends inside a slot: " + std::to_string(whole_slots_) +
           (whole_slots_ == 1 ? " whole slot and " : " whole slots and ") + std::to_string(left / unit_) +
           " more" + what + " per antenna";
}

}  // namespace phy::detail
