#include <limits>

#include "phy/core/error.hpp"
#include "resampler/stage_items.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::ResampledRow;
using phy::ResampleStage;

TEST_F(ResampleStageTest, GivesTheBytesOfCallsForEachItem) {
    const std::vector<phy::Backend> backends = host_backends();
    with_items(2, [&](const Items& items, const std::vector<cf32>& expected) {
        for (const std::size_t chunk : chunks) {
            const phy::Backend& backend = backends[random_() % backends.size()];
            const int threads = 1 + static_cast<int>(random_() % 3);
            const phy::Pipeline::Config how = {.chunk = chunk, .buffer_sets = 1 + random_() % 3};
            ASSERT_TRUE(bits_of(resampled_by_stage(items, {host_of(backend, threads)}, how)) ==
                        bits_of(expected))
                << "chunks of " << chunk << ", " << how.buffer_sets << " buffer sets, " << backend.name()
                << ", " << threads << " threads";
        }
    });
}

TEST_F(ResampleStageTest, HasPortsForRowsOfAnItem) {
    const ResampleStage stage({.resampler = {.input_rate = 25e6, .output_rate = 30.72e6, .bandwidth = 18e6},
                               .format = phy::SampleFormat::ci16,
                               .rows = 3,
                               .inputs = 1000,
                               .outputs = 1200});
    EXPECT_EQ(stage.name(), "resample");
    EXPECT_EQ(stage.inputs(),
              (std::vector<phy::Port>{{.name = "samples", .bytes = 12'000}, {.name = "rows", .bytes = 48}}));
    EXPECT_EQ(stage.outputs(), (std::vector<phy::Port>{{.name = "output", .bytes = 28'800}}));
}

TEST_F(ResampleStageTest, RowsThatAreNotAllowedStopARunOnAHost) {
    Items items = random_items(random_, phy::SampleFormat::cf32, 10);
    const ResampledRow right = items.rows.back();
    const std::vector<ResampledRow> wrong = {{.step = right.step + right.step / 400},
                                             {.position = std::uint64_t{1} << 62U, .step = right.step}};
    for (const ResampledRow& row : wrong) {
        items.rows.back() = row;
        EXPECT_THROW(resampled_by_stage(items, {phy::Host()}, {.chunk = 3}), phy::ArgumentError)
            << text_of(items) << ", seed " << seed_;
    }
}

TEST_F(ResampleStageTest, WrongConfigurationsThrow) {
    const ResampleStage::Config right = {
        .resampler = {.input_rate = 25e6, .output_rate = 30.72e6, .bandwidth = 18e6},
        .rows = 2,
        .inputs = 100,
        .outputs = 120};
    EXPECT_NO_THROW(ResampleStage{right});
    const auto fails = [&](const auto& change) {
        ResampleStage::Config config = right;
        change(config);
        EXPECT_THROW(ResampleStage{config}, phy::ArgumentError)
            << name_of(config.resampler) << ", " << config.rows << " rows, " << config.inputs << " to "
            << config.outputs << " samples";
    };
    fails([](auto& config) { config.format = static_cast<phy::SampleFormat>(17); });
    fails([](auto& config) { config.resampler.input_rate = 0.0; });
    fails([](auto& config) { config.resampler.output_rate = 25e6 * 65.0; });
    fails([](auto& config) { config.resampler.bandwidth = 24.9e6; });
    // The last one times the 2 rows is 0 in 64 bits.
    for (const std::size_t size : {std::size_t{0}, std::numeric_limits<std::size_t>::max() / 2 + 1}) {
        fails([&](auto& config) { config.rows = size; });
        fails([&](auto& config) { config.inputs = size; });
        fails([&](auto& config) { config.outputs = size; });
    }
    fails([](auto& config) { config.outputs = std::size_t{1} << 31U; });
}

}  // namespace
