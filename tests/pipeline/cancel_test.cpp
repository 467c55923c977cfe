#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pipeline/call_recorder.hpp"
#include "pipeline/checked_run.hpp"
#include "pipeline/waiting.hpp"
#include "support/random_seed.hpp"

/// A request to stop ends the run with what the sink has had by then, and leaves the pipeline as it was.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;

constexpr std::size_t chunk_items = 16;
constexpr std::uint64_t chunks = 11;
constexpr std::size_t total = (chunks - 1) * chunk_items + 5;

class Cancel : public OnPlaces {
protected:
    const TestStream stream_ = TestStream(total);

    static Pipeline::Config config(IssueOrder order, std::size_t buffer_sets) {
        return {.chunk = chunk_items, .buffer_sets = buffer_sets, .order = order};
    }

    /// Asks from within that call of that chunk. The caller is not called for another one, but for a group of
    /// chunks whose work has begun. Within the last call of all there is nothing left to cancel.
    void expect_stop(Pipeline& pipeline, FakeStage& stage, IssueOrder order, SourceMode source_mode,
                     Call where, std::uint64_t index) const {
        std::stop_source stop;
        CallRecorder recorder(pipeline);
        CheckedRun checked(stream_, source_mode, SinkMode::view,
                           {&recorder, [&](Call call, const Chunk& chunk) {
                                if (call == where && chunk.index == index) stop.request_stop();
                            }});
        const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
        recorder.end_run();
        EXPECT_EQ(checked.mistake_of_stopped(report), "");
        const bool is_last_of_all = where == Call::take && index + 1 == chunks;
        EXPECT_EQ(report.cancelled, !is_last_of_all);
        EXPECT_EQ(recorder.mistake(), "");
        switch (where) {
            case Call::work:
                EXPECT_LE(recorder.end_of(Call::work),
                          index + (order == IssueOrder::parallel ? pipeline.buffer_sets() : 1));
                break;
            case Call::take:
                EXPECT_EQ(checked.chunks(), index + 1);
                break;
            default:
                EXPECT_EQ(recorder.end_of(Call::source_view), index + 1);
        }
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream_, source_mode, SinkMode::view), "") << "after it";
    }

    /// In all calls of all chunks, one run each.
    void expect_stops(IssueOrder order, std::size_t buffer_sets, SourceMode source_mode) const {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, buffer_sets));
        for (const Call where : all_calls) {
            if (where == Call::fill && source_mode == SourceMode::view) continue;
            for (const std::uint64_t index : fewer_indices(chunks)) {
                SCOPED_TRACE(std::string(name_of(where)) + ", chunk " + std::to_string(index) + ", " +
                             std::string(to_string(order)) + ", buffer sets " + std::to_string(buffer_sets));
                expect_stop(pipeline, stage, order, source_mode, where, index);
                ASSERT_FALSE(HasFailure());
            }
        }
    }
};

TEST_P(Cancel, FromWithinAnyCallAtAnyChunk) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 14U})
            ASSERT_NO_FATAL_FAILURE(expect_stops(order, buffer_sets, SourceMode::fill));
    }
}

TEST_P(Cancel, FromWithinAnyCallWhereSourceAndSinkLendMemory) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 14U})
            ASSERT_NO_FATAL_FAILURE(expect_stops(order, buffer_sets, SourceMode::view));
    }
}

// The chunk is the first and the last.
TEST_P(Cancel, FromWithinAnyCallOfASingleChunk) {
    const TestStream small(7);
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3));
        for (const SourceMode source_mode : {SourceMode::fill, SourceMode::view}) {
            for (const Call where : all_calls) {
                if (where == Call::fill && source_mode == SourceMode::view) continue;
                std::stop_source stop;
                CheckedRun checked(small, source_mode, SinkMode::view, {.hook = [&](Call call, const Chunk&) {
                                       if (call == where) stop.request_stop();
                                   }});
                const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
                EXPECT_EQ(checked.mistake_of_stopped(report), "")
                    << name_of(where) << ", " << to_string(order);
                EXPECT_TRUE(report.cancelled || where == Call::take) << name_of(where);
                EXPECT_EQ(mistake_of_run(pipeline, stage, small), "");
            }
        }
    }
}

