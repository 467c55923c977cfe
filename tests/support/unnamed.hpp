#pragma once

#include <gtest/gtest.h>

#include <string>

#include "phy/core/error.hpp"

namespace phy_test {

/// Expects that work() rejects an enum value cast from the number. what: its kind; last: the largest valid
/// number.
template <typename Work>
void expect_unnamed(const std::string& what, int number, int last, Work work) {
    const std::string expected =
        what + " is number " + std::to_string(number) + ": expected 0 to " + std::to_string(last);
    try {
        work();
        ADD_FAILURE() << "no error, expected: " << expected;
    } catch (const phy::ArgumentError& error) {
        EXPECT_EQ(error.what(), expected);
    }
}

}  // namespace phy_test
