#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

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

/// True under slow tools, such as compute-sanitizer: the same cases, less often.
inline bool is_thin() {
    const char* value = std::getenv("PHY_TEST_THIN");
    return value != nullptr && std::string_view(value) == "1";
}

/// All of it, or an eighth where tests are thin.
template <typename T>
std::vector<T> thinned(const std::vector<T>& all) {
    if (!is_thin()) return all;
    std::vector<T> some;
    for (std::size_t n = 0; n < all.size(); n += all.size() < 8 ? 1 : 8)
        some.push_back(all[n]);
    some.push_back(all.back());
    return some;
}

/// True if the device has no less free memory after the work than before. Other programs may use the device
/// at the same time, so one attempt of several will do.
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

/// At the start of a test or of SetUp(): skips it where there is no GPU.
#define PHY_NEEDS_GPU()                                                \
    if (const std::string why = phy_test::why_no_gpu(); why.empty()) { \
    } else if (phy_test::gpu_is_required()) {                          \
        FAIL() << why << ", and PHY_REQUIRE_GPU is set";               \
    } else                                                             \
        GTEST_SKIP() << why
