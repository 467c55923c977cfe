#include <gtest/gtest.h>

#include "pipeline/call_recorder.hpp"
#include "pipeline/checked_run.hpp"
#include "pipeline/waiting.hpp"

/// What runs when, and in which threads: latches prove what overlaps, counts what does not.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;

constexpr std::size_t chunk_items = 16;
constexpr std::uint64_t chunks = 23;
constexpr std::size_t total = (chunks - 1) * chunk_items + 5;

bool is_fill(const CallRecorder::Event& event) {
    return event.call == Call::fill;
}

class Order : public OnPlaces {
protected:
    const TestStream stream_ = TestStream(total);

    static Pipeline::Config config(IssueOrder order, std::size_t buffer_sets) {
        return {.chunk = chunk_items, .buffer_sets = buffer_sets, .order = order};
    }

    /// Runs with a hook, and expects that all went well.
    void run(Pipeline& pipeline, FakeStage& stage, CallRecorder& recorder, SourceMode source_mode,
             SinkMode sink_mode, const CallHook& hook = {}) const {
        CheckedRun checked(stream_, source_mode, sink_mode, {&recorder, hook});
        const phy::PipelineReport report = checked.run(pipeline, stage);
        recorder.end_run();
        EXPECT_EQ(checked.mistake(report), "");
        EXPECT_EQ(report.chunks, chunks);
        EXPECT_EQ(recorder.mistake(), "");
    }

    /// In each round the calls of the parties meet that name it.
    void expect_to_meet(IssueOrder order, std::size_t buffer_sets, int parties, std::uint64_t rounds,
                        const std::function<std::optional<std::uint64_t>(Call, std::uint64_t)>& round_of) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, buffer_sets));
        for (const SourceMode source_mode : {SourceMode::view, SourceMode::fill}) {
            CallRecorder recorder(pipeline);
            Rendezvous rendezvous(parties);
            run(pipeline, stage, recorder, source_mode, SinkMode::take, [&](Call call, const Chunk& chunk) {
                if (const auto round = round_of(call, chunk.index)) rendezvous.meet(*round);
            });
            EXPECT_FALSE(rendezvous.failed());
            EXPECT_EQ(rendezvous.rounds(), rounds);
            EXPECT_GE(recorder.max_inside(), parties);
        }
    }
};

TEST_P(Order, ChunksKeepTheirBufferSetAndTurn) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 7U, 40U}) {
            FakeStage stage;
            Pipeline pipeline(places(), stage, config(order, buffer_sets));
            for (const SourceMode source_mode : {SourceMode::view, SourceMode::fill, SourceMode::endless}) {
                SCOPED_TRACE(std::string(to_string(order)) + ", buffer sets " + std::to_string(buffer_sets));
                CallRecorder recorder(pipeline);
                run(pipeline, stage, recorder, source_mode, SinkMode::view);
                for (const Call call : {Call::source_view, Call::sink_view, Call::work, Call::take})
                    EXPECT_EQ(recorder.end_of(call), chunks) << name_of(call);
                EXPECT_EQ(recorder.end_of(Call::fill), source_mode == SourceMode::view ? 0 : chunks);
            }
        }
    }
}

TEST_P(Order, TwoThreadsHelpTheCaller) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 4));
        CallRecorder recorder(pipeline);
        run(pipeline, stage, recorder, SourceMode::fill, SinkMode::view);
        std::set<std::thread::id> threads = recorder.threads();
        EXPECT_TRUE(threads.contains(std::this_thread::get_id())) << to_string(order);
        EXPECT_LE(threads.size(), order == IssueOrder::serial ? 1U : 3U) << to_string(order);
    }
}

// Round k: chunk k is worked on, the source reads the next one and the sink takes the one before.
TEST_P(Order, ReadsWorksAndWritesAtOnce) {
    for (const std::size_t buffer_sets : {3U, 4U, 7U}) {
        expect_to_meet(IssueOrder::sequential, buffer_sets, 3, chunks - 2,
                       [](Call call, std::uint64_t chunk) {
                           std::optional<std::uint64_t> round;
                           if (call == Call::source_view && chunk >= 2) round = chunk - 1;
                           if (call == Call::work && chunk >= 1 && chunk + 1 < chunks) round = chunk;
                           if (call == Call::take && chunk + 2 < chunks) round = chunk + 1;
                           return round;
                       });
    }
}

TEST_P(Order, TwoBufferSetsReadTheNextWhileTheyWork) {
    expect_to_meet(IssueOrder::sequential, 2, 2, chunks - 1, [](Call call, std::uint64_t chunk) {
        std::optional<std::uint64_t> round;
        if (call == Call::source_view && chunk >= 1) round = chunk - 1;
        if (call == Call::work && chunk + 1 < chunks) round = chunk;
        return round;
    });
}

