#include <gtest/gtest.h>

#include <stdexcept>

#include "phy/core/error.hpp"
#include "pipeline/probe.hpp"

/// What is thrown anywhere ends the run, reaches the caller as it is, and leaves the pipeline as it was.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;

constexpr std::size_t chunk_items = 16;
constexpr std::uint64_t chunks = 9;
constexpr std::size_t total = (chunks - 1) * chunk_items + 5;

struct Breakdown : std::runtime_error {
    Breakdown(Call where, std::uint64_t number)
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

class Failure : public OnDevices {
protected:
    const Stream stream_ = Stream(total);

    static Pipeline::Config config(IssueOrder order, std::size_t lanes) {
        return on_devices({.chunk = chunk_items, .lanes = lanes, .order = order});
    }

    /// Throws from that call of that chunk.
    void expect_breakdown(Pipeline& pipeline, FakeStage& stage, Probe& probe, Feed feed, Call where,
                          std::uint64_t index) const {
        Trial trial(stream_, feed, Drain::view, {&probe, [&](Call call, const Chunk& chunk) {
                                                     if (call == where && chunk.index == index)
                                                         throw Breakdown(where, index);
                                                 }});
        try {
            trial.run(pipeline, stage);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Breakdown& breakdown) {
            EXPECT_EQ(breakdown.call, where);
            EXPECT_EQ(breakdown.chunk, index);
            EXPECT_STREQ(breakdown.what(), Breakdown(where, index).what());
        }
        probe.close();
        EXPECT_EQ(trial.flaw(), "");
        EXPECT_LE(trial.chunks(), index + (where == Call::take ? 1 : 0));
    }

    /// Of the chunk that broke down and those after it.
    static void expect_nothing_after(const Probe& probe, Call where, std::uint64_t index, bool serial) {
        const std::vector<Probe::Event> events = probe.events();
        const auto thrown = std::ranges::find(events, Probe::Event{where, index});
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
    void expect_breakdowns(IssueOrder order, std::size_t lanes, Feed feed) const {
        FakeStage stage;
        Pipeline pipeline(config(order, lanes), stage);
        for (const Call where : all_calls) {
            if (where == Call::fill && feed == Feed::view) continue;
            for (const std::uint64_t index : thinned_range(chunks)) {
                SCOPED_TRACE(std::string(name_of(where)) + ", chunk " + std::to_string(index) + ", " +
                             std::string(to_string(order)) + ", lanes " + std::to_string(lanes));
                Probe probe(pipeline);
                expect_breakdown(pipeline, stage, probe, feed, where, index);
                expect_nothing_after(probe, where, index, order == IssueOrder::serial);
                EXPECT_EQ(flaw_of_run(pipeline, stage, stream_, feed, Drain::view), "") << "after it";
                EXPECT_EQ(probe.fault(), "");
                ASSERT_FALSE(HasFailure());
            }
        }
    }
};

TEST_P(Failure, OfAnyCallAtAnyChunkReachesTheCaller) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t lanes : {1U, 2U, 3U, 12U})
            ASSERT_NO_FATAL_FAILURE(expect_breakdowns(order, lanes, Feed::fill));
    }
}

TEST_P(Failure, OfAnyCallWhereSourceAndSinkLendMemoryReachesTheCaller) {
    for (const IssueOrder order : all_orders) {
        for (const std::size_t lanes : {1U, 2U, 3U, 12U})
            ASSERT_NO_FATAL_FAILURE(expect_breakdowns(order, lanes, Feed::view));
    }
}

TEST_P(Failure, OfAnyCallOfASingleChunkReachesTheCaller) {
    const Stream small(7);
    FakeStage stage;
    Pipeline pipeline(config(IssueOrder::sequential, 3), stage);
    for (const Call where : all_calls) {
        Trial trial(small, Feed::fill, Drain::view, {.hook = [&](Call call, const Chunk&) {
                        if (call == where) throw Breakdown(where, 0);
                    }});
        EXPECT_THROW(trial.run(pipeline, stage), Breakdown) << name_of(where);
        EXPECT_EQ(trial.chunks(), 0U);
        EXPECT_EQ(flaw_of_run(pipeline, stage, small), "");
    }
}

// No std::exception: whoever catches and copies by what() loses it.
TEST_P(Failure, MayBeOfAnyType) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(config(order, 3), stage);
        for (const Call where : all_calls) {
            Trial trial(stream_, Feed::fill, Drain::view, {.hook = [&](Call call, const Chunk& chunk) {
                            if (call == where && chunk.index == 4) throw std::pair(where, 42L);
                        }});
            try {
                trial.run(pipeline, stage);
                ADD_FAILURE() << "nothing was thrown";
            } catch (const std::pair<Call, long>& thrown) {
                EXPECT_EQ(thrown, std::pair(where, 42L));
            }
        }
        EXPECT_EQ(flaw_of_run(pipeline, stage, stream_), "");
    }
}

