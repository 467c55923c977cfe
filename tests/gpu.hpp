#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "phy/core/cuda.hpp"

namespace phy_test {

/// Why no test can run on a GPU here; empty if one can.
inline std::string why_no_gpu() {
    if (!phy::gpu::Device::all().empty()) return "";
    return "no GPU: " + phy::gpu::Device::why_not();
}

/// Set where a machine is known to have a GPU, so that a test that finds none fails.
inline bool gpu_is_required() {
    const char* value = std::getenv("PHY_REQUIRE_GPU");
    return value != nullptr && std::string(value) == "1";
}

}  // namespace phy_test

/// At the start of a test or of SetUp(): skips it where there is no GPU.
#define PHY_NEEDS_GPU()                                                \
    if (const std::string why = phy_test::why_no_gpu(); why.empty()) { \
    } else if (phy_test::gpu_is_required()) {                          \
        FAIL() << why << ", and PHY_REQUIRE_GPU is set";               \
    } else                                                             \
        GTEST_SKIP() << why
