#include <gtest/gtest.h>

#include <chrono>

#include "pipeline/checked_run.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;
using phy::PipelineSpan;
using Step = PipelineSpan::Step;

constexpr std::size_t chunk_items = 100;
constexpr std::uint64_t chunks = 17;
constexpr std::size_t total = (chunks - 1) * chunk_items + 3;

class Report : public OnPlaces {
protected:
    const TestStream stream_ = TestStream(total);

    static Pipeline::Config config(IssueOrder order, std::size_t buffer_sets, bool trace) {
        return {.chunk = chunk_items, .buffer_sets = buffer_sets, .order = order, .trace = trace};
    }

    static std::vector<Step> steps() {
        if (!GetParam().is_cuda()) return {Step::read, Step::work, Step::write};
        return {Step::read, Step::copy_in, Step::work, Step::copy_out, Step::write};
    }

    static std::vector<std::string> names_of_steps() {
        if (!GetParam().is_cuda()) return {"read", "scramble", "write"};
        return {"read", "copy_in", "scramble", "copy_out", "write"};
    }

    [[nodiscard]] PipelineReport run(const Pipeline::Config& config, const CallHook& hook = {},
                                     SourceMode source_mode = SourceMode::fill) const {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config);
        CheckedRun checked(stream_, source_mode,
                           source_mode == SourceMode::view ? SinkMode::view : SinkMode::take, {.hook = hook});
        PipelineReport report = checked.run(pipeline, stage);
        EXPECT_EQ(checked.mistake(report), "");
        return report;
    }

    static std::vector<PipelineSpan> spans_of(const PipelineReport& report, Step step) {
        std::vector<PipelineSpan> spans;
        std::ranges::copy_if(report.spans, std::back_inserter(spans),
                             [&](const PipelineSpan& span) { return span.step == step; });
        return spans;
    }

    /// One a chunk, in their order, one after the other.
    static void expect_a_row_of_chunks(const std::vector<PipelineSpan>& spans, std::size_t buffer_sets) {
        ASSERT_EQ(spans.size(), chunks);
        std::uint64_t first = 0;
        for (std::uint64_t index = 0; index < chunks; ++index) {
            const PipelineSpan& span = spans[index];
            EXPECT_EQ(span.chunk.index, index);
            EXPECT_EQ(span.chunk.first, first);
            EXPECT_EQ(span.chunk.items, index + 1 == chunks ? 3 : chunk_items);
            EXPECT_LT(span.chunk.buffer_set, buffer_sets);
            EXPECT_LE(span.begin, span.end);
            first += span.chunk.items;
        }
        EXPECT_GE(spans.front().begin, 0.0);
    }
};

TEST_P(Report, SaysWhatWasDoneAndWhere) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3, false));
        CheckedRun checked(stream_, SourceMode::fill, SinkMode::take);
        const PipelineReport report = checked.run(pipeline, stage);
        EXPECT_EQ(report.items, total);
        EXPECT_EQ(report.chunks, chunks);
        EXPECT_FALSE(report.cancelled);
        EXPECT_GT(report.seconds, 0.0);
        EXPECT_EQ(report.stage, "scramble");
        ASSERT_EQ(report.buffer_sets.size(), pipeline.buffer_sets());
        for (const phy::Place& place : places())
            EXPECT_EQ(std::ranges::count(report.buffer_sets, place.name()), 3) << place.name();
        EXPECT_TRUE(report.spans.empty());
        std::vector<std::string> names;
        for (const PipelineReport::Busy& busy : report.busy) {
            names.push_back(busy.step);
            EXPECT_GE(busy.seconds, 0.0) << busy.step;
            EXPECT_LE(busy.seconds, report.seconds * static_cast<double>(pipeline.buffer_sets()))
                << busy.step;
        }
        EXPECT_EQ(names, names_of_steps());
    }
}

TEST_P(Report, OfNothing) {
    const TestStream empty(0);
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 2, true));
    CheckedRun checked(empty, SourceMode::fill, SinkMode::take);
    const PipelineReport report = checked.run(pipeline, stage);
    EXPECT_EQ(checked.mistake(report), "");
    EXPECT_EQ(report.chunks, 0U);
    EXPECT_TRUE(report.spans.empty());
    EXPECT_EQ(report.stage, "scramble");
    ASSERT_EQ(report.busy.size(), names_of_steps().size());
    for (const PipelineReport::Busy& busy : report.busy)
        EXPECT_EQ(busy.seconds, 0.0) << busy.step;
}

TEST_P(Report, SpansAreCompleteAndInOrder) {
    for (const IssueOrder order : all_orders) {
        for (const auto& [buffer_sets, source_mode] :
             {std::pair(1U, SourceMode::fill), std::pair(3U, SourceMode::fill),
              std::pair(3U, SourceMode::view), std::pair(30U, SourceMode::fill),
              std::pair(30U, SourceMode::view)}) {
            SCOPED_TRACE(std::string(to_string(order)) + ", buffer sets " + std::to_string(buffer_sets));
            const PipelineReport report = run(config(order, buffer_sets, true), {}, source_mode);
            EXPECT_EQ(report.spans.size(), chunks * steps().size());
            std::vector<std::vector<PipelineSpan>> rows;
            for (const Step step : steps()) {
                rows.push_back(spans_of(report, step));
                ASSERT_NO_FATAL_FAILURE(expect_a_row_of_chunks(rows.back(), report.buffer_sets.size()));
            }
            for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
                for (std::size_t step = 1; step < rows.size(); ++step) {
                    EXPECT_LE(rows[step - 1][chunk].end, rows[step][chunk].begin) << chunk << ", " << step;
                    EXPECT_EQ(rows[step - 1][chunk].chunk.buffer_set, rows[step][chunk].chunk.buffer_set)
                        << chunk;
                }
            }
            EXPECT_LE(rows.back().back().end, report.seconds);
        }
    }
}

