#include <gtest/gtest.h>

#include <stdexcept>

#include "phy/core/error.hpp"
#include "pipeline/call_recorder.hpp"
#include "pipeline/checked_run.hpp"
#include "pipeline/waiting.hpp"

/// What is thrown anywhere ends the run, reaches the caller as it is, and leaves the pipeline as it was.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;

constexpr std::size_t chunk_items = 16;
constexpr std::uint64_t chunks = 9;
constexpr std::size_t total = (chunks - 1) * chunk_items + 5;

struct InjectedError : std::runtime_error {
    InjectedError(Call where, std::uint64_t number)
        : runtime_error(std::string("no more of ") + name_of(where)), call(where), chunk(number) {}

    Call call;
    std::uint64_t chunk;
};

bool is_of_source_thread(Call call) {
    return call == Call::source_view || call == Call::fill || call == Call::sink_view;
}

bool same_thread(Call a, Call b) {
    return a == b || (is_of_source_thread(a) && is_of_source_thread(b));
}

class Failure : public OnPlaces {
protected:
    const TestStream stream_ = TestStream(total);

    static Pipeline::Config config(IssueOrder order, std::size_t buffer_sets) {
        return {.chunk = chunk_items, .buffer_sets = buffer_sets, .order = order};
    }

    /// Throws from that call of that chunk.
    void expect_injected_error(Pipeline& pipeline, FakeStage& stage, CallRecorder& recorder,
                               SourceMode source_mode, Call where, std::uint64_t index) const {
        CheckedRun checked(stream_, source_mode, SinkMode::view,
                           {&recorder, [&](Call call, const Chunk& chunk) {
                                if (call == where && chunk.index == index) throw InjectedError(where, index);
                            }});
        try {
            checked.run(pipeline, stage);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const InjectedError& error) {
            EXPECT_EQ(error.call, where);
            EXPECT_EQ(error.chunk, index);
            EXPECT_STREQ(error.what(), InjectedError(where, index).what());
        }
        recorder.end_run();
        EXPECT_EQ(checked.mistake(), "");
        EXPECT_LE(checked.chunks(), index + (where == Call::take ? 1 : 0));
    }

    /// Of the chunk that broke down and those after it.
    static void expect_nothing_after(const CallRecorder& recorder, Call where, std::uint64_t index,
                                     bool serial) {
        const std::vector<CallRecorder::Event> events = recorder.events();
        const auto thrown = std::ranges::find(events, CallRecorder::Event{where, index});
        ASSERT_NE(thrown, events.end());
        for (auto event = thrown + 1; event != events.end(); ++event) {
            EXPECT_FALSE(same_thread(event->call, where)) << name_of(event->call) << " " << event->chunk;
            const bool later_step = static_cast<int>(event->call) > static_cast<int>(where);
            if (later_step) {
                EXPECT_LT(event->chunk, index) << name_of(event->call);
            }
        }
        if (serial) {
            EXPECT_EQ(thrown + 1, events.end());
        }
    }

    /// In all calls of all chunks, one run each.
    void expect_injected_errors(IssueOrder order, std::size_t buffer_sets, SourceMode source_mode) const {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, buffer_sets));
        for (const Call where : all_calls) {
            if (where == Call::fill && source_mode == SourceMode::view) continue;
            for (const std::uint64_t index : fewer_indices(chunks)) {
                SCOPED_TRACE(std::string(name_of(where)) + ", chunk " + std::to_string(index) + ", " +
                             std::string(to_string(order)) + ", buffer sets " + std::to_string(buffer_sets));
                CallRecorder recorder(pipeline);
                expect_injected_error(pipeline, stage, recorder, source_mode, where, index);
                expect_nothing_after(recorder, where, index, order == IssueOrder::serial);
                EXPECT_EQ(mistake_of_run(pipeline, stage, stream_, source_mode, SinkMode::view), "")
                    << "after it";
                EXPECT_EQ(recorder.mistake(), "");
                ASSERT_FALSE(HasFailure());
            }
        }
    }
};

TEST_P(Failure, OfAnyCallAtAnyChunkReachesTheCaller) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 12U})
            ASSERT_NO_FATAL_FAILURE(expect_injected_errors(order, buffer_sets, SourceMode::fill));
    }
}

TEST_P(Failure, OfAnyCallWhereSourceAndSinkLendMemoryReachesTheCaller) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t buffer_sets : {1U, 2U, 3U, 12U})
            ASSERT_NO_FATAL_FAILURE(expect_injected_errors(order, buffer_sets, SourceMode::view));
    }
}

TEST_P(Failure, OfAnyCallOfASingleChunkReachesTheCaller) {
    const TestStream small(7);
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3));
    for (const Call where : all_calls) {
        CheckedRun checked(small, SourceMode::fill, SinkMode::view, {.hook = [&](Call call, const Chunk&) {
                               if (call == where) throw InjectedError(where, 0);
                           }});
        EXPECT_THROW(checked.run(pipeline, stage), InjectedError) << name_of(where);
        EXPECT_EQ(checked.chunks(), 0U);
        EXPECT_EQ(mistake_of_run(pipeline, stage, small), "");
    }
}

