#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "phy/cuda/buffer.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "pipeline/checked_run.hpp"
#include "support/contexts.hpp"
#include "support/parse_json.hpp"

/// What only devices have: memory of their own, engines that work side by side, a current one of each thread.
namespace {

using phy::Chunk;
using phy::IssueOrder;
using phy::Pipeline;
using phy::PipelineReport;
using phy::PipelineSpan;
using phy::Place;
using phy::gpu::DeviceBuffer;
using phy::gpu::PinnedBuffer;
using phy_test::FakeStage;
using phy_test::TestStream;
using Step = PipelineSpan::Step;

class CudaPipeline : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    static std::vector<Place> first_device() { return {phy::gpu::Device()}; }
};

/// The same pinned memory for every chunk.
class RepeatingSource : public phy::Source {
public:
    RepeatingSource(std::uint64_t items, std::size_t chunk)
        : items_(items), memory_(chunk * phy_test::item_in) {
        std::ranges::fill(memory_, std::byte{0x5A});
    }

    [[nodiscard]] std::uint64_t items() const override { return items_; }
    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<const std::byte>> arrays) override {
        arrays[0] = std::span<const std::byte>(memory_).first(chunk.items * phy_test::item_in);
        return true;
    }
    std::size_t fill(const Chunk& /*chunk*/, std::span<const std::span<std::byte>> /*arrays*/) override {
        return 0;
    }

private:
    std::uint64_t items_;
    PinnedBuffer<std::byte> memory_;
};

/// Pinned memory for each buffer set, in which the last item of every chunk is looked at.
class CheckingSink : public phy::Sink {
public:
    CheckingSink(std::size_t buffer_sets, std::size_t chunk) {
        for (std::size_t buffer_set = 0; buffer_set < buffer_sets; ++buffer_set)
            memory_.emplace_back(chunk * phy_test::item_out);
    }

    [[nodiscard]] bool view(const Chunk& chunk, std::span<std::span<std::byte>> arrays) override {
        arrays[0] = std::span<std::byte>(memory_[chunk.buffer_set]).first(chunk.items * phy_test::item_out);
        return true;
    }

    void take(const Chunk& chunk, std::span<const std::span<const std::byte>> arrays) override {
        const std::array input = {std::byte{0x5A}, std::byte{0x5A}, std::byte{0x5A}};
        std::array<std::byte, phy_test::item_out> expected{};
        const phy_test::StageShape shape;
        phy_test::Scramble last = scramble_of(shape, {.first = chunk.first + chunk.items - 1, .items = 1});
        last.in[0] = phy_test::scramble_array(input.data(), shape.inputs[0]);
        last.out[0] = phy_test::scramble_array(expected.data(), shape.outputs[0]);
        run_scramble(last);
        wrong_ += std::ranges::equal(arrays[0].last(phy_test::item_out), expected) ? 0 : 1;
    }

    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

private:
    std::vector<PinnedBuffer<std::byte>> memory_;
    std::uint64_t wrong_ = 0;
};

TEST_F(CudaPipeline, TakesMoreThanTheDeviceHolds) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "takes too long under slow tools";
    constexpr std::size_t chunk = std::size_t{8} << 20;
    const std::uint64_t items = phy::gpu::Device().memory() / phy_test::item_out + 2 * chunk + 1;
    FakeStage stage;
    Pipeline pipeline(first_device(), stage, {.chunk = chunk});
    RepeatingSource source(items, chunk);
    CheckingSink sink(pipeline.buffer_sets(), chunk);
    const PipelineReport report = pipeline.run(source, sink);
    EXPECT_EQ(report.items, items);
    EXPECT_EQ(sink.wrong(), 0U);
    EXPECT_EQ(stage.mistake(), "");
}

