#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phy/files/options.hpp"
#include "phy/files/receive/capture_signal.hpp"
#include "phy/files/receive/track.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy::detail {

/// Reads the occasions of a link from a capture of samples or a grid.
class CaptureSlots {
public:
    /// config: with the link of the reception and the values of set_input(). Throws FileError if the capture
    /// does not fit the link.
    CaptureSlots(CaptureSignal& signal, const ReceiverConfig& config);

    /// Whole occasions in the capture.
    [[nodiscard]] std::uint64_t occasions() const { return occasions_; }

    /// Samples or resource elements per antenna and slot, as in Receiver.
    [[nodiscard]] std::size_t input_per_slot() const { return input_per_slot_; }

    [[nodiscard]] const SlotSchedule& schedule() const { return schedule_; }

    /// The first occasion whose slot is not before this one.
    [[nodiscard]] std::uint64_t occasion_from(std::uint64_t slot) const {
        return schedule_.occasions(std::max(slot, schedule_.first_slot()) - schedule_.first_slot());
    }

    /// Samples or OFDM symbols per antenna from the capture's first to the slot's. slot: number as in
    /// SlotSchedule. Negative: the slot begins before the capture.
    [[nodiscard]] std::int64_t begin_of(std::uint64_t slot) const;

    /// Samples per antenna in the slot; 0 for a grid.
    [[nodiscard]] std::uint64_t samples_of(std::uint64_t slot) const;

    /// Where slots of samples lie against the link's timing. Samples outside the capture read as 0, and so do
    /// lost slots. The slots that are complete count. Not for grids.
    void set_track(Track track);
    [[nodiscard]] const Track& track() const { return track_; }

    /// Read any slot, or the input of occasions, as for Receiver: (slots, antennas, input_per_slot()).
    void read_slot(std::uint64_t slot, std::span<std::byte> input);
    void read(std::uint64_t occasion, std::uint64_t count, std::span<std::byte> input);

    /// The recorded samples of an occasion, before they are resampled: (antennas, samples).
    std::vector<std::byte> read_recorded(std::uint64_t occasion);

    /// (antennas, samples) from `first` on, at most count.
    std::vector<std::byte> read_samples(std::uint64_t first, std::uint64_t count) {
        return signal_.read(first, std::min(count, signal_.length() - first));
    }

    [[nodiscard]] std::size_t bytes_per_slot() const;
    /// The name of the capture for errors.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] SampleFormat format() const { return signal_.format(); }
    [[nodiscard]] CaptureSignal& signal() const { return signal_; }

    /// Samples from where the link's timing puts a slot to where it is read.
    [[nodiscard]] double lateness_of(std::uint64_t slot) const;

    /// Whole slots in the capture from its first on.
    [[nodiscard]] std::uint64_t whole_slots() const { return whole_slots_; }

    /// Describes samples that remain after the last whole slot, or "".
    [[nodiscard]] std::string rest() const;

private:
    [[nodiscard]] std::int64_t nominal_begin_of(std::uint64_t slot) const;
    [[nodiscard]] std::int64_t end_of(std::uint64_t slot) const;
    void measure_samples(const ReceiverConfig& config);
    void measure_grid(const ReceiverConfig& config);

    CaptureSignal& signal_;
    SlotSchedule schedule_;
    ReceiverInput input_;
    std::vector<OfdmTiming> timing_;  ///< of samples: one
    std::uint64_t unit_ = 1;          ///< elements per unit of begin_of(), which is an OFDM symbol in a grid
    std::int64_t first_ = 0;          ///< where the capture's first slot begins
    Track track_;
    std::uint64_t whole_slots_ = 0;
    std::uint64_t occasions_ = 0;
    std::size_t input_per_slot_ = 0;
};

/// Sets the receiver's input from the capture: kind, antennas and full scale. Throws FileError for a capture
/// of symbols, or with more antennas than a receiver takes.
void set_input(ReceiverConfig& config, const CaptureDescription& capture);

/// Feeds occasions of a capture to a pipeline, one per item.
class SlotSource : public Source {
public:
    SlotSource(CaptureSlots& slots, const ItemRange& range) : slots_(slots), range_(range) {}

    [[nodiscard]] std::uint64_t items() const override { return range_.count; }
    [[nodiscard]] std::uint64_t first() const override { return range_.first; }

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        slots_.read(chunk.first, chunk.items, arrays[0]);
        return chunk.items;
    }

private:
    CaptureSlots& slots_;
    ItemRange range_;
};

}  // namespace phy::detail