TEST_P(Order, TwoBufferSetsWriteTheLastWhileTheyWork) {
    expect_to_meet(IssueOrder::sequential, 2, 2, chunks - 1, [](Call call, std::uint64_t chunk) {
        std::optional<std::uint64_t> round;
        if (call == Call::work && chunk >= 1) round = chunk - 1;
        if (call == Call::take && chunk + 1 < chunks) round = chunk;
        return round;
    });
}

// The last buffer set's chunk is worked on until the sink has come to the first buffer set's and its buffer
// set is read again.
TEST_P(Order, ParallelWorksWhileItReadsAndWrites) {
    for (const std::size_t buffer_sets : {2U, 3U, 4U, 6U}) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(IssueOrder::parallel, buffer_sets));
        const std::uint64_t ring = pipeline.buffer_sets();
        CallRecorder recorder(pipeline);
        std::map<std::uint64_t, Gate> taken;
        std::map<std::uint64_t, Gate> read;
        for (std::uint64_t first = 0; first + ring < chunks; first += ring) {
            taken[first];
            read[first + ring];
        }
        bool came = true;
        run(pipeline, stage, recorder, SourceMode::fill, SinkMode::take, [&](Call call, const Chunk& chunk) {
            if (call == Call::take && taken.contains(chunk.index)) taken[chunk.index].open();
            if (call == Call::fill && read.contains(chunk.index)) read[chunk.index].open();
            if (call == Call::work && read.contains(chunk.index + 1))
                came = came && taken[chunk.index + 1 - ring].wait() && read[chunk.index + 1].wait();
        });
        EXPECT_TRUE(came) << "buffer sets " << buffer_sets;
    }
}

// With four buffer sets a group is two chunks at least.
TEST_P(Order, ParallelWorksOnSeveralChunksThatHaveBeenRead) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::parallel, 4));
    for (const SourceMode source_mode : {SourceMode::fill, SourceMode::view}) {
        CallRecorder recorder(pipeline);
        run(pipeline, stage, recorder, source_mode, SinkMode::view);
        std::uint64_t read = 0;
        std::uint64_t worked = 0;
        for (const CallRecorder::Event& event : recorder.events()) {
            if (event.call == Call::sink_view) read = event.chunk + 1;
            if (event.call != Call::work) continue;
            ++worked;
            EXPECT_GE(read, std::min(chunks, event.chunk / 2 * 2 + 2)) << event.chunk;
        }
        EXPECT_EQ(worked, chunks);
    }
}

TEST_P(Order, SerialDoesOneThingAtATime) {
    for (const std::size_t buffer_sets : {1U, 2U, 4U}) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(IssueOrder::serial, buffer_sets));
        for (const SourceMode source_mode : {SourceMode::fill, SourceMode::view}) {
            CallRecorder recorder(pipeline);
            run(pipeline, stage, recorder, source_mode, SinkMode::view);
            EXPECT_EQ(recorder.max_inside(), 1);
            std::vector<CallRecorder::Event> expected;
            for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
                for (const Call call : all_calls)
                    expected.push_back({call, chunk});
            }
            if (source_mode == SourceMode::view) std::erase_if(expected, is_fill);
            EXPECT_EQ(recorder.events(), expected);
        }
    }
}

TEST_P(Order, OneBufferSetHoldsOneChunk) {
    if (GetParam().places.size() > 1) GTEST_SKIP() << "each device has a buffer set";
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 1));
        CallRecorder recorder(pipeline);
        run(pipeline, stage, recorder, SourceMode::fill, SinkMode::view);
        EXPECT_EQ(recorder.max_inside(), 1) << to_string(order);
    }
}

// The sink holds the first chunk until the source has all buffer sets' chunks; the recorder sees if it has
// more.
TEST_P(Order, TheSourceIsAheadByAllBufferSetsAndNoMore) {
    for (const IssueOrder order : {IssueOrder::sequential, IssueOrder::parallel}) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 7U}) {
            FakeStage stage;
            Pipeline pipeline(places(), stage, config(order, buffer_sets));
            CallRecorder recorder(pipeline);
            Gate all_read;
            bool came = false;
            run(pipeline, stage, recorder, SourceMode::fill, SinkMode::take,
                [&](Call call, const Chunk& chunk) {
                    if (call == Call::source_view && chunk.index + 1 == pipeline.buffer_sets())
                        all_read.open();
                    if (call == Call::take && chunk.index == 0) came = all_read.wait();
                });
            EXPECT_TRUE(came) << to_string(order) << ", buffer sets " << buffer_sets;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Order, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
