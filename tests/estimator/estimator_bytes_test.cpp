#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "estimator/estimator_bytes.hpp"
#include "phy/estimator/math/plan.hpp"
#include "phy/machine/host.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SampleFormat;

std::vector<phy::Backend> backends() {
    std::vector<phy::Backend> result;
    for (const phy::Backend& backend : phy::Backend::all())
        if (backend.kind() != phy::Backend::Kind::cuda && backend.supported()) result.push_back(backend);
    return result;
}

TEST(ChannelEstimatorBytes, EveryBackendThreadsAndBatches) {
    for (const BytesCase& one : bytes_cases()) {
        for (const SampleFormat format : formats_of(one)) {
            const Batch batch = make_batch(one.config, format, 3);
            const Written expected =
                write_all(phy::detail::host_of_exactly(1, backends().front()), one.config, format, batch, 3);
            const bool measures_change =
                one.config.time == phy::TimeInterpolation::wiener && !one.config.doppler_spread;
            EXPECT_EQ(expected.slots[2].time_set >= 20, measures_change) << one.name;
            for (const phy::Backend& backend : backends()) {
                for (const int threads : {1, 3}) {
                    for (const std::size_t slots_a_call : {1U, 3U}) {
                        const Written written = write_all(phy::detail::host_of_exactly(threads, backend),
                                                          one.config, format, batch, slots_a_call);
                        EXPECT_TRUE(written.is_same_as(expected))
                            << one.name << ", " << to_string(format) << ", " << backend.name() << ", "
                            << threads << " threads, " << slots_a_call << " slots a call";
                    }
                }
            }
        }
    }
}

TEST(ChannelEstimatorBytes, RandomAllocations) {
    const std::uint32_t seed = random_seed();
    for (const BytesCase& one : random_bytes_cases(seed, fewer_times(24))) {
        SCOPED_TRACE("PHY_TEST_SEED=" + std::to_string(seed));
        const Batch batch = make_batch(one.config, SampleFormat::cf32, 4);
        const Written expected = write_all(phy::detail::host_of_exactly(1, backends().front()), one.config,
                                           SampleFormat::cf32, batch, 4);
        for (const phy::Backend& backend : backends()) {
            const Written written =
                write_all(phy::detail::host_of_exactly(2, backend), one.config, SampleFormat::cf32, batch, 1);
            EXPECT_TRUE(written.is_same_as(expected)) << one.name << ", " << backend.name();
        }
    }
}

/// Estimators share the tables of their configuration; others push these out.
TEST(ChannelEstimatorBytes, EstimatorsDoNotDependOnThoseBefore) {
    const std::vector<BytesCase> cases = bytes_cases();
    const EstimatorConfig config = cases.front().config;
    const Batch batch = make_batch(config, SampleFormat::cf32, 3);
    const Written expected = write_all(phy::Host(), config, SampleFormat::cf32, batch, 3);
    phy::ChannelEstimator estimate(phy::detail::host_of_exactly(3, {}), config);
    for (const BytesCase& other : cases) {
        const phy::ChannelEstimator made(phy::Host(), other.config);
        EXPECT_EQ(made.config(), other.config);
        EXPECT_EQ(phy::detail::estimator_plan(other.config), phy::detail::estimator_plan(other.config));
    }
    Written written(3, estimate.channel_size(), covariance_size(config));
    estimate({SampleFormat::cf32, batch.grid}, batch.pilots, written.channel, written.slots,
             written.covariance);
    EXPECT_TRUE(written.is_same_as(expected));
    EXPECT_TRUE(write_all(phy::Host(), config, SampleFormat::cf32, batch, 3).is_same_as(expected));
}

TEST(ChannelEstimatorBytes, SamplesThatAreNotFiniteSpoilTheirSlotAlone) {
    const EstimatorConfig config = bytes_cases().front().config;
    Batch batch = make_batch(config, SampleFormat::cf32, 3);
    const Written before = write_all(phy::Host(), config, SampleFormat::cf32, batch, 3);
    const std::size_t grid = batch.grid.size() / 3;
    for (std::size_t at = 0; at + 4 <= grid; at += 4) {
        const float value =
            at % 8 == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
        std::memcpy(&batch.grid[grid + at], &value, sizeof value);
    }
    const Written after = write_all(phy::Host(), config, SampleFormat::cf32, batch, 3);
    const std::size_t size = after.channel.size() / 3;
    for (std::size_t i = 0; i < after.channel.size(); ++i) {
        if (i / size == 1)
            ASSERT_TRUE(after.channel[i] == 0.0F || after.channel[i] == -3.0F) << i;
        else
            ASSERT_EQ(after.channel[i], before.channel[i]) << i;
    }
    EXPECT_EQ(after.slots[0], before.slots[0]);
    EXPECT_EQ(after.slots[2], before.slots[2]);
    EXPECT_EQ(after.slots[1].channel_power, 0.0F);
    EXPECT_EQ(after.slots[1].coherence, 0.0F);
    EXPECT_EQ(after.slots[1].noise_variance, std::numeric_limits<float>::infinity());
    EXPECT_TRUE(std::isfinite(after.slots[1].channel_error + after.slots[1].timing_offset +
                              after.slots[1].frequency_offset));
    EXPECT_GT(before.slots[1].coherence, 0.3F);
}

}  // namespace