// No std::exception: whoever catches and copies by what() loses it.
TEST_P(Failure, MayBeOfAnyType) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3));
        for (const Call where : all_calls) {
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::view,
                               {.hook = [&](Call call, const Chunk& chunk) {
                                   if (call == where && chunk.index == 4) throw std::pair(where, 42L);
                               }});
            try {
                checked.run(pipeline, stage);
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::pair<Call, long>& thrown) {
                EXPECT_EQ(thrown, std::pair(where, 42L));
            }
        }
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
    }
}

// The source, the stage and the sink throw at the same time.
TEST_P(Failure, OfSeveralAtOnceOneReachesTheCaller) {
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3));
    for (int repetition = 0; repetition < fewer_times(100); ++repetition) {
        Rendezvous rendezvous(3);
        CheckedRun checked(
            stream_, SourceMode::fill, SinkMode::view, {.hook = [&](Call call, const Chunk& chunk) {
                if ((call == Call::fill && chunk.index == 5) || (call == Call::work && chunk.index == 4) ||
                    (call == Call::take && chunk.index == 3)) {
                    rendezvous.meet(0);
                    throw InjectedError(call, chunk.index);
                }
            }});
        EXPECT_THROW(checked.run(pipeline, stage), InjectedError);
        EXPECT_EQ(rendezvous.rounds(), 1U);
        EXPECT_EQ(checked.mistake(), "");
        ASSERT_EQ(mistake_of_run(pipeline, stage, stream_), "");
    }
}

TEST_P(Failure, AfterARequestToStopReachesTheCallerToo) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3));
        for (const Call where : all_calls) {
            std::stop_source stop;
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::view,
                               {.hook = [&](Call call, const Chunk& chunk) {
                                   if (call != where || chunk.index != 4) return;
                                   stop.request_stop();
                                   throw InjectedError(where, 4);
                               }});
            EXPECT_THROW(checked.run(pipeline, stage, stop.get_token()), InjectedError) << name_of(where);
            EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
        }
    }
}

TEST_P(Failure, OfTheSourceToSayItsLengthReachesTheCaller) {
    class Shapeless : public phy::Source {
    public:
        [[nodiscard]] std::uint64_t items() const override { throw InjectedError(Call::source_view, 99); }
        std::size_t fill(const Chunk& /*chunk*/, std::span<const std::span<std::byte>> /*arrays*/) override {
            ADD_FAILURE() << "called all the same";
            return 0;
        }
    };
    FakeStage stage;
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3));
    Shapeless source;
    FakeSink sink(stream_, SinkMode::view);
    EXPECT_THROW(pipeline.run(source, sink), InjectedError);
    EXPECT_EQ(sink.chunks(), 0U);
    EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
}

/// Hands over as many items or bytes more than it should, or fewer.
struct WrongSizeSource : phy::Source {
    WrongSizeSource(int items, int bytes) : wrong_items(items), wrong_bytes(bytes) {}

    [[nodiscard]] std::uint64_t items() const override { return 100; }
    [[nodiscard]] bool view(const Chunk& chunk, FakeSource::View arrays) override {
        if (wrong_bytes == 0) return false;
        arrays[0] = std::span(from).first(chunk.items * item_in + static_cast<std::size_t>(wrong_bytes));
        return true;
    }
    std::size_t fill(const Chunk& chunk, std::span<const std::span<std::byte>> /*arrays*/) override {
        return chunk.items + static_cast<std::size_t>(wrong_items);
    }

    int wrong_items;
    int wrong_bytes;
    Bytes from = Bytes(1000);
};

struct WrongSizeSink : phy::Sink {
    explicit WrongSizeSink(int excess) : wrong_bytes(excess) {}

    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<std::byte>> arrays) override {
        arrays[0] = std::span(to).first(chunk.items * item_out + static_cast<std::size_t>(wrong_bytes));
        return true;
    }
    void take(const Chunk& /*chunk*/, std::span<const std::span<const std::byte>> /*arrays*/) override {}

    int wrong_bytes;
    Bytes to = Bytes(1000);
};

TEST_P(Failure, OfSourcesAndSinksToKeepToSizesIsNoticed) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(places(), stage, config(order, 3));
        FakeSink sink(stream_, SinkMode::view);
        for (const auto& [items, bytes] : {std::pair(1, 0), std::pair(1000, 0), std::pair(0, 1),
                                           std::pair(0, -1), std::pair(0, 3), std::pair(0, -3)}) {
            WrongSizeSource wrong(items, bytes);
            EXPECT_THROW(pipeline.run(wrong, sink), phy::ArgumentError) << items << ", " << bytes;
        }
        for (const int bytes : {1, -1, 5, -5}) {
            FakeSource source(stream_, SourceMode::fill);
            WrongSizeSink wrong(bytes);
            EXPECT_THROW(pipeline.run(source, wrong), phy::ArgumentError) << bytes;
        }
        EXPECT_EQ(sink.chunks(), 0U);
        EXPECT_TRUE(stage.where.empty());
        EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
    }
}

TEST_P(Failure, ToMakeTheStageReadyReachesTheCaller) {
    FakeStage stage;
    stage.on_place = [](const phy::Place&) { throw InjectedError(Call::work, 7); };
    try {
        const Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const InjectedError& error) {
        EXPECT_EQ(error.chunk, 7U);
    }
    stage.on_place = {};
    Pipeline pipeline(places(), stage, config(IssueOrder::sequential, 3));
    EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
}

INSTANTIATE_TEST_SUITE_P(, Failure, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