// The source, the stage and the sink throw at the same time.
TEST_P(Failure, OfSeveralAtOnceOneReachesTheCaller) {
    FakeStage stage;
    Pipeline pipeline(config(IssueOrder::sequential, 3), stage);
    for (int repetition = 0; repetition < thinned_times(100); ++repetition) {
        Rendezvous rendezvous(3);
        Trial trial(stream_, Feed::fill, Drain::view, {.hook = [&](Call call, const Chunk& chunk) {
                        if ((call == Call::fill && chunk.index == 5) ||
                            (call == Call::work && chunk.index == 4) ||
                            (call == Call::take && chunk.index == 3)) {
                            rendezvous.meet(0);
                            throw Breakdown(call, chunk.index);
                        }
                    }});
        EXPECT_THROW(trial.run(pipeline, stage), Breakdown);
        EXPECT_EQ(rendezvous.rounds(), 1U);
        EXPECT_EQ(trial.flaw(), "");
        ASSERT_EQ(flaw_of_run(pipeline, stage, stream_), "");
    }
}

TEST_P(Failure, AfterARequestToStopReachesTheCallerToo) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(config(order, 3), stage);
        for (const Call where : all_calls) {
            std::stop_source stop;
            Trial trial(stream_, Feed::fill, Drain::view, {.hook = [&](Call call, const Chunk& chunk) {
                            if (call != where || chunk.index != 4) return;
                            stop.request_stop();
                            throw Breakdown(where, 4);
                        }});
            EXPECT_THROW(trial.run(pipeline, stage, stop.get_token()), Breakdown) << name_of(where);
            EXPECT_EQ(flaw_of_run(pipeline, stage, stream_), "");
        }
    }
}

TEST_P(Failure, OfTheSourceToSayItsLengthReachesTheCaller) {
    class Shapeless : public phy::Source {
    public:
        [[nodiscard]] std::uint64_t items() const override { throw Breakdown(Call::source_view, 99); }
        std::size_t fill(const Chunk& /*chunk*/, std::span<std::byte> /*input*/) override {
            ADD_FAILURE() << "called all the same";
            return 0;
        }
    };
    FakeStage stage;
    Pipeline pipeline(config(IssueOrder::sequential, 3), stage);
    Shapeless source;
    FakeSink sink(stream_, Drain::view);
    EXPECT_THROW(pipeline.run(source, sink), Breakdown);
    EXPECT_EQ(sink.chunks(), 0U);
    EXPECT_EQ(flaw_of_run(pipeline, stage, stream_), "");
}

/// Hands over as many items or bytes more than it should, or fewer.
struct SloppySource : phy::Source {
    SloppySource(int items, int bytes) : wrong_items(items), wrong_bytes(bytes) {}

    [[nodiscard]] std::uint64_t items() const override { return 100; }
    [[nodiscard]] std::span<const std::byte> view(const Chunk& chunk) override {
        if (wrong_bytes == 0) return {};
        return std::span(from).first(chunk.items * item_in + static_cast<std::size_t>(wrong_bytes));
    }
    std::size_t fill(const Chunk& chunk, std::span<std::byte> /*input*/) override {
        return chunk.items + static_cast<std::size_t>(wrong_items);
    }

    int wrong_items;
    int wrong_bytes;
    Bytes from = Bytes(1000);
};

struct SloppySink : phy::Sink {
    explicit SloppySink(int excess) : wrong(excess) {}

    [[nodiscard]] std::span<std::byte> view(const Chunk& chunk) override {
        return std::span(to).first(chunk.items * item_out + static_cast<std::size_t>(wrong));
    }
    void take(const Chunk& /*chunk*/, std::span<const std::byte> /*output*/) override {}

    int wrong;
    Bytes to = Bytes(1000);
};

TEST_P(Failure, OfSourcesAndSinksToKeepToSizesIsNoticed) {
    for (const IssueOrder order : all_orders) {
        FakeStage stage;
        Pipeline pipeline(config(order, 3), stage);
        FakeSink sink(stream_, Drain::view);
        for (const auto& [items, bytes] : {std::pair(1, 0), std::pair(1000, 0), std::pair(0, 1),
                                           std::pair(0, -1), std::pair(0, 3), std::pair(0, -3)}) {
            SloppySource sloppy(items, bytes);
            EXPECT_THROW(pipeline.run(sloppy, sink), phy::ArgumentError) << items << ", " << bytes;
        }
        for (const int bytes : {1, -1, 5, -5}) {
            FakeSource source(stream_, Feed::fill);
            SloppySink sloppy(bytes);
            EXPECT_THROW(pipeline.run(source, sloppy), phy::ArgumentError) << bytes;
        }
        EXPECT_EQ(sink.chunks(), 0U);
        EXPECT_TRUE(stage.where.empty());
        EXPECT_EQ(flaw_of_run(pipeline, stage, stream_), "");
    }
}

TEST_P(Failure, ToPrepareReachesTheCaller) {
    FakeStage stage;
    stage.on_prepare = [] { throw Breakdown(Call::work, 7); };
    try {
        const Pipeline pipeline(config(IssueOrder::sequential, 3), stage);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Breakdown& breakdown) {
        EXPECT_EQ(breakdown.chunk, 7U);
    }
    stage.on_prepare = {};
    Pipeline pipeline(config(IssueOrder::sequential, 3), stage);
    EXPECT_EQ(flaw_of_run(pipeline, stage, stream_), "");
}

INSTANTIATE_TEST_SUITE_P(, Failure, testing::ValuesIn(device_sets()), name_of_set);

}  // namespace
