#include "phy/pipeline/chain.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "pipeline/checked_run.hpp"

/// A chain gives what its stages give one after another, on any place, and is one step of a pipeline.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chain;
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;
using phy::PipelineSpan;
using Step = PipelineSpan::Step;

constexpr std::size_t granularity = 84;

/// Blocks of 1, 12 and 28 items; ports that skip a stage, that two take, and that leave from the middle.
std::vector<StageShape> three_shapes() {
    return {{.name = "one",
             .inputs = {{"samples", 8}, {"pilots", 6, 12}},
             .outputs = {{"power", 3}, {"clean", 7}},
             .granularity = 12,
             .has_scratch = true},
            {.name = "two",
             .inputs = {{"clean", 7}, {"noise", 4}},
             .outputs = {{"middle", 5}, {"blocks", 9, 28}},
             .granularity = 28,
             .has_scratch = true,
             .more_scratch = 1000},
            {.name = "three",
             .inputs = {{"middle", 5}, {"clean", 7}, {"noise", 4}},
             .outputs = {{"bits", 2}},
             .more_scratch = 33}};
}

/// Three stages, their chain, and a stream through it.
struct ThreeStages {
    explicit ThreeStages(const std::vector<std::string>& also_out = {})
        : chain({stages[0], stages[1], stages[2]}, also_out) {}

    [[nodiscard]] TestStream stream(std::size_t items) const {
        return {items, three_shapes(), chain.inputs(), chain.outputs()};
    }

    [[nodiscard]] std::vector<const FakeStage*> all() const { return {&stages[0], &stages[1], &stages[2]}; }

    std::vector<FakeStage> stages = {FakeStage(three_shapes()[0]), FakeStage(three_shapes()[1]),
                                     FakeStage(three_shapes()[2])};
    Chain chain;
};

std::string mistake_of_chain(Pipeline& pipeline, const ThreeStages& three, const TestStream& stream,
                             SourceMode source = SourceMode::fill, SinkMode sink = SinkMode::take) {
    CheckedRun checked(stream, source, sink);
    return checked.mistake(checked.run_chain(pipeline, three.all()));
}

class ChainRun : public OnPlaces {};

TEST_P(ChainRun, ChunksAndLanesDoNotMatter) {
    std::vector<std::size_t> chunks(200);
    std::iota(chunks.begin(), chunks.end(), std::size_t{1});
    for (const std::size_t large : {0U, 840U, 1000U, 10'000U, 100'000U})
        chunks.push_back(large);
    ThreeStages three;
    const TestStream stream = three.stream(1037);
    for (const std::size_t chunk : fewer_cases(chunks)) {
        for (const std::size_t lanes : {1U, 2U, 3U, 4U, 5U}) {
            Pipeline pipeline(places(), three.chain, {.chunk = chunk, .lanes = lanes});
            ASSERT_EQ(pipeline.chunk() % granularity, 0U);
            ASSERT_EQ(mistake_of_chain(pipeline, three, stream), "") << chunk << ", lanes " << lanes;
        }
    }
}

TEST_P(ChainRun, OrdersAndWhoOwnsTheMemoryDoNotMatter) {
    for (const std::vector<std::string>& also_out :
         {std::vector<std::string>(), {"clean"}, {"middle", "clean", "blocks"}}) {
        ThreeStages three(also_out);
        const TestStream stream = three.stream(1037);
        for (const IssueOrder order : all_orders) {
            Pipeline pipeline(places(), three.chain, {.chunk = 84, .lanes = 3, .order = order});
            for (const SourceMode source : {SourceMode::view, SourceMode::fill, SourceMode::alternating,
                                            SourceMode::endless, SourceMode::cut_off}) {
                for (const SinkMode sink : {SinkMode::view, SinkMode::take, SinkMode::lane_memory})
                    ASSERT_EQ(mistake_of_chain(pipeline, three, stream, source, sink), "")
                        << to_string(order) << ", source " << static_cast<int>(source);
            }
        }
    }
}

TEST_P(ChainRun, StreamsMayEndAnywhere) {
    ThreeStages three;
    Pipeline pipeline(places(), three.chain, {.chunk = 84, .lanes = 3});
    for (const std::uint64_t items : fewer_indices(300))
        ASSERT_EQ(mistake_of_chain(pipeline, three, three.stream(items)), "") << items;
}

TEST_P(ChainRun, AlsoGivesWhatIsTaken) {
    ThreeStages three({"clean"});
    const TestStream stream = three.stream(1000);
    ASSERT_EQ(stream.outputs()[1].name, "clean");
    Pipeline pipeline(places(), three.chain, {.chunk = 168});
    EXPECT_EQ(mistake_of_chain(pipeline, three, stream), "");
}

TEST_P(ChainRun, OfChainsRuns) {
    ThreeStages three;
    Chain inner({three.stages[0], three.stages[1]}, {"clean"});
    Chain outer({inner, three.stages[2]});
    const TestStream stream(1037, three_shapes(), outer.inputs(), outer.outputs());
    for (const std::size_t chunk : {1U, 84U, 500U, 2000U}) {
        Pipeline pipeline(places(), outer, {.chunk = chunk, .lanes = 3});
        EXPECT_EQ(mistake_of_chain(pipeline, three, stream), "") << chunk;
    }
}

TEST_P(ChainRun, Moves) {
    ThreeStages three;
    const TestStream stream = three.stream(1000);
    Chain moved = std::move(three.chain);
    EXPECT_EQ(moved.name(), "one+two+three");
    Pipeline of_moved(places(), moved, {.chunk = 84});
    EXPECT_EQ(mistake_of_chain(of_moved, three, stream), "");
}

