#include <gtest/gtest.h>

#include "pipeline/checked_run.hpp"

/// Every item arrives once, in order, whatever the chunks, the buffer sets, the order of issue, and who owns
/// memory.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;

constexpr std::size_t total = 1037;
constexpr std::array all_source_modes = {SourceMode::view,        SourceMode::fill,
                                         SourceMode::alternating, SourceMode::buffer_set_memory,
                                         SourceMode::endless,     SourceMode::cut_off};
constexpr std::array all_sink_modes = {SinkMode::view, SinkMode::take, SinkMode::alternating,
                                       SinkMode::buffer_set_memory};

std::string describe(const Pipeline::Config& config) {
    return "chunk " + std::to_string(config.chunk) + ", buffer sets " + std::to_string(config.buffer_sets) +
           ", " + std::string(to_string(config.order));
}

class Completeness : public OnPlaces {
protected:
    static void expect_complete(const Pipeline::Config& config, const TestStream& stream,
                                std::span<const SourceMode> source_modes,
                                std::span<const SinkMode> sink_modes, const StageShape& shape = {}) {
        FakeStage stage(shape);
        Pipeline pipeline(places(), stage, config);
        for (const SourceMode source_mode : source_modes) {
            for (const SinkMode sink_mode : sink_modes)
                ASSERT_EQ(mistake_of_run(pipeline, stage, stream, source_mode, sink_mode), "")
                    << describe(config) << ", source " << static_cast<int>(source_mode) << ", sink "
                    << static_cast<int>(sink_mode) << ", " << stream.items() << " items";
        }
    }
};

TEST_P(Completeness, ChunksBufferSetsAndOrderDoNotMatter) {
    const TestStream stream(total);
    const std::vector<std::size_t> chunks = {64, 1, 2, 3, 63, 65, 1000, total - 1, total, total + 1, 100'000};
    for (const std::size_t chunk : fewer_cases(chunks)) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 7U}) {
            for (const IssueOrder order : all_orders)
                ASSERT_NO_FATAL_FAILURE(expect_complete(
                    {.chunk = chunk, .buffer_sets = buffer_sets, .order = order}, stream,
                    {{SourceMode::view, SourceMode::fill}}, {{SinkMode::view, SinkMode::take}}));
        }
    }
}

