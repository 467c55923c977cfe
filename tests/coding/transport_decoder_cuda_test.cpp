#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "coding/decoder_on_gpu.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

class GpuTransportDecoder : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    unsigned seed_ = random_seed();
    testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
    std::mt19937 random_{seed_};
};

TEST_F(GpuTransportDecoder, TheBytesAndIterationsOfACpu) {
    for ([[maybe_unused]] const std::uint64_t trial : fewer_indices(120)) {
        const DecoderCase decoded = random_case(random_);
        phy::TransportDecoder on_host(phy::Host(), decoded.decoder);
        const DecoderOutputs expected = decode_thrice(on_host, decoded);
        const DecoderOutputs there = decoded_on_gpu(decoded, random_() % 3);
        EXPECT_TRUE(there.results == expected.results) << text_of(decoded.decoder.block);
        EXPECT_TRUE(there.payload == expected.payload) << text_of(decoded.decoder.block);
        EXPECT_TRUE(there.extrinsic == expected.extrinsic) << text_of(decoded.decoder.block);
        EXPECT_TRUE(there.repeated == expected.repeated) << text_of(decoded.decoder.block);
        ASSERT_TRUE(there == expected) << text_of(decoded.decoder.block);
    }
}

/// Soft bits that are all alike or not finite.
TEST_F(GpuTransportDecoder, DamagedSoftBitsNeverHold) {
    DecoderCase decoded = random_case(random_);
    decoded.decoder.format = phy::SoftBitFormat::float32;
    for (const float value : {0.0F, std::numeric_limits<float>::quiet_NaN(), 1e30F, -1e30F,
                              std::numeric_limits<float>::infinity()}) {
        std::ranges::fill(decoded.floats, value);
        for (const phy::DecodedBlock& result : decoded_on_gpu(decoded, 0).results) {
            EXPECT_EQ(result.crc, 0U) << value;
            EXPECT_GT(result.failed_blocks, 0U) << value;
        }
    }
}

}  // namespace
