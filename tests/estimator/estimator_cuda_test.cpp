#include "phy/estimator/estimator.hpp"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "estimator/estimator_bytes.hpp"
#include "phy/core/error.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/stream.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

/// What the GPU writes in calls of `slots_a_call` slots, whose samples begin `shift` bytes from where they
/// would be aligned.
Written write_on_gpu(const EstimatorConfig& config, SampleFormat format, const Batch& batch,
                     std::size_t slots_a_call, std::size_t shift = 0) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::ChannelEstimator estimator(device, config, slots_a_call);
    // An estimator of less shared memory, which must not limit the other.
    const phy::gpu::ChannelEstimator small(device, estimator_config(6, 1, {0}), 1);
    const std::size_t of_covariance = covariance_size(config);
    Written written(batch.slots, estimator.channel_size(), of_covariance);
    DeviceBuffer<std::byte> grid(device, batch.grid.size() + shift);
    DeviceBuffer<phy::cf32> pilots(device, batch.pilots.size());
    DeviceBuffer<float> channel(device, written.channel.size());
    DeviceBuffer<phy::SlotEstimate> slots(device, written.slots.size());
    DeviceBuffer<phy::cf32> covariance(device, written.covariance.size());
    copy_async(grid.subspan(shift, batch.grid.size()), batch.grid, stream);
    copy_async(pilots, batch.pilots, stream);
    copy_async(channel, written.channel, stream);
    copy_async(covariance, written.covariance, stream);
    const std::size_t of_grid = batch.grid.size() / batch.slots;
    const std::size_t of_pilots = batch.pilots.size() / batch.slots;
    const std::size_t of_channel = estimator.channel_size();
    for (std::size_t s = 0; s < batch.slots; s += slots_a_call) {
        const std::size_t count = std::min(slots_a_call, batch.slots - s);
        estimator({format, grid.subspan(shift + s * of_grid, count * of_grid)},
                  pilots.subspan(s * of_pilots, count * of_pilots),
                  channel.subspan(s * of_channel, count * of_channel), slots.subspan(s, count), stream,
                  covariance.subspan(s * of_covariance, count * of_covariance));
    }
    copy_async(written.channel, channel, stream);
    copy_async(written.slots, slots, stream);
    copy_async(written.covariance, covariance, stream);
    stream.synchronize();
    return written;
}

/// Which part differs first, for people.
std::string difference(const Written& one, const Written& other) {
    for (std::size_t s = 0; s < one.slots.size(); ++s) {
        const auto* const a = reinterpret_cast<const float*>(&one.slots[s]);
        const auto* const b = reinterpret_cast<const float*>(&other.slots[s]);
        for (std::size_t i = 0; i < sizeof(phy::SlotEstimate) / sizeof(float); ++i)
            if (std::memcmp(a + i, b + i, sizeof(float)) != 0)
                return "slot " + std::to_string(s) + ", number " + std::to_string(i) +
                       " of SlotEstimate: " + std::to_string(a[i]) + ", expected " + std::to_string(b[i]);
    }
    for (std::size_t i = 0; i < one.channel.size(); ++i)
        if (std::memcmp(&one.channel[i], &other.channel[i], sizeof(float)) != 0)
            return "coefficient " + std::to_string(i) + ": " + std::to_string(one.channel[i]) +
                   ", expected " + std::to_string(other.channel[i]);
    for (std::size_t i = 0; i < one.covariance.size(); ++i)
        if (one.covariance[i] != other.covariance[i]) return "covariance " + std::to_string(i);
    return "none";
}

template <typename T>
std::vector<T> repeated(const std::vector<T>& values, std::size_t times) {
    std::vector<T> all;
    all.reserve(values.size() * times);
    for (std::size_t i = 0; i < times; ++i)
        all.insert(all.end(), values.begin(), values.end());
    return all;
}

TEST(GpuChannelEstimator, WritesTheBytesOfTheHost) {
    PHY_NEEDS_GPU();
    for (const BytesCase& one : bytes_cases()) {
        for (const SampleFormat format : formats_of(one)) {
            const Batch batch = make_batch(one.config, format, 3);
            const Written expected = write_all(phy::Host(), one.config, format, batch, 3);
            for (const std::size_t slots_a_call : {1U, 2U, 3U}) {
                const Written written = write_on_gpu(one.config, format, batch, slots_a_call);
                EXPECT_TRUE(written.is_same_as(expected))
                    << one.name << ", " << to_string(format) << ", " << slots_a_call
                    << " slots a call: " << difference(written, expected);
            }
        }
    }
}

