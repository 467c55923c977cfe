#include <gtest/gtest.h>

#include <limits>
#include <type_traits>
#include <utility>

#include "demapper/mixed_calls.hpp"

namespace {

using phy::BatchDemapper;
using phy::DemapCounters;
using phy::Host;
using phy::SoftBitFormat;
using phy_test::AlignedBytes;
using phy_test::BatchKind;
using phy_test::RecordedCalls;

static_assert(!std::is_copy_constructible_v<BatchDemapper>);
static_assert(std::is_nothrow_move_constructible_v<BatchDemapper>);

BatchDemapper on(const phy::Backend& backend, int threads, const BatchKind& kind) {
    return BatchDemapper(phy_test::host_of(backend, threads), kind.config());
}

void expect_single_calls(BatchDemapper& demap, const RecordedCalls& recorded,
                         DemapCounters* counters = nullptr) {
    AlignedBytes memory(recorded.before());
    demap(recorded.calls(memory.bytes()), counters);
    ASSERT_EQ(recorded.difference(memory.bytes()), "")
        << demap.host().backend().name() << ", " << demap.host().threads() << " threads, seed "
        << phy_test::awkward_seed;
}

class BatchOf : public testing::TestWithParam<BatchKind> {
protected:
    /// Calls check(demapper) for all backends, alone and shared by threads.
    template <typename Check>
    static void for_all_demappers(const BatchKind& kind, Check check) {
        for (const phy::Backend& backend : phy_test::host_backends()) {
            for (const int threads : {1, 3}) {
                BatchDemapper demap = on(backend, threads, kind);
                if (HasFatalFailure()) return;
                check(demap);
            }
        }
    }
};

// The sizes go up and down, so that what a demapper keeps between calls is too small, and too large.
TEST_P(BatchOf, EqualsSingleCalls) {
    phy_test::MixedCalls calls(GetParam());
    std::vector<RecordedCalls> recordings;
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const std::size_t count : {2U, 1U, 300U, 64U})
            recordings.push_back(calls.take(count, format));
    }
    for_all_demappers(GetParam(), [&](BatchDemapper& demap) {
        for (const RecordedCalls& recorded : recordings)
            ASSERT_NO_FATAL_FAILURE(expect_single_calls(demap, recorded));
    });
}

