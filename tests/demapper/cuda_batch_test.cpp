#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "demapper/cuda_calls.hpp"
#include "demapper/mixed_calls.hpp"

namespace {

using phy::DemapCounters;
using phy::SoftBitFormat;
using phy::gpu::BatchDemapper;
using phy_test::BatchKind;
using phy_test::DeviceCallMemory;
using phy_test::RecordedCalls;

static_assert(!std::is_copy_constructible_v<BatchDemapper>);
static_assert(std::is_nothrow_move_constructible_v<BatchDemapper>);

/// A batch demapper that is prepared for mixed calls.
BatchDemapper prepared(const phy::gpu::Device& device, const BatchKind& kind) {
    BatchDemapper demap(device, kind.config());
    for (const phy::Modulation modulation : phy::all_modulations) {
        for (const float n0 : phy_test::mixed_noise) {
            for (const SoftBitFormat format : phy::all_soft_bit_formats)
                demap.prepare(modulation, n0, format);
        }
    }
    return demap;
}

void expect_single_calls(const BatchDemapper& demap, DeviceCallMemory& memory,
                         const RecordedCalls& recorded) {
    demap(recorded.calls(memory.fill(recorded)), memory.stream());
    ASSERT_EQ(recorded.difference(memory.contents()), "") << "seed " << phy_test::awkward_seed;
}

class CudaBatchOf : public testing::TestWithParam<BatchKind> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_P(CudaBatchOf, EqualsSingleCallsAndTheirCounters) {
    const phy::gpu::Device device;
    const BatchDemapper demap = prepared(device, GetParam());
    phy_test::MixedCalls mixed(GetParam());
    DeviceCallMemory memory(device);
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const std::size_t count : {1U, 2U, 64U, 256U, 257U, 300U, 700U}) {
            const RecordedCalls recorded = mixed.take(count, format);
            SCOPED_TRACE(count);
            ASSERT_NO_FATAL_FAILURE(expect_single_calls(demap, memory, recorded));
            if (count != 2U && count != 300U) continue;
            phy_test::DeviceCounters counters(device, {.erasures = 5, .saturated = 6});
            demap(recorded.calls(memory.fill(recorded)), memory.stream(), counters.get());
            ASSERT_EQ(recorded.difference(memory.contents()), "") << "counted";
            const DemapCounters expected = recorded.counters();
            EXPECT_EQ(counters.value().erasures, expected.erasures + 5);
            EXPECT_EQ(counters.value().saturated, expected.saturated + 6);
        }
    }
}

// One by one, so that a family of kernels that a batch of one uses is met by every kind of allocation.
TEST_P(CudaBatchOf, OfOneAfterAnotherNeedsNoWait) {
    const phy::gpu::Device device;
    const BatchDemapper demap = prepared(device, GetParam());
    phy_test::MixedCalls mixed(GetParam());
    DeviceCallMemory memory(device);
    const RecordedCalls recorded = mixed.take(200, SoftBitFormat::int8);
    const std::vector<phy::gpu::Allocation> calls = recorded.calls(memory.fill(recorded));
    for (const phy::gpu::Allocation& call : calls)
        demap({&call, 1}, memory.stream());
    EXPECT_EQ(recorded.difference(memory.contents()), "");
}

INSTANTIATE_TEST_SUITE_P(, CudaBatchOf, testing::ValuesIn(phy_test::all_batch_kinds()),
                         [](const auto& kind) { return name_of(kind.param); });

class CudaBatchDemapper : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// The call throws an error that names the flawed allocation, and nothing was written.
    static void expect_refusal(const BatchDemapper& demap, const RecordedCalls& recorded,
                               DeviceCallMemory& memory, std::span<const phy::gpu::Allocation> calls) {
        phy_test::DeviceCounters counters(demap.device(), {.erasures = 3, .saturated = 4});
        const auto said = phy_test::argument_error_of([&] { demap(calls, memory.stream()); });
        ASSERT_TRUE(said.has_value());
        EXPECT_NE(said->find(std::to_string(phy_test::flawed_place)), std::string::npos) << *said;
        EXPECT_EQ(phy_test::argument_error_of([&] { demap(calls, memory.stream(), counters.get()); }), said);
        EXPECT_TRUE(std::ranges::equal(memory.contents(), recorded.before()));
        EXPECT_EQ(counters.value(), (DemapCounters{.erasures = 3, .saturated = 4}));
    }
};

