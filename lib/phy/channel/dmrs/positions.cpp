#include <array>
#include <string>
#include <string_view>

#include "phy/channel/dmrs.hpp"
#include "phy/channel/slot_allocation.hpp"
#include "phy/core/error.hpp"

namespace phy {
namespace {

/// Rows of a table that say the same: durations from first to last, and the symbols after l_0 for each number
/// of additional positions, as hexadecimal digits. They count from the slot's first symbol for mapping
/// type A, from the allocation's for B.
struct Rows {
    int first;
    int last;
    std::array<std::string_view, 4> after_first;
};

// Beyond its columns a table of double symbols has no entry.
constexpr std::string_view none = "-";

// Tables 6.4.1.1.3-3 and 7.4.1.1.2-3.
constexpr Rows type_a_single[] = {
    {3, 7, {"", "", "", ""}},       {8, 9, {"", "7", "7", "7"}},    {10, 11, {"", "9", "69", "69"}},
    {12, 12, {"", "9", "69", "58b"}}, {13, 14, {"", "b", "7b", "58b"}},
};
constexpr Rows uplink_b_single[] = {
    {1, 4, {"", "", "", ""}},          {5, 7, {"", "4", "4", "4"}},     {8, 9, {"", "6", "36", "36"}},
    {10, 11, {"", "8", "48", "369"}},  {12, 14, {"", "a", "5a", "369"}},
};
constexpr Rows downlink_b_single[] = {
    {2, 4, {"", "", "", ""}},         {5, 7, {"", "4", "4", "4"}},       {8, 8, {"", "6", "36", "36"}},
    {9, 10, {"", "7", "47", "47"}},   {11, 11, {"", "8", "48", "369"}},  {12, 13, {"", "9", "59", "369"}},
};

// Tables 6.4.1.1.3-4 and 7.4.1.1.2-4: the first of two symbols.
constexpr Rows type_a_double[] = {
    {4, 9, {"", "", none, none}}, {10, 12, {"", "8", none, none}}, {13, 14, {"", "a", none, none}},
};
constexpr Rows uplink_b_double[] = {
    {5, 7, {"", "", none, none}},    {8, 9, {"", "5", none, none}},
    {10, 11, {"", "7", none, none}}, {12, 14, {"", "9", none, none}},
};
constexpr Rows downlink_b_double[] = {
    {5, 7, {"", "", none, none}},    {8, 9, {"", "5", none, none}},
    {10, 11, {"", "7", none, none}}, {12, 13, {"", "8", none, none}},
};

std::span<const Rows> table(const DmrsPlacement& placement) {
    const bool is_single = placement.length == 1;
    if (placement.mapping_type == 'A')
        return is_single ? std::span<const Rows>(type_a_single) : std::span<const Rows>(type_a_double);
    if (placement.direction == Direction::uplink)
        return is_single ? std::span<const Rows>(uplink_b_single) : std::span<const Rows>(uplink_b_double);
    return is_single ? std::span<const Rows>(downlink_b_single) : std::span<const Rows>(downlink_b_double);
}

}  // namespace
}  // namespace phy
