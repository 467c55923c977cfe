#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "apps/parse_json.hpp"
#include "demapper/pool.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/soft_demap_stage.hpp"
#include "phy/pipeline/trace.hpp"
#include "pipeline/trial.hpp"

/// What only devices have: memory of their own, engines that work side by side, a current one of each thread.
namespace {

using phy::Backend;
using phy::Chunk;
using phy::IssueOrder;
using phy::Modulation;
using phy::Pipeline;
using phy::PipelineReport;
using phy::PipelineSpan;
using phy::SoftDemapStage;
using phy::gpu::DeviceBuffer;
using phy::gpu::PinnedBuffer;
using phy_test::FakeStage;
using phy_test::Stream;
using Step = PipelineSpan::Step;

class CudaPipeline : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    static std::vector<Backend> first_device() { return {Backend::parse("cuda")}; }
};

/// The same pinned memory for every chunk.
class RepeatingSource : public phy::Source {
public:
    RepeatingSource(std::uint64_t items, std::size_t chunk)
        : items_(items), memory_(chunk * phy_test::item_in) {
        std::ranges::fill(memory_, std::byte{0x5A});
    }

    [[nodiscard]] std::uint64_t items() const override { return items_; }
    [[nodiscard]] std::span<const std::byte> view(const Chunk& chunk) override {
        return std::span<const std::byte>(memory_).first(chunk.items * phy_test::item_in);
    }
    std::size_t fill(const Chunk& /*chunk*/, std::span<std::byte> /*input*/) override { return 0; }

private:
    std::uint64_t items_;
    PinnedBuffer<std::byte> memory_;
};

/// Pinned memory for each lane, in which the last item of every chunk is looked at.
class CheckingSink : public phy::Sink {
public:
    CheckingSink(std::size_t lanes, std::size_t chunk) {
        for (std::size_t lane = 0; lane < lanes; ++lane)
            memory_.emplace_back(chunk * phy_test::item_out);
    }

    [[nodiscard]] std::span<std::byte> view(const Chunk& chunk) override {
        return std::span<std::byte>(memory_[chunk.lane]).first(chunk.items * phy_test::item_out);
    }

    void take(const Chunk& chunk, std::span<const std::byte> output) override {
        const std::array input = {std::byte{0x5A}, std::byte{0x5A}, std::byte{0x5A}};
        std::array<std::byte, phy_test::item_out> expected{};
        phy_test::put_item(chunk.first + chunk.items - 1, input.data(), expected.data());
        wrong_ += std::ranges::equal(output.last(phy_test::item_out), expected) ? 0 : 1;
    }

    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

private:
    std::vector<PinnedBuffer<std::byte>> memory_;
    std::uint64_t wrong_ = 0;
};

TEST_F(CudaPipeline, TakesMoreThanTheDeviceHolds) {
    if (phy_test::is_thin()) GTEST_SKIP() << "takes too long under slow tools";
    constexpr std::size_t chunk = std::size_t{8} << 20;
    const std::uint64_t items = phy::gpu::Device().memory() / phy_test::item_out + 2 * chunk + 1;
    FakeStage stage;
    Pipeline pipeline({.backends = first_device(), .chunk = chunk}, stage);
    RepeatingSource source(items, chunk);
    CheckingSink sink(pipeline.lanes(), chunk);
    const PipelineReport report = pipeline.run(source, sink);
    EXPECT_EQ(report.items, items);
    EXPECT_EQ(sink.wrong(), 0U);
    EXPECT_EQ(stage.fault(), "");
}