TEST_P(BatchOf, AddsWhatSingleCallsCount) {
    for (const int clip : {1, 31, 127}) {
        BatchKind kind = GetParam();
        kind.llr_clip = clip;
        phy_test::MixedCalls calls(kind);
        for (const SoftBitFormat format : phy::all_soft_bit_formats) {
            const RecordedCalls recorded = calls.take(40, format);
            DemapCounters expected = recorded.counters(clip);
            expected.erasures += 1000;
            expected.saturated += 2000;
            for_all_demappers(kind, [&](BatchDemapper& demap) {
                DemapCounters counters{.erasures = 1000, .saturated = 2000};
                ASSERT_NO_FATAL_FAILURE(expect_single_calls(demap, recorded, &counters));
                EXPECT_EQ(counters.erasures, expected.erasures);
                EXPECT_EQ(counters.saturated, expected.saturated);
            });
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, BatchOf, testing::ValuesIn(phy_test::all_batch_kinds()),
                         [](const auto& kind) { return name_of(kind.param); });

TEST(BatchDemapper, ServesOneLargeAllocationAmongSmallOnes) {
    const phy_test::Input input(phy::SampleFormat::cf32,
                                phy_test::awkward_symbols(phy::Modulation::qam64, 50'000));
    phy::SoftDemapper scalar(phy_test::scalar_host(), {.modulation = phy::Modulation::qam64});
    const std::vector<phy_test::Window> windows = {{.first = 3, .count = 2},
                                                   {.first = 0, .count = 50'000, .in_offset = 1},
                                                   {.first = 9, .count = 0},
                                                   {.first = 7, .count = 40'001, .out_offset = 3}};
    const RecordedCalls recorded =
        phy_test::recorded_calls(scalar, input, {true, 0.0F}, SoftBitFormat::float32, windows);
    for (const phy::Backend& backend : phy_test::host_backends()) {
        for (const int threads : {1, 3}) {
            BatchDemapper demap(phy_test::host_of(backend, threads), {});
            ASSERT_NO_FATAL_FAILURE(expect_single_calls(demap, recorded));
        }
    }
}

TEST(BatchDemapper, TakesEmptyBatches) {
    for (const int threads : {1, 3}) {
        BatchDemapper demap(phy_test::host_of(phy::Backend::best(), threads), {});
        DemapCounters counters{.erasures = 3, .saturated = 4};
        demap({});
        demap({}, &counters);
        const std::vector<phy::Allocation> nothing(5, {phy::Modulation::qpsk, {}, 0.1F, phy::SoftBitSpan()});
        demap(nothing, &counters);
        EXPECT_EQ(counters, (DemapCounters{.erasures = 3, .saturated = 4}));
    }
}

TEST(BatchDemapper, NamesAnInvalidAllocationAndWritesNothing) {
    const RecordedCalls recorded = phy_test::plain_batch();
    for (const int threads : {1, 3}) {
        BatchDemapper demap(phy_test::host_of(phy::Backend::best(), threads), {});
        for (const auto& flaw : phy_test::all_flaws<phy::Allocation>()) {
            SCOPED_TRACE(flaw.name);
            AlignedBytes memory(recorded.before());
            std::vector<phy::Allocation> calls = recorded.calls(memory.bytes());
            flaw.add_to(calls[phy_test::flawed_place]);
            DemapCounters counters{.erasures = 3, .saturated = 4};
            const auto said = phy_test::argument_error_of([&] { demap(calls); });
            ASSERT_TRUE(said.has_value());
            EXPECT_NE(said->find(std::to_string(phy_test::flawed_place)), std::string::npos) << *said;
            EXPECT_EQ(phy_test::argument_error_of([&] { demap(calls, &counters); }), said);
            EXPECT_TRUE(std::ranges::equal(memory.bytes(), recorded.before()));
            EXPECT_EQ(counters, (DemapCounters{.erasures = 3, .saturated = 4}));
        }
        EXPECT_NO_FATAL_FAILURE(expect_single_calls(demap, recorded)) << "after errors";
    }
}

TEST(BatchDemapper, RefusesValuesOutOfRange) {
    for (const float scale : {0.0F, -6.0F, 1.0F / 65.0F, 4097.0F, std::nanf(""), HUGE_VALF})
        EXPECT_THROW(BatchDemapper(Host(), {.llr = {.scale = scale}}), phy::ArgumentError) << scale;
    for (const int clip : {0, -1, 128, std::numeric_limits<int>::max()})
        EXPECT_THROW(BatchDemapper(Host(), {.llr = {.clip = clip}}), phy::ArgumentError) << clip;
}

TEST(BatchDemapper, UsesScaleClipAndFullScale) {
    const std::vector<phy::ci16> symbols = {{1000, -300}, {-77, 1234}};
    std::vector<std::int8_t> expected(8);
    std::vector<std::int8_t> soft_bits(8);
    const phy::DemapperConfig config = {
        .modulation = phy::Modulation::qam16, .llr = {.scale = 2.0F, .clip = 17}, .full_scale = 1024.0F};
    phy::SoftDemapper single(phy_test::scalar_host(), config);
    single(symbols, 0.2F, expected);
    BatchDemapper batch(Host(), {.llr = {.scale = 2.0F, .clip = 17}, .full_scale = 1024.0F});
    const std::vector<phy::Allocation> calls = {{phy::Modulation::qam16, symbols, 0.2F, soft_bits}};
    batch(calls);
    EXPECT_EQ(soft_bits, expected);
    EXPECT_TRUE(std::ranges::any_of(expected, [](int q) { return q != 0 && std::abs(q) != 17; }));
    EXPECT_TRUE(std::ranges::any_of(expected, [](int q) { return std::abs(q) == 17; }));
}

TEST(BatchDemapper, ReportsItsConfigurationAndHost) {
    for (const phy::Backend& backend : phy_test::host_backends()) {
        const Host host = phy_test::host_of(backend, 2);
        const phy::BatchDemapperConfig config = {.llr = {.method = phy::Method::log_map,
                                                         .evaluator = phy::Evaluator::table,
                                                         .scale = 2.0F,
                                                         .clip = 31},
                                                 .full_scale = 9.0F};
        const BatchDemapper demap(host, config);
        EXPECT_EQ(&demap.host().pool(), &host.pool());
        EXPECT_EQ(demap.config(), config);
    }
}

TEST(BatchDemapper, KeepsWorkingWhenMoved) {
    const RecordedCalls recorded = phy_test::plain_batch();
    BatchDemapper first(phy_test::host_of(phy::Backend::best(), 2), {});
    ASSERT_NO_FATAL_FAILURE(expect_single_calls(first, recorded));
    BatchDemapper second = std::move(first);
    ASSERT_NO_FATAL_FAILURE(expect_single_calls(second, recorded));
    BatchDemapper third(Host(), {.llr = {.clip = 1}});
    third = std::move(second);
    ASSERT_NO_FATAL_FAILURE(expect_single_calls(third, recorded));
}

// What the comparisons above, and those on devices, rest on.
TEST(RecordedCalls, FindsAnyChangedByte) {
    const RecordedCalls recorded = phy_test::MixedCalls({phy::Method::max_log, phy::Evaluator::automatic})
                                       .take(3, SoftBitFormat::float16);
    phy_test::Bytes memory = recorded.after();
    ASSERT_EQ(recorded.difference(memory), "");
    EXPECT_NE(recorded.difference(recorded.before()), "");
    for (std::size_t n = 0; n < memory.size(); n += n < 500 ? 1 : 97) {
        memory[n] ^= std::byte{1};
        ASSERT_NE(recorded.difference(memory), "") << "byte " << n;
        memory[n] ^= std::byte{1};
    }
    EXPECT_NE(recorded.difference(std::span(memory).first(memory.size() - 1)), "");
}

}  // namespace