TEST_F(CudaPipeline, DeviceMemoryThatIsNotThereIsNamed) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "leaves too little memory for tools";
    const phy::gpu::Device device;
    const std::size_t left = std::size_t{256} << 20;
    const DeviceBuffer<std::byte> most(device, device.free_memory() - left);
    FakeStage stage;
    try {
        const Pipeline pipeline(first_device(), stage, {.chunk = left / 4, .buffer_sets = 2});
        FAIL() << "all of it was to be had";
    } catch (const phy::Error& error) {
        const std::string text = error.what();
        for (const std::string word : {"cuda[0]", "out of GPU memory", "2 chunks"})
            EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    Pipeline small(first_device(), stage, {.chunk = 1000, .buffer_sets = 2});
    EXPECT_EQ(phy_test::mistake_of_run(small, stage, TestStream(10'000)), "") << "after it";
}

TEST_F(CudaPipeline, CyclesLeaveTheMemoryOfTheDeviceAlone) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools use device memory themselves";
    const TestStream stream(1000);
    const auto cycle = [&] {
        FakeStage stage;
        Pipeline pipeline(first_device(), stage, {.chunk = 100, .buffer_sets = 3});
        ASSERT_EQ(phy_test::mistake_of_run(pipeline, stage, stream), "");
    };
    for (int i = 0; i < 10; ++i)
        ASSERT_NO_FATAL_FAILURE(cycle());
    EXPECT_TRUE(phy_test::keeps_free_memory(phy::gpu::Device(), [&] {
        for (int i = 0; i < 1000 && !HasFatalFailure(); ++i)
            cycle();
    }));
}

TEST_F(CudaPipeline, AStageRunsWithItsDeviceCurrent) {
    for (const phy::gpu::Device& device : phy::gpu::Device::all()) {
        FakeStage stage;
        int current = -1;
        stage.on_place = [&](const Place&) { cudaGetDevice(&current); };
        Pipeline pipeline({device}, stage);
        EXPECT_EQ(current, device.ordinal());
        stage.on_start_end = [&](const std::string& what) {
            current = -1;
            cudaGetDevice(&current);
            const bool is_of_place = what != "start" && what != "end";
            EXPECT_TRUE(!is_of_place || current == device.ordinal()) << what;
        };
        EXPECT_EQ(phy_test::mistake_of_run(pipeline, stage, TestStream(100'000)), "") << device.ordinal();
    }
}

TEST(CudaPipelineDeathTest, OneDeviceMakesNoContextOnAnother) {
    PHY_NEEDS_GPU();
    phy_test::expect_context_on_last_device_alone([](const phy::gpu::Device& device) {
        FakeStage stage;
        Pipeline pipeline({device}, stage, {.chunk = 1000});
        if (!phy_test::mistake_of_run(pipeline, stage, TestStream(100'000)).empty()) std::_Exit(2);
    });
}

/// Whether a span of that step overlaps one of the other step, of another chunk.
bool overlap(const std::vector<PipelineSpan>& spans, Step one, Step other) {
    return std::ranges::any_of(spans, [&](const PipelineSpan& a) {
        return a.step == one && std::ranges::any_of(spans, [&](const PipelineSpan& b) {
                   return b.step == other && a.chunk.index != b.chunk.index && a.begin < b.end &&
                          b.begin < a.end;
               });
    });
}

// In both, so that one order cannot hide that the other serialises.
TEST_F(CudaPipeline, StepsOfDifferentChunksOverlap) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools keep steps from overlapping";
    constexpr std::size_t items = std::size_t{32} << 20;
    constexpr std::size_t chunk = std::size_t{2} << 20;
    for (const IssueOrder order : {IssueOrder::sequential, IssueOrder::parallel}) {
        FakeStage stage;
        Pipeline pipeline(first_device(), stage,
                          {.chunk = chunk, .buffer_sets = 4, .order = order, .trace = true});
        RepeatingSource source(items, chunk);
        CheckingSink sink(pipeline.buffer_sets(), chunk);
        const PipelineReport report = pipeline.run(source, sink);
        EXPECT_TRUE(overlap(report.spans, Step::copy_in, Step::copy_out)) << to_string(order);
        EXPECT_TRUE(overlap(report.spans, Step::copy_in, Step::work)) << to_string(order);
        EXPECT_TRUE(overlap(report.spans, Step::work, Step::copy_out)) << to_string(order);
        EXPECT_FALSE(overlap(report.spans, Step::copy_in, Step::copy_in)) << "one engine";
        EXPECT_LE(report.busy[1].seconds, report.seconds) << "copy_in";
        const phy::test::JsonValue trace = phy::test::parse_json(trace_events(report));
        EXPECT_GE(trace["traceEvents"].array().size(), report.spans.size());
    }
}

/// As one whose code is loaded when it first runs.
class LateStage : public FakeStage {
public:
    static constexpr double delay = 0.05;

    LateStage() {
        hooks.hook = [](phy_test::Call, const Chunk& chunk) {
            if (chunk.index == 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
        };
    }
};

TEST_F(CudaPipeline, TheFirstChunkStandsForOthersOnlyWhereNoneIsTimed) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools slow every chunk down";
    constexpr std::size_t chunk = 1000;
    const auto seconds_of_work = [&](std::uint64_t chunks, bool trace) {
        LateStage stage;
        Pipeline pipeline(first_device(), stage, {.chunk = chunk, .buffer_sets = 3, .trace = trace});
        RepeatingSource source(chunks * chunk, chunk);
        CheckingSink sink(pipeline.buffer_sets(), chunk);
        const PipelineReport report = pipeline.run(source, sink);
        EXPECT_EQ(report.items, chunks * chunk);
        EXPECT_EQ(report.busy[2].step, stage.name());
        return report.busy[2].seconds;
    };
    EXPECT_GE(seconds_of_work(1, false), 0.9 * LateStage::delay);
    EXPECT_GE(seconds_of_work(3, false), 3 * 0.9 * LateStage::delay);
    EXPECT_LT(seconds_of_work(4, false), LateStage::delay);
    EXPECT_LT(seconds_of_work(100, false), LateStage::delay);
    EXPECT_GE(seconds_of_work(100, true), 0.9 * LateStage::delay) << "all of them are timed";
}

TEST_F(CudaPipeline, SerialStepsDoNotOverlap) {
    FakeStage stage;
    Pipeline pipeline(first_device(), stage, {.chunk = 100'000, .order = IssueOrder::serial, .trace = true});
    RepeatingSource source(1'000'000, 100'000);
    CheckingSink sink(pipeline.buffer_sets(), 100'000);
    const PipelineReport report = pipeline.run(source, sink);
    for (const Step one : {Step::copy_in, Step::work, Step::copy_out}) {
        for (const Step other : {Step::copy_in, Step::work, Step::copy_out})
            EXPECT_FALSE(overlap(report.spans, one, other));
    }
}

}  // namespace
