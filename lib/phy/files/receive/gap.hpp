#pragma once

#include <cstdint>
#include <optional>

#include "phy/files/receive/capture_slots.hpp"

/// Samples that a recorder has dropped.
namespace phy::detail {

struct Gap {
    std::int64_t sample = 0;        ///< of the receiver: where the first lost slot begins, or the gap
    double missing = 0.0;           ///< samples of the receiver
    std::uint64_t first_lost = 0;   ///< the first slot that is not whole, or the one behind the gap
    std::uint64_t first_whole = 0;  ///< behind the gap
    bool is_clear = false;          ///< slots before it are at one place, and slots behind it at the other
};

/// Occasions around a gap, and the places of slots before and behind it.
struct GapBounds {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    SlotPlace before;
    SlotPlace after;
};

/// Receives slots at either place to find those that are whole.
class GapSearch {
public:
    GapSearch(const Host& host, const ReceiverConfig& config, CaptureSlots& slots)
        : host_(host), config_(config), slots_(slots) {}

    Gap operator()(const GapBounds& bounds) const;

private:
    [[nodiscard]] std::vector<SlotReport> received(const GapBounds& bounds, const SlotPlace& place) const;

    const Host& host_;
    const ReceiverConfig& config_;
    CaptureSlots& slots_;
};

/// Searches a frame from where a slot was expected on, or the last frame, for slots of its number. The point
/// is the first one, numbered for the fewest missing samples; none: there is none, such as in a pause of a
/// scheduler.
std::optional<Track::Point> find_slot_near(const Host& host, const ReceiverConfig& config,
                                           CaptureSlots& slots, std::uint64_t slot,
                                           const SlotPlace& expected);

}  // namespace phy::detail
