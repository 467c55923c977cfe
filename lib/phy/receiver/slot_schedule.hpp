#pragma once

#include <cstdint>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/receiver/link.hpp"

namespace phy {

/// Which slots of a capture hold the allocation of a link: its occasions, counted from 0 in time order.
/// Slots are numbered on over the frames, from slot 0 of the frame in which the capture begins, so that the
/// first of the capture is Link::carrier.first_slot.
class PHY_EXPORT SlotSchedule {
public:
    /// The link is one that check() lets pass.
    explicit SlotSchedule(const Link& link);

    /// Copies, as a move does too: what was moved from is still a schedule.
    SlotSchedule(const SlotSchedule&) = default;
    SlotSchedule& operator=(const SlotSchedule&) = default;
    ~SlotSchedule() = default;

    /// The slot of an occasion.
    [[nodiscard]] std::uint64_t slot(std::uint64_t occasion) const;

    /// That slot's number in its frame.
    [[nodiscard]] int slot_in_frame(std::uint64_t occasion) const;

    /// How many occasions lie in the first `slots` slots of the capture.
    [[nodiscard]] std::uint64_t occasions(std::uint64_t slots) const;

    /// Those of each frame: numbers of slots, in order.
    [[nodiscard]] const std::vector<int>& slots() const { return slots_; }

    /// The place in slots() of an occasion.
    [[nodiscard]] std::size_t place(std::uint64_t occasion) const;

    [[nodiscard]] int slots_per_frame() const { return slots_per_frame_; }
    [[nodiscard]] std::uint64_t first_slot() const { return first_slot_; }

private:
    std::vector<int> slots_;
    int slots_per_frame_ = 0;
    std::uint64_t first_slot_ = 0;
    std::size_t skipped_ = 0;  ///< of slots(): those of the first frame that come before the capture
};

}  // namespace phy
