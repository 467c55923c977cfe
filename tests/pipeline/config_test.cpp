#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include "phy/core/error.hpp"
#include "phy/machine/host.hpp"
#include "pipeline/checked_run.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Backend;
using phy::IssueOrder;
using phy::Pipeline;

static_assert(!std::is_copy_constructible_v<Pipeline>);
static_assert(std::is_nothrow_move_constructible_v<Pipeline>);
static_assert(std::is_nothrow_move_assignable_v<Pipeline>);

/// One for each backend of the CPU that runs here.
std::vector<phy::Host> all_hosts() {
    std::vector<phy::Host> hosts;
    for (const Backend& backend : Backend::all()) {
        if (backend.kind() != Backend::Kind::cuda && backend.supported())
            hosts.push_back(phy::Host({.backend = backend}));
    }
    return hosts;
}

TEST(PipelineConfig, SaysWhatItBecame) {
    FakeStage stage;
    const Pipeline pipeline({scalar_host()}, stage, {.chunk = 77, .buffer_sets = 5});
    EXPECT_EQ(pipeline.chunk(), 77U);
    EXPECT_EQ(pipeline.buffer_sets(), 5U);
    ASSERT_EQ(pipeline.places().size(), 1U);
    EXPECT_EQ(pipeline.places().front().backend(), Backend::scalar());
}

TEST(PipelineConfig, EveryHostWorks) {
    const TestStream stream(100);
    for (const phy::Host& host : all_hosts()) {
        const std::string name = host.backend().name();
        FakeStage stage;
        Pipeline pipeline({host}, stage, {.chunk = 30});
        EXPECT_EQ(stage.places, std::vector{name});
        EXPECT_TRUE(stage.where.empty());
        CheckedRun checked(stream, SourceMode::view, SinkMode::view);
        const phy::PipelineReport report = checked.run(pipeline, stage);
        EXPECT_EQ(checked.mistake(report), "");
        EXPECT_EQ(stage.where, std::vector(4, name));
        EXPECT_EQ(stage.places.size(), 1U);
        EXPECT_EQ(report.buffer_sets, std::vector<std::string>(pipeline.buffer_sets(), name));
    }
}

TEST(PipelineConfig, DefaultsAreSensible) {
    FakeStage stage;
    const Pipeline pipeline({scalar_host()}, stage);
    EXPECT_GT(pipeline.chunk(), 1000U);
    EXPECT_GE(pipeline.buffer_sets(), 3U) << "the source, the stage and the sink are to have one each";
}

