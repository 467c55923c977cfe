#pragma once

#include <gtest/gtest.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <vector>

#include "phy/cuda/device.hpp"

namespace phy_test {

/// The devices on which this process has a CUDA context.
inline std::vector<int> devices_with_context() {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    phy::gpu::check(cudaGetDriverEntryPointByVersion("cuDevicePrimaryCtxGetState", &address, 12000,
                                                     cudaEnableDefault, &found));
    const auto get_state = reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(address);
    std::vector<int> result;
    for (const phy::gpu::Device& device : phy::gpu::Device::all()) {
        unsigned flags = 0;
        int active = 0;
        phy::gpu::check(get_state(device.ordinal(), &flags, &active));
        if (active != 0) result.push_back(device.ordinal());
    }
    return result;
}

/// Runs the work on the last of several devices, in a new process, and expects a context on no other device.
template <typename Work>
void expect_context_on_last_device_alone(Work work) {
    const std::vector<phy::gpu::Device> devices = phy::gpu::Device::all();
    if (devices.size() < 2) GTEST_SKIP() << "fewer than two devices";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto is_alone = [&] {
        work(devices.back());
        return devices_with_context() == std::vector<int>{devices.back().ordinal()};
    };
    EXPECT_EXIT(std::_Exit(is_alone() ? 42 : 1), testing::ExitedWithCode(42), "");
}

}  // namespace phy_test
