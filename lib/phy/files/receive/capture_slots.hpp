#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phy/capture/capture.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy::detail {

/// The slots of a link's schedule in a capture of samples or a grid, and how they are read.
class CaptureSlots {
public:
    /// The configuration has the link with which the capture is received, and what set_input() sets. Throws
    /// FileError if the capture does not fit the link.
    CaptureSlots(CaptureReader& capture, const ReceiverConfig& config);

    /// Whole occasions in the capture.
    [[nodiscard]] std::uint64_t occasions() const { return occasions_; }

    /// Of each antenna, that a receiver takes for a slot.
    [[nodiscard]] std::size_t input_per_slot() const { return input_per_slot_; }

    [[nodiscard]] const SlotSchedule& schedule() const { return schedule_; }

    /// Samples, or OFDM symbols, of an antenna from the capture's first to the slot's; the slot is of the
    /// schedule's count. Below 0: some of the slot is before the capture.
    [[nodiscard]] std::int64_t begin_of(std::uint64_t slot) const;

    /// Samples of an antenna in the slot; 0 of a grid.
    [[nodiscard]] std::uint64_t samples_of(std::uint64_t slot) const;

    /// Moves the beginnings of all slots to so many samples after where the link has them; what is then
    /// outside of the capture reads as 0. Slots that are then whole at the end count too.
    void move(std::int64_t samples);
    [[nodiscard]] std::int64_t moved() const { return moved_; }

    /// Reads neighbouring slots, whether they are of the schedule or not, or the input of occasions, as
    /// Receiver takes it: (slots, antennas, input_per_slot()).
    void read_slot(std::uint64_t slot, std::span<std::byte> input);
    void read(std::uint64_t occasion, std::uint64_t count, std::span<std::byte> input);

    [[nodiscard]] std::size_t bytes_per_slot() const;
    /// What errors call the capture.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] SampleFormat format() const { return capture_.description().format; }

    /// Whole slots in the capture from its first on.
    [[nodiscard]] std::uint64_t whole_slots() const { return whole_slots_; }

    /// "" or what is left over at the end.
    [[nodiscard]] std::string rest() const;

private:
    [[nodiscard]] std::int64_t end_of(std::uint64_t slot) const;
    void measure_samples(const ReceiverConfig& config);
    void measure_grid(const ReceiverConfig& config);

    CaptureReader& capture_;
    SlotSchedule schedule_;
    ReceiverInput input_;
    std::vector<OfdmTiming> timing_;  ///< of samples: one
    std::uint64_t antennas_ = 1;
    std::uint64_t length_ = 0;  ///< samples, or resource elements, of an antenna
    std::uint64_t unit_ = 1;    ///< elements of what begin_of() counts: an OFDM symbol's
    std::int64_t first_ = 0;    ///< where the capture's first slot begins
    std::int64_t moved_ = 0;
    std::uint64_t whole_slots_ = 0;
    std::uint64_t occasions_ = 0;
    std::size_t input_per_slot_ = 0;
};

/// What a capture says of a receiver's input: its kind, antennas and full scale. Throws FileError for a
/// capture of symbols, or of more antennas than a receiver has.
void set_input(ReceiverConfig& config, const CaptureDescription& capture);

/// The occasions of a capture for a pipeline, an item each.
class SlotSource : public Source {
public:
    explicit SlotSource(CaptureSlots& slots) : slots_(slots) {}

    [[nodiscard]] std::uint64_t items() const override { return slots_.occasions(); }

    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> arrays) override {
        slots_.read(chunk.first, chunk.items, arrays[0]);
        return chunk.items;
    }

private:
    CaptureSlots& slots_;
};

}  // namespace phy::detail
