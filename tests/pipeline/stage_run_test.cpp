#include <gtest/gtest.h>

#include <stdexcept>

#include "pipeline/call_recorder.hpp"
#include "pipeline/checked_run.hpp"

/// What a stage is told of runs, and what it is given beside its arrays.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;

constexpr std::size_t chunk_items = 16;
constexpr std::uint64_t chunks = 9;
constexpr std::size_t total = (chunks - 1) * chunk_items + 5;

class StageRun : public OnPlaces {
protected:
    const TestStream stream_ = TestStream(total);

    static Pipeline::Config config(IssueOrder order) {
        return {.chunk = chunk_items, .buffer_sets = 3, .order = order};
    }

    static std::vector<std::string> starts() {
        std::vector<std::string> calls = {"start"};
        for (const phy::Place& place : places())
            calls.push_back("start " + place.name());
        return calls;
    }

    static std::vector<std::string> ends() {
        std::vector<std::string> calls;
        for (const phy::Place& place : places())
            calls.push_back("end " + place.name());
        calls.emplace_back("end");
        return calls;
    }

    static std::vector<std::string> starts_and_ends() {
        std::vector<std::string> calls = starts();
        std::ranges::copy(ends(), std::back_inserter(calls));
        return calls;
    }
};

TEST_P(StageRun, AStageIsMadeReadyOnceForEveryPlace) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential));
    std::vector<std::string> names;
    for (const phy::Place& place : places())
        names.push_back(place.name());
    EXPECT_EQ(stage.places, names);
    for (int run = 0; run < 3; ++run)
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
    EXPECT_EQ(stage.places, names);
}

TEST_P(StageRun, StartsBeforeTheFirstCallAndEndsAfterTheLast) {
    for (const IssueOrder order : all_orders) {
        for (const SourceMode mode : {SourceMode::fill, SourceMode::view, SourceMode::endless}) {
            FakeStage stage;
            Pipeline pipeline(places(), stage, config(order));
            for (int run = 0; run < 3; ++run) {
                stage.starts_and_ends.clear();
                CallRecorder recorder(pipeline);
                stage.on_start_end = [&](const std::string& what) {
                    const bool is_end = what.starts_with("end");
                    EXPECT_EQ(recorder.end_of(Call::source_view), is_end ? chunks : 0) << what;
                    EXPECT_EQ(recorder.end_of(Call::take), is_end ? chunks : 0) << what;
                };
                CheckedRun checked(stream_, mode, SinkMode::view, {.observer = &recorder});
                EXPECT_EQ(checked.mistake(checked.run(pipeline, stage)), "");
                EXPECT_EQ(stage.starts_and_ends, starts_and_ends()) << to_string(order);
            }
        }
    }
}

TEST_P(StageRun, OfNothingStartsAndEnds) {
    const TestStream empty(0);
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential));
    for (const SourceMode mode : {SourceMode::fill, SourceMode::endless}) {
        stage.starts_and_ends.clear();
        EXPECT_EQ(mistake_of_run(pipeline, stage, empty, mode), "");
        EXPECT_EQ(stage.starts_and_ends, starts_and_ends());
    }
}

TEST_P(StageRun, ThatIsCancelledDoesNotEnd) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order));
        for (const Call where : all_calls) {
            stage.starts_and_ends.clear();
            std::stop_source stop;
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::view,
                               {.hook = [&](Call call, const Chunk& chunk) {
                                   if (call == where && chunk.index == 4) stop.request_stop();
                               }});
            EXPECT_EQ(checked.mistake_of_cancelled(checked.run(pipeline, stage, stop.get_token())), "");
            EXPECT_EQ(stage.starts_and_ends, starts()) << name_of(where);
        }
        stage.starts_and_ends.clear();
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
        EXPECT_EQ(stage.starts_and_ends, starts_and_ends());
    }
}

TEST_P(StageRun, ThatIsCancelledBeforeItsStartDoesNotStart) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential));
    std::stop_source stop;
    stop.request_stop();
    CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
    EXPECT_EQ(checked.mistake_of_cancelled(checked.run(pipeline, stage, stop.get_token())), "");
    EXPECT_EQ(stage.starts_and_ends, std::vector<std::string>());
}

TEST_P(StageRun, MayBeCancelledFromItsStart) {
    for (const std::string& where : starts()) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(IssueOrder::sequential));
        std::stop_source stop;
        stage.on_start_end = [&](const std::string& what) {
            if (what == where) stop.request_stop();
        };
        CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
        const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
        EXPECT_EQ(checked.mistake_of_cancelled(report), "");
        EXPECT_EQ(report.chunks, 0U);
    }
}