TEST(GpuChannelEstimator, WritesTheBytesOfTheHostForRandomAllocations) {
    PHY_NEEDS_GPU();
    const std::uint32_t seed = random_seed();
    for (const BytesCase& one : random_bytes_cases(seed, fewer_times(64))) {
        const Batch batch = make_batch(one.config, SampleFormat::cf32, 4);
        const Written expected = write_all(phy::Host(), one.config, SampleFormat::cf32, batch, 4);
        const Written written = write_on_gpu(one.config, SampleFormat::cf32, batch, 2);
        EXPECT_TRUE(written.is_same_as(expected))
            << one.name << ": " << difference(written, expected) << ", PHY_TEST_SEED=" << seed;
    }
}

/// By pilots that are not finite; the slots before and after are not.
TEST(GpuChannelEstimator, WritesTheBytesOfTheHostForSpoiledSlots) {
    PHY_NEEDS_GPU();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const BytesCase& one : bytes_cases()) {
        Batch batch = make_batch(one.config, SampleFormat::cf32, 3);
        for (std::size_t at = batch.grid.size() / 3; at < 2 * batch.grid.size() / 3;
             at += 5 * sizeof infinity)
            std::memcpy(&batch.grid[at], &infinity, sizeof infinity);
        const Written expected = write_all(phy::Host(), one.config, SampleFormat::cf32, batch, 3);
        ASSERT_EQ(expected.slots[1].noise_variance, infinity) << one.name;
        for (const std::size_t slots_a_call : {1U, 3U}) {
            const Written written = write_on_gpu(one.config, SampleFormat::cf32, batch, slots_a_call);
            EXPECT_TRUE(written.is_same_as(expected))
                << one.name << ", " << slots_a_call << " slots a call: " << difference(written, expected);
        }
    }
}

// Few tiles are shared out among more blocks than many are.
TEST(GpuChannelEstimator, WritesTheSameBytesForASlotOfALargeBatch) {
    PHY_NEEDS_GPU();
    constexpr std::size_t times = 100;
    for (const BytesCase& one : bytes_cases()) {
        Batch batch = make_batch(one.config, SampleFormat::cf32, 3);
        Written expected = write_all(phy::Host(), one.config, SampleFormat::cf32, batch, 3);
        batch = {repeated(batch.grid, times), repeated(batch.pilots, times), times * batch.slots};
        expected.channel = repeated(expected.channel, times);
        expected.slots = repeated(expected.slots, times);
        expected.covariance = repeated(expected.covariance, times);
        const Written written = write_on_gpu(one.config, SampleFormat::cf32, batch, batch.slots);
        EXPECT_TRUE(written.is_same_as(expected)) << one.name << ": " << difference(written, expected);
    }
}

TEST(GpuChannelEstimator, EveryAlignment) {
    PHY_NEEDS_GPU();
    const EstimatorConfig config = bytes_cases().front().config;
    for (const SampleFormat format : phy::all_sample_formats) {
        const Batch batch = make_batch(config, format, 1);
        const Written expected = write_all(phy::Host(), config, format, batch, 1);
        for (const std::size_t shift : {1U, 2U, 4U})
            EXPECT_TRUE(write_on_gpu(config, format, batch, 1, shift).is_same_as(expected))
                << to_string(format) << ", shift " << shift;
    }
}

TEST(GpuChannelEstimator, WholeCarrier) {
    PHY_NEEDS_GPU();
    EstimatorConfig config = estimator_config(273, 4, {0, 1, 2, 3});
    config.delay_spread = 100e-9F;
    const Batch batch = make_batch(config, SampleFormat::cf32, 3);
    const Written expected = write_all(phy::Host(), config, SampleFormat::cf32, batch, 3);
    const Written written = write_on_gpu(config, SampleFormat::cf32, batch, 3);
    EXPECT_TRUE(written.is_same_as(expected)) << difference(written, expected);
}

TEST(GpuChannelEstimator, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const EstimatorConfig config = bytes_cases().front().config;
    EXPECT_THROW(phy::gpu::ChannelEstimator(device, config, 0), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::ChannelEstimator(device, config, 65536), phy::ArgumentError);
    const phy::gpu::ChannelEstimator estimator(device, config, 1);
    const Batch batch = make_batch(config, SampleFormat::cf32, 2);
    DeviceBuffer<std::byte> grid(device, batch.grid.size());
    DeviceBuffer<phy::cf32> pilots(device, batch.pilots.size());
    DeviceBuffer<float> channel(device, 2 * estimator.channel_size());
    DeviceBuffer<phy::SlotEstimate> slots(device, 2);
    EXPECT_THROW(estimator({SampleFormat::cf32, grid.span()}, pilots, channel, slots, stream),
                 phy::ArgumentError);
    EXPECT_THROW(estimator({SampleFormat::cf32, grid.span()}, pilots, channel, slots.first(1), stream),
                 phy::ArgumentError);
}

}  // namespace
