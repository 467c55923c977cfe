#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "pipeline/trial.hpp"

/// Every item arrives once, in order, whatever the chunks, the lanes, the order of issue, and who owns
/// memory.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;

constexpr std::size_t total = 1037;
constexpr std::array all_feeds = {Feed::view,        Feed::fill,    Feed::alternating,
                                  Feed::lane_memory, Feed::endless, Feed::cut_off};
constexpr std::array all_drains = {Drain::view, Drain::take, Drain::alternating, Drain::lane_memory};

std::string describe(const Pipeline::Config& config) {
    return "chunk " + std::to_string(config.chunk) + ", lanes " + std::to_string(config.lanes) + ", " +
           std::string(to_string(config.order));
}

class Completeness : public OnDevices {
protected:
    static void expect_complete(const Pipeline::Config& config, const Stream& stream,
                                std::span<const Feed> feeds, std::span<const Drain> drains) {
        FakeStage stage;
        Pipeline pipeline(on_devices(config), stage);
        for (const Feed feed : feeds) {
            for (const Drain drain : drains)
                ASSERT_EQ(flaw_of_run(pipeline, stage, stream, feed, drain), "")
                    << describe(config) << ", feed " << static_cast<int>(feed) << ", drain "
                    << static_cast<int>(drain) << ", " << stream.items() << " items";
        }
    }
};

