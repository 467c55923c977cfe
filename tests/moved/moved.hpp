#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

#include "phy/core/error.hpp"

namespace phy_test {

/// Expects that the result of make() moves like any value, and that every use of the moved-from object throws
/// an error with the name of its class.
template <typename Make, typename... Uses>
void expect_named_when_moved_from(const std::string& name, Make make, Uses... uses) {
    using T = decltype(make());
    static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T>);
    static_assert(!std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>);
    SCOPED_TRACE(name);
    const auto says_so = [&](T& moved, auto use) {
        try {
            use(moved);
            ADD_FAILURE() << "no error";
        } catch (const phy::ArgumentError& error) {
            EXPECT_EQ(error.what(), name + " was moved from: expected the one that it was moved to");
        }
    };
    // NOLINTBEGIN(bugprone-use-after-move): what that does is the matter.
    T first = make();
    T second = std::move(first);
    (says_so(first, uses), ...);
    (uses(second), ...);
    T third = make();
    third = std::move(second);
    (says_so(second, uses), ...);
    (uses(third), ...);
    first = std::move(third);
    (uses(first), ...);
    second = std::move(third);
    (says_so(second, uses), ...);
    (says_so(third, uses), ...);
    // NOLINTEND(bugprone-use-after-move)
}

/// Uses common to many classes.
inline constexpr auto config_of = [](auto& object) { static_cast<void>(object.config()); };
inline constexpr auto host_of = [](auto& object) { static_cast<void>(object.host()); };
inline constexpr auto device_of = [](auto& object) { static_cast<void>(object.device()); };
inline constexpr auto ports_of = [](auto& stage) {
    static_cast<void>(stage.inputs());
    static_cast<void>(stage.outputs());
};

}  // namespace phy_test
