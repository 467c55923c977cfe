#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/resampler/filter.hpp"
#include "phy/resampler/stage.hpp"
#include "resampler/resampler_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

/// Random items for a ResampleStage, and what it makes of them.
namespace phy_test {

struct Items {
    phy::ResampleStage::Config config;
    Bytes bytes = {};  ///< one more than the samples, which begin at no multiple of their size
    std::vector<phy::ResampledRow> rows = {};

    [[nodiscard]] std::size_t count() const { return rows.size() / config.rows; }
    [[nodiscard]] std::size_t outputs_per_item() const { return config.rows * config.outputs; }
    [[nodiscard]] phy::SymbolView samples() const {
        return {config.format, std::span<const std::byte>(bytes).subspan(1)};
    }
};

inline Items random_items(std::mt19937& random, phy::SampleFormat format, std::size_t count) {
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

inline std::vector<phy::cf32> resampled_one_by_one(const Items& items) {
    phy::Resampler resample(phy::Host(), items.config.resampler);
    std::vector<phy::cf32> output(items.count() * items.outputs_per_item());
    const std::size_t inputs = items.config.rows * items.config.inputs;
    const std::size_t outputs = items.outputs_per_item();
    for (std::size_t i = 0; i < items.count(); ++i)
        resample(items.samples().subspan(i * inputs, inputs),
                 std::span(items.rows).subspan(i * items.config.rows, items.config.rows),
                 std::span(output).subspan(i * outputs, outputs));
    return output;
}

inline std::vector<phy::cf32> resampled_by_stage(const Items& items, const std::vector<phy::Place>& places,
                                                 const phy::Pipeline::Config& how) {
    phy::ResampleStage stage(items.config);
    phy::Pipeline pipeline(places, stage, how);
    std::vector<phy::cf32> output(items.count() * items.outputs_per_item(), phy::cf32(7.0F));
    phy::MemorySource source(stage.inputs(), {items.samples().bytes(), std::as_bytes(std::span(items.rows))});
    phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(output))});
    EXPECT_EQ(pipeline.run(source, sink).items, items.count());
    return output;
}

inline std::string text_of(const Items& items) {
    return name_of(items.config.resampler) + ", " + std::string(to_string(items.config.format)) + ", " +
           std::to_string(items.count()) + " items of " + std::to_string(items.config.rows) + " rows, " +
           std::to_string(items.config.inputs) + " to " + std::to_string(items.config.outputs) + " samples";
}

inline constexpr std::size_t chunks[] = {1, 5, 40};

class ResampleStageTest : public testing::Test {
protected:
    /// Calls work(items, expected) for items of every format.
    void with_items(int times, const std::function<void(const Items&, const std::vector<phy::cf32>&)>& work) {
        for (int i = 0; i < fewer_times(times); ++i) {
            for (const phy::SampleFormat format : phy::all_sample_formats) {
                const Items items = random_items(random_, format, 1 + random_() % 23);
                SCOPED_TRACE(text_of(items) + ", seed " + std::to_string(seed_));
                work(items, resampled_one_by_one(items));
            }
        }
    }

    std::uint32_t seed_ = random_seed();
    std::mt19937 random_{seed_};
};

}  // namespace phy_test