TEST_P(Completeness, ChunksLanesAndOrderDoNotMatter) {
    const Stream stream(total);
    const std::vector<std::size_t> chunks = {64, 1, 2, 3, 63, 65, 1000, total - 1, total, total + 1, 100'000};
    for (const std::size_t chunk : thinned(chunks)) {
        for (const std::size_t lanes : {1U, 2U, 3U, 7U}) {
            for (const IssueOrder order : all_orders)
                ASSERT_NO_FATAL_FAILURE(expect_complete({.chunk = chunk, .lanes = lanes, .order = order},
                                                        stream, {{Feed::view, Feed::fill}},
                                                        {{Drain::view, Drain::take}}));
        }
    }
}

TEST_P(Completeness, WhoOwnsTheMemoryDoesNotMatter) {
    const Stream stream(total);
    for (const std::size_t chunk : {std::size_t{17}, std::size_t{64}, total, std::size_t{100'000}}) {
        for (const std::size_t lanes : {1U, 3U}) {
            for (const IssueOrder order : all_orders)
                ASSERT_NO_FATAL_FAILURE(expect_complete({.chunk = chunk, .lanes = lanes, .order = order},
                                                        stream, all_feeds, all_drains));
        }
    }
}

// Just before, at and just after the end of a chunk; an endless source then ends with an empty one.
TEST_P(Completeness, StreamsOfAnyLength) {
    for (const std::size_t items : {0U, 1U, 2U, 63U, 64U, 65U, 127U, 128U, 129U, 192U, 640U, 641U}) {
        const Stream stream(items);
        for (const IssueOrder order : all_orders) {
            for (const std::size_t chunk : {64U, 0U})
                ASSERT_NO_FATAL_FAILURE(expect_complete({.chunk = chunk, .lanes = 3, .order = order}, stream,
                                                        all_feeds, all_drains));
        }
    }
}

TEST_P(Completeness, TheDefaultsTakeManyItems) {
    const Stream stream(700'001);
    expect_complete({}, stream, {{Feed::view, Feed::fill, Feed::endless}}, {{Drain::view, Drain::take}});
}

TEST_P(Completeness, TheDefaultsCutALongStreamSoThatStepsOverlap) {
    const Stream stream(700'001);
    FakeStage stage;
    Pipeline pipeline(on_devices({}), stage);
    Trial trial(stream, Feed::view, Drain::view);
    const PipelineReport report = trial.run(pipeline, stage);
    EXPECT_EQ(trial.flaw(report), "");
    EXPECT_GT(report.chunks, 2U);
}

TEST_P(Completeness, NothingIsCalledForAnEmptyStream) {
    const Stream stream(0);
    int calls = 0;
    const Watch watch{.hook = [&](Call, const phy::Chunk&) { ++calls; }};
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(on_devices({.order = order}), stage);
        Trial trial(stream, Feed::fill, Drain::view, watch);
        const PipelineReport report = trial.run(pipeline, stage);
        EXPECT_EQ(trial.flaw(report), "");
        EXPECT_EQ(report.chunks, 0U);
    }
    EXPECT_EQ(calls, 0);
}

// Be they too small or too large to be fast.
TEST_P(Completeness, ChunksAreAsLargeAsWasSaid) {
    for (const std::size_t chunk : {100U, 100'000U}) {
        const Stream stream(2 * chunk + 37);
        for (const Feed feed : {Feed::view, Feed::fill, Feed::endless}) {
            FakeStage stage;
            Pipeline pipeline(on_devices({.chunk = chunk}), stage);
            std::vector<std::size_t> sizes;
            const Watch watch{.hook = [&](Call call, const phy::Chunk& taken) {
                if (call == Call::take) sizes.push_back(taken.items);
            }};
            Trial trial(stream, feed, Drain::take, watch);
            EXPECT_EQ(trial.flaw(trial.run(pipeline, stage)), "");
            std::vector<std::size_t> expected(2, chunk);
            expected.push_back(37);
            EXPECT_EQ(sizes, expected);
        }
    }
}

TEST_P(Completeness, OnePipelineServesStreamsOfAllKinds) {
    FakeStage stage;
    Pipeline pipeline(on_devices({.chunk = 50, .lanes = 3}), stage);
    for (const std::size_t items : {1000U, 3U, 0U, 51U, 149U, 150U, 2000U}) {
        const Stream stream(items);
        for (const Feed feed : all_feeds) {
            for (const Drain drain : all_drains)
                ASSERT_EQ(flaw_of_run(pipeline, stage, stream, feed, drain), "") << items << " items";
        }
    }
}

TEST_P(Completeness, PipelinesMove) {
    const Stream stream(total);
    FakeStage stage;
    FakeStage other_stage;
    Pipeline first(on_devices({.chunk = 64}), stage);
    EXPECT_EQ(flaw_of_run(first, stage, stream), "");
    Pipeline second(std::move(first));
    EXPECT_EQ(flaw_of_run(second, stage, stream), "");
    Pipeline third(on_devices({.chunk = 9}), other_stage);
    third = std::move(second);
    EXPECT_EQ(third.chunk(), 64U);
    EXPECT_EQ(flaw_of_run(third, stage, stream), "");
}

TEST_P(Completeness, MemoryGoesToMemory) {
    for (const std::size_t items : {0U, 1U, 64U, 1037U}) {
        const Stream stream(items);
        for (const std::size_t chunk : {0U, 1U, 60U, 64U, 5000U}) {
            for (const IssueOrder order : all_orders) {
                FakeStage stage;
                Pipeline pipeline(on_devices({.chunk = chunk, .order = order}), stage);
                Bytes output(items * item_out);
                phy::MemorySource source(stream.input(), item_in);
                phy::MemorySink sink(output, item_out);
                const PipelineReport report = pipeline.run(source, sink);
                EXPECT_EQ(report.items, items);
                EXPECT_EQ(stage.fault(), "");
                ASSERT_EQ(output, stream.expected()) << items << " items, chunk " << chunk;
            }
        }
    }
}

TEST_P(Completeness, MemoryFillsToo) {
    const Stream stream(100);
    phy::MemorySource source(stream.input(), item_in);
    EXPECT_EQ(source.items(), 100U);
    Bytes input(40 * item_in);
    EXPECT_EQ(source.fill({.index = 1, .first = 30, .items = 40}, input), 40U);
    EXPECT_TRUE(std::ranges::equal(input, stream.input(30, 40)));
}

TEST_P(Completeness, MemoryHasWholeItems) {
    Bytes bytes(7 * item_out);
    EXPECT_THROW(phy::MemorySource(std::span(bytes).first(20), item_in), phy::ArgumentError);
    EXPECT_THROW(phy::MemorySource(bytes, 0), phy::ArgumentError);
    EXPECT_THROW(phy::MemorySink(std::span(bytes).first(34), item_out), phy::ArgumentError);
    EXPECT_THROW(phy::MemorySink(bytes, 0), phy::ArgumentError);
}

TEST_P(Completeness, MemoryThatIsTooSmallIsNotExceeded) {
    const Stream stream(200);
    for (const std::size_t room : {0U, 1U, 63U, 64U, 199U}) {
        FakeStage stage;
        Pipeline pipeline(on_devices({.chunk = 64}), stage);
        Bytes output(200 * item_out);
        phy::MemorySource source(stream.input(), item_in);
        phy::MemorySink sink(std::span<std::byte>(output).first(room * item_out), item_out);
        EXPECT_THROW(pipeline.run(source, sink), phy::ArgumentError) << room;
        const auto beyond = output.begin() + static_cast<std::ptrdiff_t>(room * item_out);
        EXPECT_TRUE(std::all_of(beyond, output.end(), [](std::byte byte) { return byte == std::byte{}; }));
        EXPECT_EQ(flaw_of_run(pipeline, stage, stream), "");
    }
}

INSTANTIATE_TEST_SUITE_P(, Completeness, testing::ValuesIn(device_sets()), name_of_set);

}  // namespace
