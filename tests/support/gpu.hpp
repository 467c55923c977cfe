#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "phy/cuda/device.hpp"
#include "support/fewer_cases.hpp"

namespace phy_test {

/// Why no test can run on a GPU here; empty if one can.
inline std::string why_no_gpu() {
    if (!phy::gpu::Device::all().empty()) return "";
    return "no GPU: " + phy::gpu::Device::why_not();
}

/// True on a machine that must have a GPU: a test that finds none then fails.
inline bool gpu_is_required() {
    const char* value = std::getenv("PHY_REQUIRE_GPU");
    return value != nullptr && std::string(value) == "1";
}

/// True if the device has at least as much free memory after the work as before. One success in several
/// attempts is enough, as other programs may use the device at the same time.
template <typename Work>
bool keeps_free_memory(const phy::gpu::Device& device, Work work) {
    for (int attempt = 0; attempt < 10; ++attempt) {
        const std::size_t before = device.free_memory();
        work();
        device.synchronize();
        if (device.free_memory() >= before) return true;
    }
    return false;
}

}  // namespace phy_test

/// At the start of a test or of SetUp(): skips it without a GPU.
#define PHY_NEEDS_GPU()                                                \
    if (const std::string why = phy_test::why_no_gpu(); why.empty()) { \
    } else if (phy_test::gpu_is_required()) {                          \
        FAIL() << why << ", and PHY_REQUIRE_GPU is set";               \
    } else                                                             \
        GTEST_SKIP() << why
