#include "moved/moved.hpp"
#include "moved/receiver_config.hpp"
#include "phy/receiver/receiver.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST(GpuMovedFromReceiver, SaysSo) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    expect_named_when_moved_from(
        "gpu::Receiver", [&] { return phy::gpu::Receiver(device, receiver_config(), 1); }, config_of,
        device_of, [](auto& receive) { static_cast<void>(receive.schedule()); });
}

}  // namespace