// All has come: there is nothing left to cancel.
TEST_P(StageRun, IsNotCancelledFromItsEnd) {
    for (const std::string& where : ends()) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(IssueOrder::sequential));
        std::stop_source stop;
        stage.on_start_end = [&](const std::string& what) {
            if (what == where) stop.request_stop();
        };
        CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
        EXPECT_EQ(checked.mistake(checked.run(pipeline, stage, stop.get_token())), "");
        EXPECT_EQ(stage.starts_and_ends, starts_and_ends());
    }
}

TEST_P(StageRun, ThatFailsDoesNotEnd) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order));
        for (const Call where : all_calls) {
            stage.starts_and_ends.clear();
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::view,
                               {.hook = [&](Call call, const Chunk& chunk) {
                                   if (call == where && chunk.index + 1 == chunks)
                                       throw std::runtime_error("last");
                               }});
            EXPECT_THROW(checked.run(pipeline, stage), std::runtime_error);
            EXPECT_EQ(stage.starts_and_ends, starts()) << name_of(where);
        }
    }
}

TEST_P(StageRun, ErrorsOfStartsAndEndsReachTheCaller) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order));
        const std::vector<std::string> calls = starts_and_ends();
        for (std::size_t failing = 0; failing < calls.size(); ++failing) {
            stage.starts_and_ends.clear();
            stage.on_start_end = [&](const std::string& what) {
                if (what == calls[failing]) throw std::runtime_error(what);
            };
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
            try {
                checked.run(pipeline, stage);
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(error.what(), calls[failing]);
            }
            EXPECT_EQ(checked.chunks(), failing < starts().size() ? 0 : chunks);
            const auto end = calls.begin() + static_cast<std::ptrdiff_t>(failing + 1);
            EXPECT_EQ(stage.starts_and_ends, std::vector<std::string>(calls.begin(), end));
            stage.on_start_end = {};
            EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "") << "after it";
        }
    }
}

// A FakeStage looks at size and alignment, and sees whether somebody else writes to it.
TEST_P(StageRun, HasScratchMemoryOfItsOwn) {
    for (const bool has_scratch : {false, true}) {
        for (const std::size_t more : {0U, 1U, 63U, 64U, 4097U}) {
            const StageShape shape = {.has_scratch = has_scratch, .more_scratch = more};
            const TestStream stream(1037, shape);
            FakeStage stage(shape);
            for (const std::size_t chunk : {1U, 63U, 100U, 5000U}) {
                for (const IssueOrder order : all_orders) {
                    Pipeline pipeline(places(), stage, {.chunk = chunk, .buffer_sets = 3, .order = order});
                    for (const SourceMode mode : {SourceMode::fill, SourceMode::view})
                        ASSERT_EQ(mistake_of_run(pipeline, stage, stream, mode, SinkMode::view), "");
                }
            }
        }
    }
}

TEST_P(StageRun, AStageThatDoesNotRunThereSaysSo) {
    class Nowhere : public FakeStage {
    public:
        std::unique_ptr<phy::StageRunner> on(const phy::Place& /*place*/) override {
            return std::make_unique<phy::StageRunner>();
        }
    };
    Nowhere stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential));
    CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
    EXPECT_THROW(checked.run(pipeline, stage), phy::BackendError);
    EXPECT_EQ(checked.chunks(), 0U);
}

// A generator has no input, and what only counts has no output.
TEST_P(StageRun, MayHaveNoInputsOrNoOutputs) {
    for (const StageShape& shape :
         {StageShape{.inputs = {}}, StageShape{.outputs = {}}, StageShape{.inputs = {}, .outputs = {}}}) {
        const TestStream stream(total, shape);
        FakeStage stage(shape);
        for (const IssueOrder order : all_orders) {
            Pipeline pipeline(places(), stage, config(order));
            for (const SourceMode mode : {SourceMode::fill, SourceMode::view}) {
                for (const SinkMode sink : {SinkMode::take, SinkMode::view})
                    EXPECT_EQ(mistake_of_run(pipeline, stage, stream, mode, sink), "");
            }
        }
        EXPECT_GT(Pipeline(places(), stage).chunk(), 1000U);
    }
}

INSTANTIATE_TEST_SUITE_P(, StageRun, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