TEST_P(Cancel, BeforeTheRunNothingIsCalled) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t items : {total, std::size_t{3}}) {
            const TestStream some(items);
            FakeStage stage;
            Pipeline pipeline(places(), stage, config(order, 3));
            std::stop_source stop;
            stop.request_stop();
            std::atomic<int> calls = 0;
            CheckedRun checked(some, items == total ? SourceMode::view : SourceMode::fill, SinkMode::view,
                               {.hook = [&](Call, const Chunk&) { ++calls; }});
            const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
            EXPECT_EQ(checked.mistake_of_cancelled(report), "");
            EXPECT_EQ(report.chunks, 0U);
            EXPECT_EQ(calls, 0);
            EXPECT_EQ(mistake_of_run(pipeline, stage, some), "");
        }
    }
}

TEST_P(Cancel, AfterTheRunChangesNothing) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3));
        std::stop_source stop;
        CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
        const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
        stop.request_stop();
        EXPECT_EQ(checked.mistake(report), "");
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
    }
}

TEST_P(Cancel, WithoutARequestATokenChangesNothing) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3));
        std::stop_source stop;
        for (int repetition = 0; repetition < 3; ++repetition) {
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::view);
            EXPECT_EQ(checked.mistake(checked.run(pipeline, stage, stop.get_token())), "");
        }
    }
}

// The sink sits on the first chunk, the source has no buffer set left and the stage nothing to do.
TEST_P(Cancel, WhileAllWaitForTheSink) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3));
    std::stop_source stop;
    Gate all_worked;
    Gate taken;
    Gate asked;
    bool came = false;
    CheckedRun checked(stream_, SourceMode::fill, SinkMode::view,
                       {.hook = [&](Call call, const Chunk& chunk) {
                           if (call == Call::work && chunk.index + 1 == pipeline.buffer_sets())
                               all_worked.open();
                           if (call == Call::take && chunk.index == 0) {
                               taken.open();
                               came = asked.wait();
                           }
                       }});
    std::jthread canceller([&] {
        EXPECT_TRUE(all_worked.wait() && taken.wait());
        stop.request_stop();
        asked.open();
    });
    const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
    canceller.join();
    EXPECT_TRUE(came);
    EXPECT_EQ(checked.mistake_of_cancelled(report), "");
    EXPECT_EQ(report.chunks, 1U);
    EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
}

/// Asks at some moment between two calls of a run, which are counted from 1 on; the later one waits for it.
class Canceller {
public:
    Canceller(int earliest, int latest)
        : latest_(latest), thread_([this, earliest] {
              while (calls_.load() < earliest && !over_.load())
                  std::this_thread::yield();
              stop_.request_stop();
              asked_ = true;
          }) {}
    ~Canceller() { over_ = true; }
    Canceller(const Canceller&) = delete;
    Canceller& operator=(const Canceller&) = delete;

    void count() {
        if (++calls_ < latest_) return;
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!asked_.load() && std::chrono::steady_clock::now() < deadline)
            std::this_thread::yield();
    }

    [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

private:
    int latest_;
    std::atomic<int> calls_ = 0;
    std::atomic<bool> over_ = false;
    std::atomic<bool> asked_ = false;
    std::stop_source stop_;
    std::jthread thread_;
};

TEST_P(Cancel, FromAnotherThreadAtAnyMoment) {
    const int rounds = fewer_times(100);
    std::mt19937 random(random_seed());
    std::uniform_int_distribution<int> spread(0, 12);
    for (const IssueOrder order : all_orders) {
        for (const std::size_t buffer_sets : {1U, 3U}) {
            FakeStage stage;
            Pipeline pipeline(places(), stage, config(order, buffer_sets));
            for (int round = 0; round < rounds; ++round) {
                const SourceMode source_mode = round % 3 == 0 ? SourceMode::view : SourceMode::fill;
                const int last_call = static_cast<int>(chunks) * (source_mode == SourceMode::view ? 4 : 5);
                const int earliest = std::uniform_int_distribution<int>(1, last_call + 5)(random);
                const int latest = earliest + spread(random);
                Canceller canceller(earliest, latest);
                CheckedRun checked(stream_, source_mode, SinkMode::view,
                                   {.hook = [&](Call, const Chunk&) { canceller.count(); }});
                const PipelineReport report = checked.run(pipeline, stage, canceller.token());
                ASSERT_EQ(checked.mistake_of_stopped(report), "");
                ASSERT_TRUE(report.cancelled || latest >= last_call) << "asked from call " << earliest;
                if (round % 10 == 0) {
                    ASSERT_EQ(mistake_of_run(pipeline, stage, stream_), "");
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Cancel, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