// The source waits for a buffer set, the stage for the source, the sink for the stage: none of it is in a
// span.
TEST_P(Report, SpansHoldNoWaiting) {
    for (const auto& [order, source_mode] : {std::pair(IssueOrder::sequential, SourceMode::fill),
                                             std::pair(IssueOrder::sequential, SourceMode::view),
                                             std::pair(IssueOrder::parallel, SourceMode::fill),
                                             std::pair(IssueOrder::parallel, SourceMode::view),
                                             std::pair(IssueOrder::serial, SourceMode::fill)}) {
        const PipelineReport report = run(config(order, 2, true), {}, source_mode);
        const std::size_t buffer_sets = report.buffer_sets.size();
        const std::vector<PipelineSpan> reads = spans_of(report, Step::read);
        const std::vector<PipelineSpan> writes = spans_of(report, Step::write);
        ASSERT_EQ(reads.size(), chunks);
        ASSERT_EQ(writes.size(), chunks);
        for (std::size_t chunk = 1; chunk < chunks; ++chunk) {
            EXPECT_LE(reads[chunk - 1].end, reads[chunk].begin);
            EXPECT_LE(writes[chunk - 1].end, writes[chunk].begin);
            if (chunk >= buffer_sets) {
                EXPECT_LE(writes[chunk - buffer_sets].end, reads[chunk].begin);
            }
        }
    }
}

TEST_P(Report, BusyIsTheSumOfTheSpans) {
    for (const IssueOrder order : all_orders) {
        const PipelineReport report = run(config(order, 3, true));
        ASSERT_EQ(report.busy.size(), steps().size());
        for (std::size_t i = 0; i < report.busy.size(); ++i) {
            double sum = 0.0;
            for (const PipelineSpan& span : spans_of(report, steps()[i]))
                sum += span.end - span.begin;
            EXPECT_NEAR(report.busy[i].seconds, sum, 1e-9 + 1e-9 * sum) << report.busy[i].step;
        }
    }
}

// As long as a call takes, and as the clock says: so no load of the machine changes it.
TEST_P(Report, BusyHoldsTheTimeOfEachCall) {
    if (GetParam().is_cuda()) GTEST_SKIP() << "a stage's call only starts its work";
    const auto spend = [](double seconds) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
        while (std::chrono::steady_clock::now() < end) {
        }
    };
    for (const IssueOrder order : all_orders) {
        const PipelineReport report = run(config(order, 2, false), [&](Call call, const Chunk& chunk) {
            if (call == Call::fill && chunk.index % 2 == 0) spend(1e-3);
            if (call == Call::work && chunk.index % 4 == 0) spend(1e-3);
            if (call == Call::take && chunk.index % 8 == 0) spend(1e-3);
        });
        ASSERT_EQ(report.busy.size(), 3U);
        EXPECT_GE(report.busy[0].seconds, 9e-3) << "read";
        EXPECT_GE(report.busy[1].seconds, 5e-3) << "work";
        EXPECT_GE(report.busy[2].seconds, 3e-3) << "write";
        EXPECT_GE(report.seconds, 9e-3);
        if (order == IssueOrder::serial) {
            EXPECT_GE(report.seconds, 17e-3);
        }
    }
}

TEST_P(Report, OfACancelledRunHoldsWhatTheSinkHad) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3, true));
        std::stop_source stop;
        CheckedRun checked(stream_, SourceMode::fill, SinkMode::take,
                           {.hook = [&](Call call, const Chunk& chunk) {
                               if (call == Call::take && chunk.index == 4) stop.request_stop();
                           }});
        const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
        EXPECT_EQ(checked.mistake_of_cancelled(report), "");
        EXPECT_EQ(report.items, 5 * chunk_items);
        EXPECT_EQ(report.spans.size(), 5 * steps().size());
        EXPECT_EQ(report.stage, "scramble");
    }
}

TEST_P(Report, OfALaterRunIsOfThatRunOnly) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3, true));
    const TestStream small(2 * chunk_items);
    EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
    CheckedRun checked(small, SourceMode::fill, SinkMode::take);
    const PipelineReport report = checked.run(pipeline, stage);
    EXPECT_EQ(checked.mistake(report), "");
    EXPECT_EQ(report.chunks, 2U);
    EXPECT_EQ(report.spans.size(), 2 * steps().size());
    for (const PipelineSpan& span : report.spans) {
        EXPECT_GE(span.begin, 0.0);
        EXPECT_LE(span.end, report.seconds);
    }
}

INSTANTIATE_TEST_SUITE_P(, Report, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
