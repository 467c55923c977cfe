#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "pipeline/checked_run.hpp"

/// Pipelines come and go, and nothing of them stays.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::Pipeline;
using phy::PipelineReport;

// Sanitizers keep freed memory.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_can_be_measured = false;
#elif defined(__has_feature)
constexpr bool memory_can_be_measured = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool memory_can_be_measured = true;
#endif

/// A number that the kernel knows of this process.
long status(const std::string& name) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
    }
    throw std::runtime_error("/proc/self/status has no " + name);
}

class Cycles : public OnPlaces {
protected:
    static constexpr std::size_t chunk_items = 4096;
    const TestStream stream_ = TestStream(5 * chunk_items + 100);

    enum Ending { complete, cancelled_by_source, cancelled_by_stage, source_throws, sink_throws, endings };

    static CallHook hook_of(int ending, std::stop_source& stop) {
        return [ending, &stop](Call call, const Chunk& chunk) {
            if (ending == cancelled_by_source && call == Call::fill && chunk.index == 3) stop.request_stop();
            if (ending == cancelled_by_stage && call == Call::work && chunk.index == 2) stop.request_stop();
            if (ending == source_throws && call == Call::fill && chunk.index == 4)
                throw std::runtime_error("source");
            if (ending == sink_throws && call == Call::take && chunk.index == 1)
                throw std::runtime_error("sink");
        };
    }

    /// A life of a pipeline; number chooses which.
    void live(int number) const {
        const int ending = number % endings;
        FakeStage stage;
        Pipeline pipeline(places(), stage,
                          {.chunk = chunk_items,
                           .buffer_sets = static_cast<std::size_t>(1 + number / endings % 4),
                           .order = all_orders[static_cast<std::size_t>(number / 20) % 3],
                           .trace = number % 2 == 0});
        std::stop_source stop;
        CheckedRun checked(stream_, SourceMode::fill, SinkMode::take, {.hook = hook_of(ending, stop)});
        const bool throws = ending == source_throws || ending == sink_throws;
        try {
            const PipelineReport report = checked.run(pipeline, stage, stop.get_token());
            EXPECT_FALSE(throws);
            EXPECT_EQ(ending == complete ? checked.mistake(report) : checked.mistake_of_cancelled(report),
                      "");
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), ending == source_throws ? "source" : "sink");
            EXPECT_EQ(checked.mistake(), "");
        }
    }

    void live(int from, int to) const {
        for (int number = from; number < to && !HasFailure(); ++number)
            live(number);
    }
};

TEST_P(Cycles, LeaveNoThreadsAndNoMemory) {
    constexpr long allowed_kib = 4 * 1024;
    live(0, 120);
    const long threads = status("Threads");
    const long resident = status("VmRSS");
    live(120, 120 + fewer_times(1000));
    EXPECT_EQ(status("Threads"), threads);
    if (memory_can_be_measured) {
        EXPECT_LT(status("VmRSS"), resident + allowed_kib);
    }
}

TEST_P(Cycles, OfRunsOfOnePipelineLeaveNothingEither) {
    constexpr long allowed_kib = 4 * 1024;
    FakeStage stage;
    Pipeline pipeline(places(), stage, {.chunk = chunk_items, .buffer_sets = 3, .trace = true});
    const auto run = [&](int from, int to) {
        for (int number = from; number < to && !HasFailure(); ++number) {
            std::stop_source stop;
            CheckedRun checked(stream_, SourceMode::fill, SinkMode::take,
                               {.hook = hook_of(number % endings, stop)});
            try {
                checked.run(pipeline, stage, stop.get_token());
            } catch (const std::runtime_error&) {
            }
            stage.where.clear();
            ASSERT_EQ(checked.mistake(), "");
        }
    };
    run(0, 100);
    const long threads = status("Threads");
    const long resident = status("VmRSS");
    run(100, 100 + fewer_times(500));
    EXPECT_EQ(status("Threads"), threads);
    if (memory_can_be_measured) {
        EXPECT_LT(status("VmRSS"), resident + allowed_kib);
    }
    EXPECT_EQ(mistake_of_run(pipeline, stage, stream_), "");
}

INSTANTIATE_TEST_SUITE_P(, Cycles, testing::ValuesIn(place_sets()), name_of_set);

}  // namespace
