#include <array>
#include <span>
#include <string>
#include <string_view>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy {
namespace {

/// Equal rows of a table: durations l_d from first to last, and the symbols after l_0 for each number of
/// additional positions, as hexadecimal digits. They count from the first symbol of the slot for mapping type
/// A, and of the allocation for type B.
struct Rows {
    int first;
    int last;
    std::array<std::string_view, 4> after_first;
};

// Tables of double symbols have no entry for more additional positions.
constexpr std::string_view none = "-";

// Tables 6.4.1.1.3-3 and 7.4.1.1.2-3.
constexpr Rows type_a_single[] = {
    {3, 3, {"", "", "", ""}},  // downlink only
    {4, 7, {"", "", "", ""}},         {8, 9, {"", "7", "7", "7"}},      {10, 11, {"", "9", "69", "69"}},
    {12, 12, {"", "9", "69", "58b"}}, {13, 14, {"", "b", "7b", "58b"}},
};
constexpr Rows uplink_b_single[] = {
    {1, 4, {"", "", "", ""}},         {5, 7, {"", "4", "4", "4"}},      {8, 9, {"", "6", "36", "36"}},
    {10, 11, {"", "8", "48", "369"}}, {12, 14, {"", "a", "5a", "369"}},
};
constexpr Rows downlink_b_single[] = {
    {2, 4, {"", "", "", ""}},       {5, 7, {"", "4", "4", "4"}},      {8, 8, {"", "6", "36", "36"}},
    {9, 10, {"", "7", "47", "47"}}, {11, 11, {"", "8", "48", "369"}}, {12, 13, {"", "9", "59", "369"}},
};

// Tables 6.4.1.1.3-4 and 7.4.1.1.2-4: the first of two symbols.
constexpr Rows type_a_double[] = {
    {4, 9, {"", "", none, none}},
    {10, 12, {"", "8", none, none}},
    {13, 14, {"", "a", none, none}},
};
constexpr Rows uplink_b_double[] = {
    {5, 7, {"", "", none, none}},
    {8, 9, {"", "5", none, none}},
    {10, 11, {"", "7", none, none}},
    {12, 14, {"", "9", none, none}},
};
constexpr Rows downlink_b_double[] = {
    {5, 7, {"", "", none, none}},
    {8, 9, {"", "5", none, none}},
    {10, 11, {"", "7", none, none}},
    {12, 13, {"", "8", none, none}},
};

using Table = std::span<const Rows>;

Table table(Direction direction, char mapping_type, int length) {
    const bool is_single = length == 1;
    const bool is_uplink = direction == Direction::uplink;
    if (mapping_type == 'A') {
        if (is_single) return is_uplink ? Table(type_a_single).subspan(1) : Table(type_a_single);
        return type_a_double;
    }
    if (is_single) return is_uplink ? Table(uplink_b_single) : Table(downlink_b_single);
    return is_uplink ? Table(uplink_b_double) : Table(downlink_b_double);
}

void require(bool condition, const char* what, int value, const char* expected) {
    if (!condition)
        throw ArgumentError(std::string(what) + " " + std::to_string(value) + ": expected " + expected);
}

void check_placement(const DmrsPlacement& p) {
    detail::check_enum("direction", p.direction, Direction::downlink);
    if (p.mapping_type != 'A' && p.mapping_type != 'B')
        throw ArgumentError(std::string("mapping type '") + p.mapping_type + "': expected 'A' or 'B'");
    detail::check_range("first_symbol", p.first_symbol, 0, symbols_per_slot - 1);
    require(p.symbols >= 1 && p.symbols <= symbols_per_slot - p.first_symbol, "symbols", p.symbols,
            "at least 1 and at most the symbols that the slot has from first_symbol on");
    detail::check_range("additional_positions", p.additional_positions, 0, 3);
    require(p.length == 1 || p.length == 2, "DM-RS length", p.length, "1 or 2");
    if (p.mapping_type == 'B') return;
    require(p.type_a_position == 2 || p.type_a_position == 3, "type A position", p.type_a_position, "2 or 3");
    require(p.first_symbol <= p.type_a_position, "first_symbol", p.first_symbol,
            "at most the type A position with mapping type A");
    require(p.additional_positions < 3 || p.type_a_position == 2, "type A position", p.type_a_position,
            "2 with 3 additional positions");
}

int digit(char hexadecimal) {
    return hexadecimal <= '9' ? hexadecimal - '0' : hexadecimal - 'a' + 10;
}

}  // namespace

std::vector<int> dmrs_symbols(const DmrsPlacement& placement) {
    check_placement(placement);
    const bool is_a = placement.mapping_type == 'A';
    const int reference = is_a ? 0 : placement.first_symbol;
    const int duration = placement.first_symbol + placement.symbols - reference;
    const int l_0 = is_a ? placement.type_a_position : 0;
    const std::string_view* after_first = nullptr;
    for (const Rows& rows : table(placement.direction, placement.mapping_type, placement.length)) {
        if (duration >= rows.first && duration <= rows.last)
            after_first = &rows.after_first[static_cast<std::size_t>(placement.additional_positions)];
    }
    if (after_first == nullptr || *after_first == none || l_0 + placement.length > duration)
        throw ArgumentError("no DM-RS of " + std::to_string(placement.length) + " symbols with " +
                            std::to_string(placement.additional_positions) +
                            " additional positions in a duration of " + std::to_string(duration) +
                            " symbols: expected one of the tables of TS 38.211");
    std::vector<int> symbols;
    const auto add = [&](int first) {
        for (int i = 0; i < placement.length; ++i)
            symbols.push_back(reference + first + i);
    };
    add(l_0);
    for (const char position : *after_first)
        add(digit(position));
    return symbols;
}

}  // namespace phy