// Of a CPU there are no copies.
TEST_P(ChainRun, IsOneStepOfATrace) {
    for (const IssueOrder order : all_orders) {
        ThreeStages three;
        const TestStream stream = three.stream(1037);
        Pipeline pipeline(places(), three.chain, {.chunk = 84, .lanes = 3, .order = order, .trace = true});
        CheckedRun checked(stream, SourceMode::fill, SinkMode::take);
        const PipelineReport report = checked.run_chain(pipeline, three.all());
        EXPECT_EQ(checked.mistake(report), "");
        EXPECT_EQ(report.stage, "one+two+three");
        const bool copies = GetParam().is_cuda();
        EXPECT_EQ(report.spans.size(), report.chunks * (copies ? 5 : 3));
        for (std::uint64_t chunk = 0; chunk < report.chunks; ++chunk) {
            const auto spans = [&](Step step) {
                return std::ranges::count_if(report.spans, [&](const PipelineSpan& span) {
                    return span.step == step && span.chunk.index == chunk;
                });
            };
            EXPECT_EQ(spans(Step::copy_in), copies ? 1 : 0);
            EXPECT_EQ(spans(Step::work), 1);
            EXPECT_EQ(spans(Step::copy_out), copies ? 1 : 0);
        }
    }
}

TEST_P(ChainRun, FailuresInAnyStageAtAnyChunkReachTheCaller) {
    constexpr std::uint64_t chunks = 7;
    for (const IssueOrder order : all_orders) {
        for (const std::size_t lanes : {1U, 3U}) {
            ThreeStages three;
            const TestStream stream = three.stream((chunks - 1) * granularity + 5);
            Pipeline pipeline(places(), three.chain, {.chunk = granularity, .lanes = lanes, .order = order});
            for (std::size_t stage = 0; stage < 3; ++stage) {
                for (const std::uint64_t index : {std::uint64_t{0}, chunks / 2, chunks - 1}) {
                    three.stages[stage].hooks.hook = [&](Call, const Chunk& chunk) {
                        if (chunk.index == index) throw std::runtime_error(three.stages[stage].shape().name);
                    };
                    CheckedRun checked(stream, SourceMode::fill, SinkMode::view);
                    try {
                        checked.run_chain(pipeline, three.all());
                        ADD_FAILURE() << "nothing was thrown";
                    } catch (const std::runtime_error& error) {
                        EXPECT_EQ(error.what(), three.stages[stage].shape().name);
                    }
                    EXPECT_EQ(checked.mistake(), "");
                    EXPECT_LE(checked.chunks(), index);
                    three.stages[stage].hooks = {};
                    ASSERT_EQ(mistake_of_chain(pipeline, three, stream), "") << "after it";
                }
            }
        }
    }
}

TEST_P(ChainRun, MayBeCancelledInAnyStage) {
    for (const IssueOrder order : all_orders) {
        ThreeStages three;
        const TestStream stream = three.stream(1037);
        Pipeline pipeline(places(), three.chain, {.chunk = granularity, .lanes = 3, .order = order});
        for (FakeStage& stage : three.stages) {
            std::stop_source stop;
            stage.hooks.hook = [&](Call, const Chunk& chunk) {
                if (chunk.index == 4) stop.request_stop();
            };
            CheckedRun checked(stream, SourceMode::fill, SinkMode::view);
            EXPECT_EQ(
                checked.mistake_of_cancelled(checked.run_chain(pipeline, three.all(), stop.get_token())), "");
            stage.hooks = {};
            EXPECT_EQ(mistake_of_chain(pipeline, three, stream), "") << "after it";
        }
    }
}

TEST_P(ChainRun, TellsItsStagesOfRunsInTheirOrder) {
    ThreeStages three;
    std::vector<std::string> calls;
    for (FakeStage& stage : three.stages)
        stage.on_start_end = [&](const std::string& what) {
            calls.push_back(stage.shape().name + " " + what);
        };
    const TestStream stream = three.stream(1037);
    Pipeline pipeline(places(), three.chain, {.chunk = granularity});
    EXPECT_EQ(mistake_of_chain(pipeline, three, stream), "");
    std::vector<std::string> starts = {"one start", "two start", "three start"};
    std::vector<std::string> ends;
    for (const phy::Place& place : places()) {
        for (const std::string name : {"one", "two", "three"}) {
            starts.push_back(name + " start " + place.name());
            ends.push_back(name + " end " + place.name());
        }
    }
    ends.insert(ends.end(), {"one end", "two end", "three end"});
    starts.insert(starts.end(), ends.begin(), ends.end());
    EXPECT_EQ(calls, starts);
}

TEST_P(ChainRun, ErrorsOfStartsAndEndsReachTheCaller) {
    ThreeStages three;
    const TestStream stream = three.stream(1037);
    Pipeline pipeline(places(), three.chain, {.chunk = granularity});
    const std::string place = places().front().name();
    for (FakeStage& stage : three.stages) {
        for (const std::string& where :
             {std::string("start"), "start " + place, "end " + place, std::string("end")}) {
            stage.on_start_end = [&](const std::string& what) {
                if (what == where) throw std::runtime_error(what);
            };
            CheckedRun checked(stream, SourceMode::fill, SinkMode::view);
            EXPECT_THROW(checked.run_chain(pipeline, three.all()), std::runtime_error);
            stage.on_start_end = {};
            EXPECT_EQ(mistake_of_chain(pipeline, three, stream), "") << "after it";
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, ChainRun, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
