#include "phy/receiver/slot_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace phy {

SlotSchedule::SlotSchedule(const Link& link)
    : slots_(link.slots),
      slots_per_frame_(phy::slots_per_frame(link.carrier)),
      first_slot_(static_cast<std::uint64_t>(link.carrier.first_slot)) {
    if (slots_.empty()) {
        slots_.resize(static_cast<std::size_t>(slots_per_frame_));
        std::iota(slots_.begin(), slots_.end(), 0);
    }
    std::sort(slots_.begin(), slots_.end());
    const auto first = std::lower_bound(slots_.begin(), slots_.end(), link.carrier.first_slot);
    skipped_ = static_cast<std::size_t>(first - slots_.begin());
}

std::size_t SlotSchedule::slot_index(std::uint64_t occasion) const {
    return static_cast<std::size_t>((occasion + skipped_) % slots_.size());
}

int SlotSchedule::slot_in_frame(std::uint64_t occasion) const {
    return slots_[slot_index(occasion)];
}

std::uint64_t SlotSchedule::slot(std::uint64_t occasion) const {
    const std::uint64_t frame = (occasion + skipped_) / slots_.size();
    return frame * static_cast<std::uint64_t>(slots_per_frame_) +
           static_cast<std::uint64_t>(slot_in_frame(occasion));
}

std::uint64_t SlotSchedule::occasions(std::uint64_t slots) const {
    const auto of_frame = static_cast<std::uint64_t>(slots_per_frame_);
    const std::uint64_t end = first_slot_ + slots;
    const auto below = std::lower_bound(slots_.begin(), slots_.end(), static_cast<int>(end % of_frame));
    return end / of_frame * slots_.size() + static_cast<std::uint64_t>(below - slots_.begin()) - skipped_;
}

}  // namespace phy
