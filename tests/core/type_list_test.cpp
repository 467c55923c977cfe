#include "phy/core/type_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace {

using phy::detail::all_enumerators;
using phy::detail::with_enumerator;

using List = phy::detail::TypeList<char, double, std::string>;

static_assert(List::size == 3);
static_assert(List::sizes == std::array{sizeof(char), sizeof(double), sizeof(std::string)});
static_assert(std::is_same_v<List::At<0>, char>);
static_assert(std::is_same_v<List::At<2>, std::string>);
static_assert(List::contains<double>);
static_assert(!List::contains<float>);
static_assert(!List::contains<const double>);
static_assert(List::index_of<char> == 0);
static_assert(List::index_of<double> == 1);
static_assert(List::index_of<std::string> == 2);

enum class Colour { red, green, blue };

static_assert(all_enumerators<Colour, 3> == std::array{Colour::red, Colour::green, Colour::blue});

TEST(WithEnumerator, MakesAConstantOfEveryValue) {
    std::vector<Colour> seen;
    for (const Colour colour : all_enumerators<Colour, 3>) {
        with_enumerator<3>(colour, [&](auto constant) {
            static_assert(std::is_same_v<typename decltype(constant)::value_type, Colour>);
            constexpr Colour value = constant();
            seen.push_back(value);
        });
    }
    EXPECT_EQ(seen, (std::vector{Colour::red, Colour::green, Colour::blue}));
}

TEST(WithEnumerator, GivesWhatTheVisitorGives) {
    const auto size = [](Colour colour) {
        return with_enumerator<3>(colour, [](auto constant) { return List::sizes[std::size_t(constant())]; });
    };
    EXPECT_EQ(size(Colour::red), 1U);
    EXPECT_EQ(size(Colour::green), 8U);
    static_assert(with_enumerator<3>(Colour::blue, [](auto constant) { return int(constant()); }) == 2);
}

TEST(WithEnumerator, GivesReferencesAsSuch) {
    int number = 1;
    decltype(auto) same = with_enumerator<3>(Colour::green, [&](auto) -> int& { return number; });
    static_assert(std::is_same_v<decltype(same), int&>);
    same = 2;
    EXPECT_EQ(number, 2);
}

}  // namespace