TEST_P(Completeness, WhoOwnsTheMemoryDoesNotMatter) {
    const TestStream stream(total);
    for (const std::size_t chunk : {std::size_t{17}, std::size_t{64}, total, std::size_t{100'000}}) {
        for (const std::size_t buffer_sets : {1U, 3U}) {
            for (const IssueOrder order : all_orders)
                ASSERT_NO_FATAL_FAILURE(
                    expect_complete({.chunk = chunk, .buffer_sets = buffer_sets, .order = order}, stream,
                                    all_source_modes, all_sink_modes));
        }
    }
}

/// Ports whose records differ in size and are for different numbers of items.
StageShape several_ports() {
    return {.name = "spread",
            .inputs = {{"samples", 8}, {"noise", 4}, {"channel", 10, 12}},
            .outputs = {{"power", 6, 24}, {"bits", 3}},
            .granularity = 24,
            .has_scratch = true,
            .more_scratch = 77};
}

TEST_P(Completeness, OfSeveralPortsWhoOwnsTheMemoryDoesNotMatter) {
    const StageShape shape = several_ports();
    const TestStream stream(total, shape);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{48}, total, std::size_t{100'000}}) {
        for (const std::size_t buffer_sets : {1U, 3U}) {
            for (const IssueOrder order : all_orders)
                ASSERT_NO_FATAL_FAILURE(
                    expect_complete({.chunk = chunk, .buffer_sets = buffer_sets, .order = order}, stream,
                                    all_source_modes, all_sink_modes, shape));
        }
    }
}

// The last block and the last records of it are whole, all but empty, and all between.
TEST_P(Completeness, BlocksMayEndAnywhere) {
    const StageShape shape = several_ports();
    for (const std::uint64_t more : fewer_indices(50)) {
        const TestStream stream(96 + more, shape);
        for (const std::size_t chunk : {0U, 24U, 72U})
            ASSERT_NO_FATAL_FAILURE(
                expect_complete({.chunk = chunk, .buffer_sets = 3}, stream,
                                {{SourceMode::view, SourceMode::fill, SourceMode::cut_off}},
                                {{SinkMode::view, SinkMode::take}}, shape));
    }
}

// Just before, at and just after the end of a chunk; an endless source then ends with an empty one.
TEST_P(Completeness, StreamsOfAnyLength) {
    for (const std::size_t items : {0U, 1U, 2U, 63U, 64U, 65U, 127U, 128U, 129U, 192U, 640U, 641U}) {
        const TestStream stream(items);
        for (const IssueOrder order : all_orders) {
            for (const std::size_t chunk : {64U, 0U})
                ASSERT_NO_FATAL_FAILURE(expect_complete({.chunk = chunk, .buffer_sets = 3, .order = order},
                                                        stream, all_source_modes, all_sink_modes));
        }
    }
}

TEST_P(Completeness, TheDefaultsTakeManyItems) {
    const TestStream stream(700'001);
    expect_complete({}, stream, {{SourceMode::view, SourceMode::fill, SourceMode::endless}},
                    {{SinkMode::view, SinkMode::take}});
}

TEST_P(Completeness, TheDefaultsTakeManyBlocks) {
    for (const std::size_t granularity : {12U, 1001U, 45'864U}) {
        const StageShape shape = {.granularity = granularity};
        const TestStream stream(700'001, shape);
        expect_complete({}, stream, {{SourceMode::view, SourceMode::fill}}, {{SinkMode::view}}, shape);
    }
}

TEST_P(Completeness, TheDefaultsCutALongStreamSoThatStepsOverlap) {
    const TestStream stream(700'001);
    FakeStage stage;
    Pipeline pipeline(places(), stage);
    CheckedRun checked(stream, SourceMode::view, SinkMode::view);
    const PipelineReport report = checked.run(pipeline, stage);
    EXPECT_EQ(checked.mistake(report), "");
    EXPECT_GT(report.chunks, 2U);
}

TEST_P(Completeness, NothingIsCalledForAnEmptyStream) {
    const TestStream stream(0);
    int calls = 0;
    const CallHooks hooks{.hook = [&](Call, const phy::Chunk&) { ++calls; }};
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, {.order = order});
        CheckedRun checked(stream, SourceMode::fill, SinkMode::view, hooks);
        const PipelineReport report = checked.run(pipeline, stage);
        EXPECT_EQ(checked.mistake(report), "");
        EXPECT_EQ(report.chunks, 0U);
    }
    EXPECT_EQ(calls, 0);
}

// Be they too small or too large to be fast.
TEST_P(Completeness, ChunksAreAsLargeAsWasSaid) {
    for (const std::size_t chunk : {100U, 100'000U}) {
        const TestStream stream(2 * chunk + 37);
        for (const SourceMode source_mode : {SourceMode::view, SourceMode::fill, SourceMode::endless}) {
            FakeStage stage;
            Pipeline pipeline(places(), stage, {.chunk = chunk});
            std::vector<std::size_t> sizes;
            const CallHooks hooks{.hook = [&](Call call, const phy::Chunk& taken) {
                if (call == Call::take) sizes.push_back(taken.items);
            }};
            CheckedRun checked(stream, source_mode, SinkMode::take, hooks);
            EXPECT_EQ(checked.mistake(checked.run(pipeline, stage)), "");
            std::vector<std::size_t> expected(2, chunk);
            expected.push_back(37);
            EXPECT_EQ(sizes, expected);
        }
    }
}

TEST_P(Completeness, OnePipelineServesStreamsOfAllKinds) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, {.chunk = 50, .buffer_sets = 3});
    for (const std::size_t items : {1000U, 3U, 0U, 51U, 149U, 150U, 2000U}) {
        const TestStream stream(items);
        for (const SourceMode source_mode : all_source_modes) {
            for (const SinkMode sink_mode : all_sink_modes)
                ASSERT_EQ(mistake_of_run(pipeline, stage, stream, source_mode, sink_mode), "")
                    << items << " items";
        }
    }
}

TEST_P(Completeness, PipelinesMove) {
    const TestStream stream(total);
    FakeStage stage;
    FakeStage other_stage;
    Pipeline first(places(), stage, {.chunk = 64});
    EXPECT_EQ(mistake_of_run(first, stage, stream), "");
    Pipeline second(std::move(first));
    EXPECT_EQ(mistake_of_run(second, stage, stream), "");
    Pipeline third(places(), other_stage, {.chunk = 9});
    third = std::move(second);
    EXPECT_EQ(third.chunk(), 64U);
    EXPECT_EQ(mistake_of_run(third, stage, stream), "");
}

INSTANTIATE_TEST_SUITE_P(, Completeness, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
