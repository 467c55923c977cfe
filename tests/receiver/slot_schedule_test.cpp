#include "phy/receiver/slot_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using phy::Link;
using phy::SlotSchedule;

Link link_of(int spacing, int first_slot, std::vector<int> slots) {
    Link link;
    link.carrier.subcarrier_spacing = spacing;
    link.carrier.first_slot = first_slot;
    link.slots = std::move(slots);
    return link;
}

/// Goes through the capture slot by slot.
void expect_as_counted(const Link& link) {
    const SlotSchedule schedule(link);
    const int of_frame = 10 * link.carrier.subcarrier_spacing / 15000;
    std::uint64_t occasion = 0;
    for (int n = 0; n < 3 * of_frame + 5; ++n) {
        ASSERT_EQ(schedule.occasions(static_cast<std::uint64_t>(n)), occasion) << n << " slots";
        const int slot = link.carrier.first_slot + n;
        const int in_frame = slot % of_frame;
        if (!link.slots.empty() && std::ranges::count(link.slots, in_frame) == 0) continue;
        ASSERT_EQ(schedule.slot(occasion), static_cast<std::uint64_t>(slot));
        ASSERT_EQ(schedule.slot_in_frame(occasion), in_frame);
        ASSERT_EQ(schedule.slots().at(schedule.slot_index(occasion)), in_frame);
        ++occasion;
    }
}

TEST(SlotScheduleTest, CountsOccasionsInTimeOrder) {
    for (const int spacing : {15000, 30000, 60000, 120000}) {
        const int last = 10 * spacing / 15000 - 1;
        for (const int first_slot : {0, 1, 4, last}) {
            for (const std::vector<int>& slots :
                 {std::vector<int>(), {0}, {last}, {4}, {7, 2, 4}, {last, 0}, {0, 1, 2, 3, 5}}) {
                SCOPED_TRACE(std::to_string(spacing) + " Hz from slot " + std::to_string(first_slot) +
                             ", slots " + std::to_string(slots.size()));
                expect_as_counted(link_of(spacing, first_slot, slots));
            }
        }
    }
}

TEST(SlotScheduleTest, GoesOnForWeeks) {
    const SlotSchedule schedule(link_of(120000, 79, {3, 78}));
    // The first frame has none left.
    EXPECT_EQ(schedule.slot(0), 83U);
    constexpr std::uint64_t frames = 100ULL * 3600 * 24 * 30;
    EXPECT_EQ(schedule.slot(2 * frames + 1), 80 * (frames + 1) + 78);
    EXPECT_EQ(schedule.occasions(80 * frames), 2 * frames);
}

TEST(SlotScheduleTest, KnowsItsFrame) {
    const SlotSchedule schedule(link_of(60000, 5, {9, 3}));
    EXPECT_EQ(schedule.slots_per_frame(), 40);
    EXPECT_EQ(schedule.first_slot(), 5U);
    EXPECT_EQ(schedule.slots(), (std::vector<int>{3, 9}));
    EXPECT_EQ(SlotSchedule(link_of(15000, 0, {})).slots().size(), 10U);
}

}  // namespace