TEST_F(CudaBatchDemapper, ServesOneLargeAllocationAmongSmallOnes) {
    const phy_test::Input input(phy::SampleFormat::cf32,
                                phy_test::awkward_symbols(phy::Modulation::qam64, 500'000));
    phy::SoftDemapper scalar(phy_test::scalar_host(), {.modulation = phy::Modulation::qam64});
    const std::vector<phy_test::Window> windows = {{.first = 3, .count = 2},
                                                   {.first = 0, .count = 500'000},
                                                   {.first = 9, .count = 0},
                                                   {.first = 7, .count = 400'001, .out_offset = 3},
                                                   {.first = 2, .count = 1}};
    const phy::gpu::Device device;
    const BatchDemapper demap(device, {});
    DeviceCallMemory memory(device);
    expect_single_calls(
        demap, memory,
        phy_test::recorded_calls(scalar, input, {true, 0.0F}, SoftBitFormat::float32, windows));
}

TEST_F(CudaBatchDemapper, TakesEmptyBatches) {
    const phy::gpu::Device device;
    const BatchDemapper demap(device, {});
    const phy::gpu::Stream stream(device);
    phy_test::DeviceCounters counters(device, {.erasures = 3, .saturated = 4});
    demap({}, stream);
    demap({}, stream, counters.get());
    const std::vector<phy::gpu::Allocation> nothing(
        300, {phy::Modulation::qpsk, {}, 0.1F, phy::gpu::SoftBitSpan()});
    demap(nothing, stream, counters.get());
    stream.synchronize();
    EXPECT_EQ(counters.value(), (DemapCounters{.erasures = 3, .saturated = 4}));
}

TEST_F(CudaBatchDemapper, NamesAnInvalidAllocationAndStartsNothing) {
    const phy::gpu::Device device;
    const BatchDemapper demap(device, {});
    const RecordedCalls recorded = phy_test::plain_batch();
    DeviceCallMemory memory(device);
    for (const auto& flaw : phy_test::all_flaws<phy::gpu::Allocation>()) {
        SCOPED_TRACE(flaw.name);
        std::vector<phy::gpu::Allocation> calls = recorded.calls(memory.fill(recorded));
        flaw.add_to(calls[phy_test::flawed_place]);
        ASSERT_NO_FATAL_FAILURE(expect_refusal(demap, recorded, memory, calls));
    }
    EXPECT_NO_FATAL_FAILURE(expect_single_calls(demap, memory, recorded)) << "after errors";
}

TEST_F(CudaBatchDemapper, NamesAnAllocationWithoutATable) {
    const phy::gpu::Device device;
    BatchDemapper demap(device, {.llr = {.evaluator = phy::Evaluator::table}});
    phy::SoftDemapper scalar(phy_test::scalar_host(), {.modulation = phy::Modulation::qam16,
                                                       .llr = {.evaluator = phy::Evaluator::table}});
    const phy_test::Input input(phy::SampleFormat::cf32,
                                phy_test::awkward_symbols(phy::Modulation::qam16, 20));
    const std::vector<phy_test::Window> windows(200, {.first = 1, .count = 11});
    const RecordedCalls recorded =
        phy_test::recorded_calls(scalar, input, {false, 0.1F}, SoftBitFormat::int8, windows);
    DeviceCallMemory memory(device);
    demap.prepare(phy::Modulation::qam16, 0.1F, SoftBitFormat::int8);
    std::vector<phy::gpu::Allocation> calls = recorded.calls(memory.fill(recorded));
    calls[phy_test::flawed_place].noise = 0.11F;
    ASSERT_NO_FATAL_FAILURE(expect_refusal(demap, recorded, memory, calls));
    ASSERT_NO_FATAL_FAILURE(expect_single_calls(demap, memory, recorded));

    demap.prepare(phy::Modulation::qam16, 0.11F, SoftBitFormat::int8);
    EXPECT_NO_THROW(demap(calls, memory.stream()));
    memory.contents();

    demap.clear_tables();
    EXPECT_THROW(demap(calls, memory.stream()), phy::ArgumentError);
    demap.prepare(phy::Modulation::qam16, 0.1F, SoftBitFormat::int8);
    EXPECT_NO_FATAL_FAILURE(expect_single_calls(demap, memory, recorded)) << "with a new table";
}

TEST_F(CudaBatchDemapper, PreparesForUsableNoiseOnly) {
    for (const phy::Evaluator evaluator : {phy::Evaluator::arithmetic, phy::Evaluator::table}) {
        BatchDemapper demap(phy::gpu::Device(), {.llr = {.evaluator = evaluator}});
        for (const float n0 : phy_test::unusable_noise()) {
            EXPECT_THROW(demap.prepare(phy::Modulation::qam16, n0, SoftBitFormat::int8), phy::ArgumentError)
                << n0;
        }
    }
}

TEST_F(CudaBatchDemapper, RefusesValuesOutOfRange) {
    const phy::gpu::Device device;
    for (const float scale : {0.0F, -6.0F, 1.0F / 65.0F, 4097.0F, std::nanf(""), HUGE_VALF})
        EXPECT_THROW(BatchDemapper(device, {.llr = {.scale = scale}}), phy::ArgumentError) << scale;
    for (const int clip : {0, -1, 128, std::numeric_limits<int>::max()})
        EXPECT_THROW(BatchDemapper(device, {.llr = {.clip = clip}}), phy::ArgumentError) << clip;
}

TEST_F(CudaBatchDemapper, ReportsWhatItWasGiven) {
    const phy::gpu::Device device = phy::gpu::Device::all().back();
    const phy::BatchDemapperConfig config = {.llr = {.method = phy::Method::log_map,
                                                     .evaluator = phy::Evaluator::table,
                                                     .scale = 2.0F,
                                                     .clip = 31},
                                             .full_scale = 9.0F};
    const BatchDemapper demap(device, config);
    EXPECT_EQ(demap.device(), device);
    EXPECT_EQ(demap.config(), config);
}

TEST_F(CudaBatchDemapper, KeepsItsTablesWhenMoved) {
    const phy::gpu::Device device;
    const BatchKind kind{phy::Method::log_map, phy::Evaluator::automatic};
    const RecordedCalls recorded = phy_test::MixedCalls(kind).take(30, SoftBitFormat::int8);
    DeviceCallMemory memory(device);
    BatchDemapper first = prepared(device, kind);
    BatchDemapper second = std::move(first);
    ASSERT_NO_FATAL_FAILURE(expect_single_calls(second, memory, recorded));
    BatchDemapper third(device, {.llr = {.clip = 1}});
    third = std::move(second);
    ASSERT_NO_FATAL_FAILURE(expect_single_calls(third, memory, recorded));
}

}  // namespace
