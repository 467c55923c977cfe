#include <phy/phy_cuda.hpp>

#include <cstdio>
#include <string>

// Runs with and without a device: lists them or says why there is none.
int main() {
    const auto devices = phy::gpu::Device::all();
    for (const auto& device : devices)
        std::printf("%d: %s\n", device.ordinal(), device.name().c_str());
    if (!devices.empty()) return 0;
    const std::string why_not = phy::gpu::Device::why_not();
    std::printf("no device: %s\n", why_not.c_str());
    return why_not.empty() ? 1 : 0;
}
