#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"

namespace {

using phy::Direction;
using phy::DmrsPlacement;

/// A table of the standard: lines of the duration l_d and an entry for each number of additional positions;
/// "L" is l_0 and "-" an empty entry.
struct Table {
    Direction direction;
    char mapping_type;
    int length;
    const char* rows;
};

constexpr Table tables[] = {
    {Direction::uplink, 'A', 1, R"(
        1  -  -     -       -
        2  -  -     -       -
        3  -  -     -       -
        4  L  L     L       L
        5  L  L     L       L
        6  L  L     L       L
        7  L  L     L       L
        8  L  L,7   L,7     L,7
        9  L  L,7   L,7     L,7
        10 L  L,9   L,6,9   L,6,9
        11 L  L,9   L,6,9   L,6,9
        12 L  L,9   L,6,9   L,5,8,11
        13 L  L,11  L,7,11  L,5,8,11
        14 L  L,11  L,7,11  L,5,8,11)"},
    {Direction::uplink, 'B', 1, R"(
        1  L  L     L       L
        2  L  L     L       L
        3  L  L     L       L
        4  L  L     L       L
        5  L  L,4   L,4     L,4
        6  L  L,4   L,4     L,4
        7  L  L,4   L,4     L,4
        8  L  L,6   L,3,6   L,3,6
        9  L  L,6   L,3,6   L,3,6
        10 L  L,8   L,4,8   L,3,6,9
        11 L  L,8   L,4,8   L,3,6,9
        12 L  L,10  L,5,10  L,3,6,9
        13 L  L,10  L,5,10  L,3,6,9
        14 L  L,10  L,5,10  L,3,6,9)"},
    {Direction::uplink, 'A', 2, R"(
        3  -  -     -  -
        4  L  L     -  -
        5  L  L     -  -
        6  L  L     -  -
        7  L  L     -  -
        8  L  L     -  -
        9  L  L     -  -
        10 L  L,8   -  -
        11 L  L,8   -  -
        12 L  L,8   -  -
        13 L  L,10  -  -
        14 L  L,10  -  -)"},
    {Direction::uplink, 'B', 2, R"(
        1  -  -     -  -
        2  -  -     -  -
        3  -  -     -  -
        4  -  -     -  -
        5  L  L     -  -
        6  L  L     -  -
        7  L  L     -  -
        8  L  L,5   -  -
        9  L  L,5   -  -
        10 L  L,7   -  -
        11 L  L,7   -  -
        12 L  L,9   -  -
        13 L  L,9   -  -
        14 L  L,9   -  -)"},
    {Direction::downlink, 'A', 1, R"(
        2  -  -     -       -
        3  L  L     L       L
        4  L  L     L       L
        5  L  L     L       L
        6  L  L     L       L
        7  L  L     L       L
        8  L  L,7   L,7     L,7
        9  L  L,7   L,7     L,7
        10 L  L,9   L,6,9   L,6,9
        11 L  L,9   L,6,9   L,6,9
        12 L  L,9   L,6,9   L,5,8,11
        13 L  L,11  L,7,11  L,5,8,11
        14 L  L,11  L,7,11  L,5,8,11)"},
    {Direction::downlink, 'B', 1, R"(
        1  -  -     -       -
        2  L  L     L       L
        3  L  L     L       L
        4  L  L     L       L
        5  L  L,4   L,4     L,4
        6  L  L,4   L,4     L,4
        7  L  L,4   L,4     L,4
        8  L  L,6   L,3,6   L,3,6
        9  L  L,7   L,4,7   L,4,7
        10 L  L,7   L,4,7   L,4,7
        11 L  L,8   L,4,8   L,3,6,9
        12 L  L,9   L,5,9   L,3,6,9
        13 L  L,9   L,5,9   L,3,6,9
        14 -  -     -       -)"},
    {Direction::downlink, 'A', 2, R"(
        3  -  -     -  -
        4  L  L     -  -
        5  L  L     -  -
        6  L  L     -  -
        7  L  L     -  -
        8  L  L     -  -
        9  L  L     -  -
        10 L  L,8   -  -
        11 L  L,8   -  -
        12 L  L,8   -  -
        13 L  L,10  -  -
        14 L  L,10  -  -)"},
    {Direction::downlink, 'B', 2, R"(
        4  -  -     -  -
        5  L  L     -  -
        6  L  L     -  -
        7  L  L     -  -
        8  L  L,5   -  -
        9  L  L,5   -  -
        10 L  L,7   -  -
        11 L  L,7   -  -
        12 L  L,8   -  -
        13 L  L,8   -  -
        14 -  -     -  -)"},
};

/// The symbols of an entry; none where it is empty.
std::vector<int> symbols_of(const std::string& entry, const DmrsPlacement& placement) {
    std::vector<int> symbols;
    if (entry == "-") return symbols;
    const bool is_a = placement.mapping_type == 'A';
    std::istringstream numbers(entry);
    for (std::string number; std::getline(numbers, number, ',');) {
        const int l_0 = is_a ? placement.type_a_position : 0;
        const int symbol = (is_a ? 0 : placement.first_symbol) + (number == "L" ? l_0 : std::stoi(number));
        for (int i = 0; i < placement.length; ++i)
            symbols.push_back(symbol + i);
    }
    return symbols;
}

void expect_entry(const DmrsPlacement& placement, const std::string& entry) {
    SCOPED_TRACE(std::string(placement.direction == Direction::uplink ? "uplink " : "downlink ") +
                 placement.mapping_type + ", symbols " + std::to_string(placement.first_symbol) + " + " +
                 std::to_string(placement.symbols) + ", " + std::to_string(placement.additional_positions) +
                 " additional, length " + std::to_string(placement.length) + ", l_0 " +
                 std::to_string(placement.type_a_position));
    std::vector<int> expected = symbols_of(entry, placement);
    const bool is_a = placement.mapping_type == 'A';
    // l_0 = 3 leaves no room in the shortest durations, and does not go with three additional positions.
    const int end = placement.first_symbol + placement.symbols;
    if (is_a && (placement.type_a_position + placement.length > end ||
                 (placement.additional_positions == 3 && placement.type_a_position == 3)))
        expected.clear();
    if (expected.empty())
        EXPECT_THROW(phy::dmrs_symbols(placement), phy::ArgumentError);
    else
        EXPECT_EQ(phy::dmrs_symbols(placement), expected);
}

TEST(DmrsSymbols, AreThoseOfTheTables) {
    for (const Table& table : tables) {
        std::istringstream rows(table.rows);
        int duration = 0;
        while (rows >> duration) {
            for (int additional = 0; additional <= 3; ++additional) {
                std::string entry;
                rows >> entry;
                const bool is_a = table.mapping_type == 'A';
                for (int first = 0; first <= (is_a ? 1 : 14 - duration); ++first) {
                    const int symbols = is_a ? duration - first : duration;
                    if (symbols < 1) continue;
                    for (const int l_0 : {2, 3})
                        expect_entry({.direction = table.direction,
                                      .mapping_type = table.mapping_type,
                                      .first_symbol = first,
                                      .symbols = symbols,
                                      .type_a_position = l_0,
                                      .additional_positions = additional,
                                      .length = table.length},
                                     entry);
                }
            }
        }
        EXPECT_EQ(duration, 14);
    }
}

TEST(DmrsSymbols, RefusesWhatIsOutOfItsRange) {
    const auto expect_error = [](const DmrsPlacement& placement, const std::string& named) {
        try {
            phy::dmrs_symbols(placement);
            ADD_FAILURE() << "no error that names " << named;
        } catch (const phy::ArgumentError& error) {
            EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
        }
    };
    expect_error({.direction = static_cast<Direction>(2)}, "direction");
    expect_error({.mapping_type = 'C'}, "mapping type");
    expect_error({.first_symbol = -1}, "first_symbol");
    expect_error({.first_symbol = 14}, "first_symbol");
    expect_error({.first_symbol = 3, .symbols = 11}, "first_symbol");
    expect_error({.symbols = 0}, "symbols");
    expect_error({.first_symbol = 1}, "symbols");
    expect_error({.type_a_position = 1}, "type A position");
    expect_error({.type_a_position = 4}, "type A position");
    expect_error({.type_a_position = 3, .additional_positions = 3}, "type A position");
    expect_error({.additional_positions = -1}, "additional_positions");
    expect_error({.additional_positions = 4}, "additional_positions");
    expect_error({.length = 0}, "length");
    expect_error({.length = 3}, "length");
    expect_error({.additional_positions = 2, .length = 2}, "tables");
}

}  // namespace
