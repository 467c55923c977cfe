#include "phy/resampler/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "phy/core/error.hpp"
#include "phy/cuda/device.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/resampler/filter.hpp"
#include "resampler/resampler_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::ResampledRow;
using phy::ResampleStage;

struct Items {
    ResampleStage::Config config;
    Bytes bytes = {};  ///< one more than the samples, which begin at no multiple of their size
    std::vector<ResampledRow> rows = {};

    [[nodiscard]] std::size_t count() const { return rows.size() / config.rows; }
    [[nodiscard]] std::size_t outputs_per_item() const { return config.rows * config.outputs; }
    [[nodiscard]] phy::SymbolView samples() const {
        return {config.format, std::span<const std::byte>(bytes).subspan(1)};
    }
};

Items random_items(std::mt19937& random, phy::SampleFormat format, std::size_t count) {
    Items items{.config = {.resampler = random_rates(random),
                           .format = format,
                           .rows = 1 + random() % 4,
                           .inputs = 1 + random() % 2000,
                           .outputs = 1 + random() % 2500}};
    items.config.resampler.full_scale = 1000.0F;
    items.bytes = random_samples(format, count * items.config.rows * items.config.inputs, next_seed(random));
    items.bytes.insert(items.bytes.begin(), std::byte{0});
    items.rows = random_rows(random, phy::detail::ResamplerPlan(items.config.resampler).step(),
                             count * items.config.rows);
    return items;
}

std::vector<cf32> resampled_one_by_one(const Items& items) {
    phy::Resampler resample(phy::Host(), items.config.resampler);
    std::vector<cf32> output(items.count() * items.outputs_per_item());
    const std::size_t inputs = items.config.rows * items.config.inputs;
    const std::size_t outputs = items.outputs_per_item();
    for (std::size_t i = 0; i < items.count(); ++i)
        resample(items.samples().subspan(i * inputs, inputs),
                 std::span(items.rows).subspan(i * items.config.rows, items.config.rows),
                 std::span(output).subspan(i * outputs, outputs));
    return output;
}

std::vector<cf32> resampled_by_stage(const Items& items, const std::vector<phy::Place>& places,
                                     const phy::Pipeline::Config& how) {
    ResampleStage stage(items.config);
    phy::Pipeline pipeline(places, stage, how);
    std::vector<cf32> output(items.count() * items.outputs_per_item(), cf32(7.0F));
    phy::MemorySource source(stage.inputs(), {items.samples().bytes(), std::as_bytes(std::span(items.rows))});
    phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(output))});
    EXPECT_EQ(pipeline.run(source, sink).items, items.count());
    return output;
}

std::string text_of(const Items& items) {
    return name_of(items.config.resampler) + ", " + std::string(to_string(items.config.format)) + ", " +
           std::to_string(items.count()) + " items of " + std::to_string(items.config.rows) + " rows, " +
           std::to_string(items.config.inputs) + " to " + std::to_string(items.config.outputs) + " samples";
}

constexpr std::size_t chunks[] = {1, 5, 40};

class ResampleStageTest : public testing::Test {
protected:
    /// Calls work(items, expected) for items of every format.
    void with_items(int times, const std::function<void(const Items&, const std::vector<cf32>&)>& work) {
        for (int i = 0; i < fewer_times(times); ++i) {
            for (const phy::SampleFormat format : phy::all_sample_formats) {
                const Items items = random_items(random_, format, 1 + random_() % 23);
                SCOPED_TRACE(text_of(items) + ", seed " + std::to_string(seed_));
                work(items, resampled_one_by_one(items));
            }
        }
    }

    std::uint32_t seed_ = std::random_device()();
    std::mt19937 random_{seed_};
};

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