TEST_F(CudaPipeline, DeviceMemoryThatIsNotThereIsNamed) {
    if (phy_test::is_thin()) GTEST_SKIP() << "leaves too little memory for tools";
    const phy::gpu::Device device;
    const std::size_t left = std::size_t{256} << 20;
    const DeviceBuffer<std::byte> most(device, device.free_memory() - left);
    FakeStage stage;
    try {
        const Pipeline pipeline({.backends = first_device(), .chunk = left / 4, .lanes = 2}, stage);
        FAIL() << "all of it was to be had";
    } catch (const phy::Error& error) {
        const std::string text = error.what();
        for (const std::string word : {"cuda[0]", "out of GPU memory", "2 chunks"})
            EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    Pipeline small({.backends = first_device(), .chunk = 1000, .lanes = 2}, stage);
    EXPECT_EQ(phy_test::flaw_of_run(small, stage, Stream(10'000)), "") << "after it";
}

TEST_F(CudaPipeline, CyclesLeaveTheMemoryOfTheDeviceAlone) {
    if (phy_test::is_thin()) GTEST_SKIP() << "tools use device memory themselves";
    const Stream stream(1000);
    const auto cycle = [&] {
        FakeStage stage;
        Pipeline pipeline({.backends = first_device(), .chunk = 100, .lanes = 3}, stage);
        ASSERT_EQ(phy_test::flaw_of_run(pipeline, stage, stream), "");
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
        const std::vector<Backend> backends = {
            Backend::parse("cuda[" + std::to_string(device.ordinal()) + "]")};
        FakeStage stage;
        int current = -1;
        stage.on_prepare = [&] { cudaGetDevice(&current); };
        Pipeline pipeline({.backends = backends}, stage);
        EXPECT_EQ(current, device.ordinal());
        EXPECT_EQ(phy_test::flaw_of_run(pipeline, stage, Stream(100'000)), "") << device.ordinal();
    }
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
    if (phy_test::is_thin()) GTEST_SKIP() << "tools keep steps from overlapping";
    constexpr std::size_t items = std::size_t{32} << 20;
    constexpr std::size_t chunk = std::size_t{2} << 20;
    for (const IssueOrder order : {IssueOrder::sequential, IssueOrder::parallel}) {
        FakeStage stage;
        Pipeline pipeline(
            {.backends = first_device(), .chunk = chunk, .lanes = 4, .order = order, .trace = true}, stage);
        RepeatingSource source(items, chunk);
        CheckingSink sink(pipeline.lanes(), chunk);
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

    void run(const Chunk& chunk, std::span<const std::byte> input, std::span<std::byte> output,
             const Place& place) override {
        if (chunk.index == 0) std::this_thread::sleep_for(std::chrono::duration<double>(delay));
        FakeStage::run(chunk, input, output, place);
    }
};

TEST_F(CudaPipeline, TheFirstChunkStandsForOthersOnlyWhereNoneIsTimed) {
    if (phy_test::is_thin()) GTEST_SKIP() << "tools slow every chunk down";
    constexpr std::size_t chunk = 1000;
    const auto seconds_of_work = [&](std::uint64_t chunks, bool trace) {
        LateStage stage;
        Pipeline pipeline({.backends = first_device(), .chunk = chunk, .lanes = 3, .trace = trace}, stage);
        RepeatingSource source(chunks * chunk, chunk);
        CheckingSink sink(pipeline.lanes(), chunk);
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
    Pipeline pipeline(
        {.backends = first_device(), .chunk = 100'000, .order = IssueOrder::serial, .trace = true}, stage);
    RepeatingSource source(1'000'000, 100'000);
    CheckingSink sink(pipeline.lanes(), 100'000);
    const PipelineReport report = pipeline.run(source, sink);
    for (const Step one : {Step::copy_in, Step::work, Step::copy_out}) {
        for (const Step other : {Step::copy_in, Step::work, Step::copy_out})
            EXPECT_FALSE(overlap(report.spans, one, other));
    }
}

/// By the scalar backend and by the pipeline, in one call and in chunks.
void expect_scalar_bytes(const SoftDemapStage::Config& config, const phy_test::Input& input,
                         std::size_t chunk) {
    phy::SoftDemapper scalar({.modulation = config.modulation, .backend = Backend::scalar()});
    const phy_test::NoiseKind noise = {!config.noise_variance, config.noise_variance.value_or(0.0F)};
    const phy_test::Bytes expected = phy_test::demapped(scalar, input, noise, config.output);
    SoftDemapStage stage(config);
    Pipeline pipeline({.backends = {Backend::parse("cuda")}, .chunk = chunk}, stage);
    phy_test::Bytes found(expected.size());

    class Filling : public phy::Source {
    public:
        Filling(const SoftDemapStage& stage, const phy_test::Input& input) : stage_(stage), input_(input) {}
        [[nodiscard]] std::uint64_t items() const override { return input_.size(); }
        std::size_t fill(const Chunk& chunk, std::span<std::byte> to) override {
            const std::size_t bytes = size_of(input_.format());
            const std::span<const std::byte> samples = input_.bytes();
            std::ranges::copy(samples.subspan(chunk.first * bytes, chunk.items * bytes), to.begin());
            const std::span<float> noise = stage_.noise_of(to, chunk.items);
            if (!noise.empty())
                std::ranges::copy(std::span(input_.noise()).subspan(chunk.first, chunk.items), noise.begin());
            return chunk.items;
        }

    private:
        const SoftDemapStage& stage_;
        const phy_test::Input& input_;
    };
    Filling source(stage, input);
    phy::MemorySink sink(found, stage.output_bytes(1));
    pipeline.run(source, sink);
    ASSERT_TRUE(found == expected) << to_string(config.modulation) << ", chunks of " << chunk;
}

TEST_F(CudaPipeline, DemapsAsTheScalarBackend) {
    for (const Modulation modulation : phy::all_modulations) {
        const phy_test::Input input(phy::SampleFormat::cf32, phy_test::awkward_pool(modulation, 5000));
        for (const std::size_t chunk : {1U, 777U, 4999U, 100'000U}) {
            if (chunk == 1 && modulation != Modulation::pi2_bpsk) continue;
            if (chunk != 777 && phy_test::is_thin()) continue;
            for (const std::optional<float> noise : {std::optional(0.01F), std::optional<float>()}) {
                for (const phy::SoftBitFormat output : phy::all_soft_bit_formats)
                    ASSERT_NO_FATAL_FAILURE(expect_scalar_bytes(
                        {.modulation = modulation, .output = output, .noise_variance = noise}, input, chunk));
            }
        }
    }
}

}  // namespace
