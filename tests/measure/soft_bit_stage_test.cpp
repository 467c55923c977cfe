// Soft bits that are measured in a pipeline: the bytes of one call of the scalar backend.

#include "phy/measure/soft_bit_stage.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "measure/soft_bit_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/core/version.hpp"
#include "phy/cuda/device.hpp"
#include "phy/measure/soft_bit_meter.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace {

using phy::Backend;
using phy::Host;
using phy::Place;
using phy::SoftBitFormat;
using phy::SoftBitMeasureStage;
using phy::SoftBitSums;
using phy_test::SoftBitCase;

constexpr unsigned seed = 38213;
constexpr std::size_t block = phy::row_tree.block;
constexpr int clip = 31;

/// Every backend of the CPU, threads, a GPU where there is one, and all where there are several.
std::vector<std::vector<Place>> all_places() {
    std::vector<std::vector<Place>> places = {{phy::detail::host_of_exactly(3, Backend::scalar())}};
    for (const Backend& backend : Backend::all()) {
        if (backend.kind() != Backend::Kind::cuda && backend.supported())
            places.push_back({Host({.backend = backend})});
    }
    if constexpr (phy::built_with_cuda) {
        std::vector<Place> devices;
        for (const phy::gpu::Device& device : phy::gpu::Device::all())
            devices.emplace_back(device);
        if (!devices.empty()) places.push_back({devices.front()});
        if (devices.size() > 1) places.push_back(devices);
    }
    return places;
}

/// Row by row.
std::vector<SoftBitSums> through_pipeline(const std::vector<Place>& places, const SoftBitCase& in,
                                          const SoftBitMeasureStage::Config& config, std::size_t chunk) {
    SoftBitMeasureStage stage(config);
    phy::Pipeline pipeline(places, stage, {.chunk = chunk, .buffer_sets = 3});
    std::vector<std::span<const std::byte>> arrays = {in.soft_bits};
    if (config.truth) arrays.push_back(std::as_bytes(std::span(in.truth)));
    std::vector<SoftBitSums> rows((in.size() + config.row - 1) / config.row);
    phy::MemorySource source(stage.inputs(), arrays);
    phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(rows))});
    pipeline.run(source, sink);
    return rows;
}

SoftBitSums joined(const std::vector<SoftBitSums>& rows) {
    phy::NodeJoiner<SoftBitSums, phy::JoinSoftBitSums> joiner;
    for (const SoftBitSums& sums : rows)
        joiner.add(sums);
    return joiner.root({});
}

TEST(SoftBitMeasureStage, GivesTheSameHoweverTheWorkIsCut) {
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        const SoftBitCase in = phy_test::random_soft_bits(format, 60 * block + 77, seed);
        phy::SoftBitMeter meter(Host({.backend = Backend::scalar()}), {.llr = {.clip = clip}});
        for (const bool truth : {false, true}) {
            const SoftBitSums whole = truth ? meter(in.view(), in.truth) : meter(in.view());
            for (const std::size_t row : {block, 4 * block, 64 * block, std::size_t{1000}}) {
                const auto expected = phy_test::expected_rows(in, row, clip, truth);
                const SoftBitMeasureStage::Config config = {
                    .meter = {.llr = {.clip = clip}}, .input = format, .row = row, .truth = truth};
                for (const std::vector<Place>& places : all_places()) {
                    for (const std::size_t chunk : {std::size_t{1}, 20 * block, std::size_t{0}}) {
                        SCOPED_TRACE(std::string(to_string(format)) + ", rows of " + std::to_string(row) +
                                     ", chunks of " + std::to_string(chunk) + " on " + places.front().name() +
                                     ", seed " + std::to_string(seed));
                        const auto rows = through_pipeline(places, in, config, chunk);
                        EXPECT_TRUE(rows == expected);
                        if (row % block == 0) {
                            EXPECT_EQ(joined(rows), whole);
                        }
                    }
                }
            }
        }
    }
}

TEST(SoftBitMeasureStage, SaysWhatItTakesAndGives) {
    const SoftBitMeasureStage alone({.input = SoftBitFormat::float16, .row = 100});
    ASSERT_EQ(alone.inputs().size(), 1U);
    EXPECT_EQ(alone.inputs()[0].name, "llr");
    EXPECT_EQ(alone.inputs()[0].bytes, 2U);
    EXPECT_EQ(alone.granularity(), 100U);
    const SoftBitMeasureStage compared({.row = 100, .truth = true});
    ASSERT_EQ(compared.inputs().size(), 2U);
    EXPECT_EQ(compared.inputs()[1].name, "truth");
    EXPECT_EQ(compared.inputs()[1].bytes, 1U);
    ASSERT_EQ(compared.outputs().size(), 1U);
    EXPECT_EQ(compared.outputs()[0].name, "soft_bit_sums");
    EXPECT_EQ(compared.outputs()[0].bytes, sizeof(SoftBitSums));
    EXPECT_EQ(compared.outputs()[0].items, 100U);
}

TEST(SoftBitMeasureStage, MoreSoftBitsNeverNeedLessScratch) {
    for (const std::size_t row : {std::size_t{100}, block, 3 * block, 1000 * block + 1, SIZE_MAX}) {
        const SoftBitMeasureStage stage({.row = row});
        std::size_t before = 0;
        // Over the sizes where units of a call grow: 2^26 soft bits and twice, four times ... as many.
        for (std::size_t items = 0; items < (std::size_t{1} << 31); items += items / 16 + 4000) {
            for (const std::size_t near : {items, items + 1}) {
                const std::size_t bytes = stage.scratch_bytes(near);
                EXPECT_GE(bytes, before) << near << " in rows of " << row;
                before = bytes;
            }
        }
    }
}

TEST(SoftBitMeasureStage, RefusesAConfigurationOutOfItsRange) {
    EXPECT_THROW(SoftBitMeasureStage({.row = 0}), phy::ArgumentError);
    EXPECT_THROW(SoftBitMeasureStage({.meter = {.llr = {.clip = 0}}}), phy::ArgumentError);
    EXPECT_THROW(SoftBitMeasureStage({.input = static_cast<SoftBitFormat>(3)}), phy::ArgumentError);
}

}  // namespace
