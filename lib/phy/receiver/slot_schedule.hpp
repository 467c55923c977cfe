#pragma once

#include <cstdint>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/receiver/link.hpp"

namespace phy {

/// The slots of a capture that hold the allocation of a link. These occasions are counted from 0 in time
/// order. Slots are numbered on over the frames, from slot 0 of the frame in which the capture begins, so the
/// capture's first slot is Link::carrier.first_slot.
class PHY_EXPORT SlotSchedule {
public:
    /// The link must pass check().
    explicit SlotSchedule(const Link& link);

    /// A move copies: a moved-from schedule stays valid.
    SlotSchedule(const SlotSchedule&) = default;
    SlotSchedule& operator=(const SlotSchedule&) = default;
    ~SlotSchedule() = default;

    /// The number of an occasion's slot.
    [[nodiscard]] std::uint64_t slot(std::uint64_t occasion) const;

    /// The number of that slot in its frame.
    [[nodiscard]] int slot_in_frame(std::uint64_t occasion) const;

    /// The number of occasions in the first `slots` slots of the capture.
    [[nodiscard]] std::uint64_t occasions(std::uint64_t slots) const;

    /// The slots of each frame that hold the allocation, in order.
    [[nodiscard]] const std::vector<int>& slots() const { return slots_; }

    /// The index of an occasion's slot in slots().
    [[nodiscard]] std::size_t slot_index(std::uint64_t occasion) const;

    [[nodiscard]] int slots_per_frame() const { return slots_per_frame_; }
    [[nodiscard]] std::uint64_t first_slot() const { return first_slot_; }

private:
    std::vector<int> slots_;
    int slots_per_frame_ = 0;
    std::uint64_t first_slot_ = 0;
    std::size_t skipped_ = 0;  ///< slots() of the first frame that lie before the capture
};

}  // namespace phy