TEST(PipelineConfig, ChunksAreWholeBlocks) {
    for (const std::size_t granularity : {1U, 2U, 12U, 28U, 84U, 1000U, 45'864U, 10'000'000U}) {
        FakeStage stage({.granularity = granularity});
        for (const std::size_t chunk : {0U, 1U, 11U, 12U, 13U, 1000U, 100'000U}) {
            for (const std::uint64_t items : {phy::Source::endless, std::uint64_t{0}, std::uint64_t{500}}) {
                const Pipeline pipeline({scalar_host()}, stage, {.chunk = chunk, .items = items});
                EXPECT_GT(pipeline.chunk(), 0U);
                EXPECT_EQ(pipeline.chunk() % granularity, 0U);
                if (chunk == 0 || items == 500) continue;
                const std::size_t most = items == 0 ? granularity : chunk + granularity - 1;
                EXPECT_LE(pipeline.chunk(), most);
            }
        }
    }
}

TEST(PipelineConfig, ChunksAreNoLargerThanWhatCanCome) {
    for (const std::size_t items : {0U, 1U, 50U, 1000U, 1001U}) {
        const TestStream stream(items);
        for (const std::size_t chunk : {0U, 1000U, 100'000U}) {
            for (const SourceMode source_mode : {SourceMode::fill, SourceMode::view, SourceMode::endless}) {
                FakeStage stage;
                Pipeline pipeline({scalar_host()}, stage, {.chunk = chunk, .items = items});
                EXPECT_LE(pipeline.chunk(), std::max<std::size_t>(items, 1));
                EXPECT_EQ(mistake_of_run(pipeline, stage, stream, source_mode), "") << items << ", " << chunk;
            }
        }
    }
}

TEST(PipelineConfig, FewerItemsMayComeThanWereSaid) {
    FakeStage stage;
    Pipeline pipeline({scalar_host()}, stage, {.chunk = 64, .items = 1000});
    EXPECT_EQ(pipeline.chunk(), 64U);
    for (const std::size_t items : {0U, 63U, 64U, 999U})
        EXPECT_EQ(mistake_of_run(pipeline, stage, TestStream(items)), "") << items;
}

// Nothing is allocated before a run: so what is just allowed can be tested.
TEST(PipelineConfig, ChunksInFlightTakeHalfTheMemoryAtMost) {
    const std::size_t memory = phy::machine_memory();
    const std::size_t items = memory / 2 / (item_in + item_out);
    FakeStage stage;
    const auto make = [&](std::size_t chunk, std::size_t buffer_sets) {
        return Pipeline({scalar_host()}, stage, {.chunk = chunk, .buffer_sets = buffer_sets});
    };
    for (const std::size_t buffer_sets : {1U, 4U, 1000U}) {
        EXPECT_THROW(make(items / buffer_sets + items / 1000, buffer_sets), phy::ArgumentError)
            << buffer_sets;
        EXPECT_THROW(make(SIZE_MAX, buffer_sets), phy::ArgumentError) << buffer_sets;
        EXPECT_THROW(make(SIZE_MAX / item_out + 1, buffer_sets), phy::ArgumentError) << buffer_sets;
    }
    EXPECT_TRUE(stage.places.empty());
    for (const std::size_t buffer_sets : {1U, 4U, 1000U})
        EXPECT_EQ(make(items / buffer_sets - items / 100'000, buffer_sets).buffer_sets(), buffer_sets);
}

/// What is at fault for a pipeline that takes too much, as its error says.
phy::PipelineSizeError::Culprit culprit_of(const StageShape& shape, const Pipeline::Config& config,
                                           const std::string& remedy) {
    FakeStage stage(shape);
    try {
        const Pipeline pipeline({scalar_host()}, stage, config);
    } catch (const phy::PipelineSizeError& error) {
        EXPECT_TRUE(std::string(error.what()).ends_with(": expected " + remedy)) << error.what();
        EXPECT_TRUE(stage.places.empty());
        return error.culprit();
    }
    throw std::logic_error("the pipeline was not refused");
}

TEST(PipelineConfig, ErrorsOfSizesSayWhatIsAtFault) {
    using Culprit = phy::PipelineSizeError::Culprit;
    const std::size_t items = phy::machine_memory() / 2 / (item_in + item_out);
    const std::string smaller_chunks = "smaller chunks";
    const std::string fewer_buffer_sets = "fewer buffer sets";
    const std::string either = "smaller chunks, fewer buffer sets or both";
    EXPECT_EQ(culprit_of({}, {.chunk = 2 * items}, smaller_chunks), Culprit::chunk);
    EXPECT_EQ(culprit_of({}, {.chunk = 2 * items, .buffer_sets = 1}, smaller_chunks), Culprit::chunk);
    EXPECT_EQ(culprit_of({}, {.chunk = 2 * items, .buffer_sets = 1000}, smaller_chunks), Culprit::chunk);
    EXPECT_EQ(culprit_of({}, {.chunk = items / 2}, smaller_chunks), Culprit::chunk);
    EXPECT_EQ(culprit_of({}, {.chunk = items / 2, .buffer_sets = 3}, either), Culprit::chunk_and_buffer_sets);
    EXPECT_EQ(culprit_of({}, {.chunk = 1, .buffer_sets = 1025}, "at most 1024"), Culprit::buffer_sets);

    const StageShape of_blocks = {.granularity = items / 4};
    EXPECT_EQ(culprit_of(of_blocks, {.chunk = 1, .buffer_sets = 5}, fewer_buffer_sets), Culprit::buffer_sets);
    EXPECT_EQ(culprit_of(of_blocks, {.buffer_sets = 5}, fewer_buffer_sets), Culprit::buffer_sets);
    EXPECT_EQ(culprit_of(of_blocks, {.chunk = 2 * items, .buffer_sets = 5}, either),
              Culprit::chunk_and_buffer_sets);
    EXPECT_EQ(culprit_of(of_blocks, {.chunk = items / 2, .buffer_sets = 3}, either),
              Culprit::chunk_and_buffer_sets);

    const std::string of_stage = "smaller blocks or less scratch memory of stage 'scramble'";
    EXPECT_EQ(culprit_of({.granularity = 2 * items}, {}, of_stage), Culprit::stage);
    EXPECT_EQ(culprit_of({.granularity = 2 * items}, {.chunk = 1, .buffer_sets = 1}, of_stage),
              Culprit::stage);
    EXPECT_EQ(culprit_of({.more_scratch = std::size_t{1} << 60U}, {.chunk = 1}, of_stage), Culprit::stage);
}

TEST(PipelineConfig, TooManyBufferSetsAreRefused) {
    FakeStage stage;
    for (const std::size_t buffer_sets : {std::size_t{1'000'000}, SIZE_MAX / 2 + 1, SIZE_MAX})
        EXPECT_THROW(Pipeline({scalar_host()}, stage, {.chunk = 1, .buffer_sets = buffer_sets}),
                     phy::ArgumentError)
            << buffer_sets;
}

// The blocks of the smallest chunk alone would take more.
TEST(PipelineConfig, RoundedChunksCountInTheMemory) {
    FakeStage stage({.granularity = std::size_t{1} << 60U});
    EXPECT_THROW(Pipeline({scalar_host()}, stage, {.chunk = 1}), phy::ArgumentError);
    EXPECT_THROW(Pipeline({scalar_host()}, stage), phy::ArgumentError);
    EXPECT_THROW(Pipeline({scalar_host()}, stage, {.chunk = SIZE_MAX}), phy::ArgumentError);
}

TEST(PipelineConfig, ScratchMemoryCountsInTheMemory) {
    FakeStage stage({.more_scratch = std::size_t{1} << 60U});
    EXPECT_THROW(Pipeline({scalar_host()}, stage, {.chunk = 1}), phy::ArgumentError);
    EXPECT_TRUE(stage.places.empty());
}

TEST(PipelineConfig, ThereIsAPlace) {
    FakeStage stage;
    EXPECT_THROW(Pipeline({}, stage), phy::ArgumentError);
}

TEST(PipelineConfig, HostsWorkAlone) {
    FakeStage stage;
    for (const phy::Host& first : all_hosts()) {
        for (const phy::Host& second : all_hosts())
            EXPECT_THROW(Pipeline({first, second}, stage), phy::ArgumentError);
    }
    EXPECT_TRUE(stage.places.empty());
}

TEST(PipelineConfig, StagesThatMakeNoSenseAreRefused) {
    const std::vector<std::pair<StageShape, std::string>> shapes = {
        {{.inputs = {{"a", 1}, {"a", 1}}}, "port 'a' exists twice"},
        {{.outputs = {{"a", 1}, {"b", 1}, {"a", 2}}}, "port 'a' exists twice"},
        {{.inputs = {{"", 1}}}, "no name"},
        {{.inputs = {{"a", 0}}}, "records of 0 bytes"},
        {{.outputs = {{"a", 4, 0}}}, "for 0 items"},
        {{.inputs = {{"a", 4, 12}}}, "a divisor of the granularity, 1"},
        {{.outputs = {{"a", 4, 12}}, .granularity = 18}, "a divisor of the granularity, 18"},
        {{.granularity = 0}, "granularity is 0"},
    };
    for (const auto& [shape, text] : shapes) {
        FakeStage stage(shape);
        try {
            const Pipeline pipeline({scalar_host()}, stage);
            ADD_FAILURE() << text;
        } catch (const phy::ArgumentError& error) {
            EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
            EXPECT_NE(std::string(error.what()).find("stage 'scramble'"), std::string::npos) << error.what();
        }
    }
}

TEST(PipelineConfig, OrdersOutOfRangeAreRefused) {
    FakeStage stage;
    for (const int order : {3, 4, 255}) {
        EXPECT_THROW(Pipeline({scalar_host()}, stage, {.order = static_cast<IssueOrder>(order)}),
                     phy::ArgumentError)
            << order;
    }
    EXPECT_TRUE(stage.places.empty());
}

TEST(IssueOrderNames, AreThoseOfTheCommandLine) {
    EXPECT_EQ(to_string(IssueOrder::sequential), "sequential");
    EXPECT_EQ(to_string(IssueOrder::parallel), "parallel");
    EXPECT_EQ(to_string(IssueOrder::serial), "serial");
    for (const IssueOrder order : all_orders)
        EXPECT_EQ(phy::parse_issue_order(to_string(order)), order);
    EXPECT_EQ(phy::parse_issue_order("Parallel"), IssueOrder::parallel);
}

TEST(IssueOrderNames, ThatAreUnknownAreRefused) {
    for (const std::string name : {"", "breadth", "serial ", "sequentia", "parallel1"}) {
        try {
            static_cast<void>(phy::parse_issue_order(name));
            ADD_FAILURE() << name;
        } catch (const phy::ArgumentError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("'" + name + "'"), std::string::npos) << text;
            for (const char* listed : {"sequential", "parallel", "serial"})
                EXPECT_NE(text.find(listed), std::string::npos) << text;
        }
    }
}

/// A stage that cannot run anywhere, and says so by returning nothing.
class NowhereStage : public FakeStage {
public:
    std::unique_ptr<phy::StageRunner> on(const phy::Place& /*place*/) override { return nullptr; }
};

TEST(PipelineConfig, AStageWithoutARunnerIsAnError) {
    NowhereStage stage;
    try {
        const Pipeline pipeline({scalar_host()}, stage);
        ADD_FAILURE() << "no error";
    } catch (const phy::Error& error) {
        EXPECT_EQ(std::string(error.what()), "stage 'scramble': on(scalar) returned no runner");
    }
}

/// Of a stream in blocks.
class Late : public FakeSource {
public:
    Late(const TestStream& stream, std::uint64_t first)
        : FakeSource(stream, SourceMode::fill), first_(first) {}
    [[nodiscard]] std::uint64_t first() const override { return first_; }

private:
    std::uint64_t first_;
};

TEST(PipelineConfig, PartsBeginWithABlock) {
    const StageShape shape = {.granularity = 24};
    const TestStream stream(240, shape);
    FakeStage stage(shape);
    Pipeline pipeline({scalar_host()}, stage);
    FakeSink sink(stream, SinkMode::take);
    for (const std::uint64_t first : {1U, 23U, 25U, 50U}) {
        Late source(stream, first);
        EXPECT_THROW(pipeline.run(source, sink), phy::ArgumentError) << first;
    }
}

}  // namespace
