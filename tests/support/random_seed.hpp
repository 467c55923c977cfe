#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace phy_test {

/// PHY_TEST_SEED of the environment, or a new number. Printed, so that a failure can be repeated.
inline std::uint32_t random_seed() {
    const char* const given = std::getenv("PHY_TEST_SEED");
    const auto seed =
        given != nullptr ? static_cast<std::uint32_t>(std::stoul(given)) : std::random_device()();
    std::cout << "PHY_TEST_SEED=" << seed << '\n';
    return seed;
}

}  // namespace phy_test
