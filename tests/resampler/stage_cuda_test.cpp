#include <cmath>

#include "phy/cuda/device.hpp"
#include "resampler/stage_items.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;

class GpuResampleStageTest : public ResampleStageTest {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(GpuResampleStageTest, TheBytesOfAHost) {
    const std::vector<phy::gpu::Device> devices = phy::gpu::Device::all();
    const std::vector<phy::Place> all(devices.begin(), devices.end());
    with_items(3, [&](const Items& items, const std::vector<cf32>& expected) {
        for (const std::size_t chunk : chunks) {
            const phy::Pipeline::Config how = {.chunk = chunk, .buffer_sets = 1 + random_() % 3};
            EXPECT_TRUE(bits_of(resampled_by_stage(items, {phy::Host()}, how)) == bits_of(expected));
            EXPECT_TRUE(bits_of(resampled_by_stage(items, {devices.front()}, how)) == bits_of(expected));
            ASSERT_TRUE(bits_of(resampled_by_stage(items, all, how)) == bits_of(expected))
                << "chunks of " << chunk << ", " << how.buffer_sets << " buffer sets";
        }
    });
}

TEST_F(GpuResampleStageTest, OutputsOfRowsThatAreNotAllowedAreNaN) {
    with_items(1, [&](Items items, std::vector<cf32> output) {
        const std::size_t wrong = random_() % items.rows.size();
        items.rows[wrong].step += items.rows[wrong].step / 400;
        const std::vector<cf32> got = resampled_by_stage(items, {phy::gpu::Device()}, {.chunk = 3});
        const std::size_t outputs = items.config.outputs;
        for (std::size_t m = 0; m < outputs; ++m) {
            const cf32 number = got[wrong * outputs + m];
            ASSERT_TRUE(std::isnan(number.real()) && std::isnan(number.imag())) << m;
            output[wrong * outputs + m] = number;
        }
        EXPECT_TRUE(bits_of(got) == bits_of(output));
    });
}

}  // namespace
