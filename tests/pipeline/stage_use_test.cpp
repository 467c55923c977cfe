#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "pipeline/fake_stage.hpp"
#include "pipeline/place_sets.hpp"
#include "pipeline/waiting.hpp"

/// A stage works for one pipeline at a time: all others are refused until it has done so, and nobody hangs.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::Pipeline;

constexpr std::size_t chunk_items = 16;
constexpr std::size_t items = 5 * chunk_items + 3;

/// What goes through a stage of the default ports, and what comes out.
struct Data {
    Data() {
        for (std::size_t i = 0; i < in.size(); ++i)
            in[i] = static_cast<std::byte>(7 * i + i / 256);
    }

    std::vector<std::byte> in = std::vector<std::byte>(items * item_in);
    std::vector<std::byte> out = std::vector<std::byte>(items * item_out);
};

/// Waits in its first chunk until it is let go, if it is to.
class WaitingSource : public phy::MemorySource {
public:
    explicit WaitingSource(const Data& data) : MemorySource({{"in", item_in}}, {data.in}) {}

    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<const std::byte>> arrays) override {
        if (chunk.index == 0) {
            came.open();
            go_on.wait();
        }
        return MemorySource::view(chunk, arrays);
    }

    Gate came;
    Gate go_on;
};

std::vector<std::byte> output_of(Pipeline& pipeline) {
    Data data;
    phy::MemorySource source({{"in", item_in}}, {data.in});
    phy::MemorySink sink({{"out", item_out}}, {data.out});
    pipeline.run(source, sink);
    return data.out;
}

/// A run in a thread of its own, which is under way as long as this lives.
class RunUnderWay {
public:
    explicit RunUnderWay(Pipeline& pipeline) {
        thread_ = std::jthread([this, &pipeline] {
            try {
                phy::MemorySink sink({{"out", item_out}}, {data_.out});
                pipeline.run(source_, sink);
            } catch (const std::exception& error) {
                ADD_FAILURE() << error.what();
            }
        });
        EXPECT_TRUE(source_.came.wait());
    }
    ~RunUnderWay() { source_.go_on.open(); }
    RunUnderWay(const RunUnderWay&) = delete;
    RunUnderWay& operator=(const RunUnderWay&) = delete;

    /// Its output, when it has ended.
    const std::vector<std::byte>& end() {
        source_.go_on.open();
        thread_.join();
        return data_.out;
    }

private:
    Data data_;
    WaitingSource source_{data_};
    std::jthread thread_;
};

template <typename Work>
void expect_refused(const std::string& stage, Work work) {
    try {
        work();
        ADD_FAILURE() << "stage '" << stage << "' was not refused";
    } catch (const phy::ArgumentError& error) {
        EXPECT_EQ(error.what(), "pipeline: stage '" + stage +
                                    "' is in use by another pipeline or run: expected one at a time");
    }
}

void expect_no_run(Pipeline& pipeline, const std::string& stage) {
    expect_refused(stage, [&] { output_of(pipeline); });
}

class StageUse : public OnPlaces {
protected:
    static Pipeline pipeline_of(phy::Stage& stage) { return {places(), stage, {.chunk = chunk_items}}; }
};

TEST_P(StageUse, ASecondRunIsRefusedAndTheFirstUnhurt) {
    FakeStage stage;
    Pipeline one = pipeline_of(stage);
    Pipeline other = pipeline_of(stage);
    const std::vector<std::byte> expected = output_of(one);
    RunUnderWay run(one);
    expect_no_run(other, "scramble");
    expect_no_run(other, "scramble");
    expect_no_run(one, "scramble");
    EXPECT_EQ(run.end(), expected);
    EXPECT_EQ(stage.mistake(), "");
    EXPECT_EQ(output_of(other), expected);
    EXPECT_EQ(output_of(one), expected);
}

TEST_P(StageUse, NoPipelineIsMadeForAStageThatRuns) {
    FakeStage stage;
    Pipeline pipeline = pipeline_of(stage);
    const std::size_t made = stage.places.size();
    {
        RunUnderWay run(pipeline);
        expect_refused("scramble", [&] { pipeline_of(stage); });
        EXPECT_EQ(stage.places.size(), made);
    }
    EXPECT_NO_THROW(pipeline_of(stage));
}

TEST_P(StageUse, WhatAnErrorOrAStopEndsRunsAgain) {
    FakeStage stage;
    Pipeline one = pipeline_of(stage);
    Pipeline other = pipeline_of(stage);
    const std::vector<std::byte> expected = output_of(one);
    stage.hooks.hook = [](Call call, const Chunk& chunk) {
        if (call == Call::work && chunk.index == 2) throw std::runtime_error("broken");
    };
    EXPECT_THROW(output_of(one), std::runtime_error);
    EXPECT_THROW(output_of(other), std::runtime_error);
    stage.hooks.hook = nullptr;
    stage.on_start_end = [](const std::string& what) {
        if (what == "start") throw std::runtime_error("does not start");
    };
    EXPECT_THROW(output_of(one), std::runtime_error);
    stage.on_start_end = nullptr;
    std::stop_source stop;
    stop.request_stop();
    Data data;
    phy::MemorySource source({{"in", item_in}}, {data.in});
    phy::MemorySink sink({{"out", item_out}}, {data.out});
    EXPECT_TRUE(one.run(source, sink, stop.get_token()).cancelled);
    EXPECT_EQ(output_of(other), expected);
    EXPECT_EQ(output_of(one), expected);
}

TEST_P(StageUse, APipelineThatCannotBeMadeLetsGo) {
    FakeStage stage;
    stage.on_place = [](const phy::Place&) { throw std::runtime_error("not there"); };
    EXPECT_THROW(pipeline_of(stage), std::runtime_error);
    stage.on_place = nullptr;
    EXPECT_NO_THROW(pipeline_of(stage));
}

// Each gets its turn, as none waits for another.
TEST_P(StageUse, ManyThreadsShareAStageInTurns) {
    constexpr int threads = 4;
    constexpr int runs = 10;
    FakeStage stage;
    std::vector<Pipeline> pipelines;
    for (int i = 0; i < threads; ++i)
        pipelines.push_back(pipeline_of(stage));
    const std::vector<std::byte> expected = output_of(pipelines.front());
    std::atomic<int> complete = 0;
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> all;
        for (Pipeline& pipeline : pipelines) {
            all.emplace_back([&] {
                for (int done = 0; done < runs;) {
                    try {
                        wrong += output_of(pipeline) == expected ? 0 : 1;
                        ++complete;
                        ++done;
                    } catch (const phy::ArgumentError&) {
                        std::this_thread::yield();
                    }
                }
            });
        }
    }
    EXPECT_EQ(complete, threads * runs);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(stage.mistake(), "");
}

INSTANTIATE_TEST_SUITE_P(, StageUse, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
