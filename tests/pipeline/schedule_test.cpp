#include "phy/pipeline/schedule.hpp"

#include <gtest/gtest.h>

#include "pipeline/checked_run.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chunk;
using phy::detail::Schedule;

std::vector<Chunk> cut(Schedule schedule, std::size_t at_most = SIZE_MAX) {
    std::vector<Chunk> chunks;
    while (chunks.size() < at_most) {
        const std::optional<Chunk> chunk = schedule.next();
        if (!chunk) break;
        chunks.push_back(*chunk);
    }
    return chunks;
}

std::string describe(std::uint64_t items, const Schedule::Limits& limits) {
    return std::to_string(items) + " items, max " + std::to_string(limits.max) + ", min " +
           std::to_string(limits.min) + ", blocks of " + std::to_string(limits.granularity);
}

/// Gapless, and within the limits.
void expect_legal(std::span<const Chunk> chunks, const Schedule::Limits& limits) {
    const bool aligned = limits.max % 64 == 0 && limits.min % 64 == 0;
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        ASSERT_EQ(chunks[i].index, i);
        ASSERT_EQ(chunks[i].first, end);
        ASSERT_GT(chunks[i].items, 0U);
        ASSERT_LE(chunks[i].items, limits.max);
        if (i + 1 < chunks.size()) {
            ASSERT_GE(chunks[i].items, limits.min) << "chunk " << i;
        }
        if (aligned) {
            ASSERT_EQ(chunks[i].first % 64, 0U) << "chunk " << i;
        }
        end += chunks[i].items;
    }
}

void expect_legal(std::uint64_t items, const Schedule::Limits& limits) {
    SCOPED_TRACE(describe(items, limits));
    const Schedule schedule(items, limits);
    const std::vector<Chunk> chunks = cut(schedule);
    ASSERT_NO_FATAL_FAILURE(expect_legal(chunks, limits));
    const std::uint64_t end = chunks.empty() ? 0 : chunks.back().first + chunks.back().items;
    EXPECT_EQ(end, items);
    EXPECT_EQ(schedule.is_single(), chunks.size() <= 1);
}

class ScheduleOf : public testing::Test {
protected:
    std::mt19937 random_{random_seed()};

    std::size_t below(std::size_t end) { return random_() % end; }

    Schedule::Limits random_limits() {
        Schedule::Limits limits{};
        limits.max = 1 + below(std::size_t{1} << below(15));
        limits.min = 1 + below(limits.max);
        if (below(2) == 0) {
            limits.max *= 64;
            limits.min *= 64;
        }
        limits.granularity = 1;
        return limits;
    }

    /// The same with blocks of some items.
    Schedule::Limits random_limits_of_blocks() {
        Schedule::Limits limits = random_limits();
        limits.granularity = 1 + below(3000);
        limits.max *= limits.granularity;
        limits.min *= limits.granularity;
        return limits;
    }
};

TEST_F(ScheduleOf, AnyStreamIsCompleteAndLegal) {
    for (int i = 0; i < 20'000; ++i) {
        const Schedule::Limits limits = random_limits();
        const std::uint64_t items = below(1 + limits.max * (1 + below(40)));
        expect_legal(items, limits);
        if (HasFailure()) return;
    }
}

TEST_F(ScheduleOf, BlocksAreNotCut) {
    for (int i = 0; i < 5000; ++i) {
        const Schedule::Limits limits = random_limits_of_blocks();
        const std::uint64_t items = below(1 + limits.max * (1 + below(40)));
        SCOPED_TRACE(describe(items, limits));
        expect_legal(items, limits);
        for (const Chunk& chunk : cut(Schedule(items, limits)))
            ASSERT_EQ(chunk.first % limits.granularity, 0U);
        if (HasFailure()) return;
    }
}

// Blocks alone do not keep steps from overlapping.
TEST_F(ScheduleOf, AStreamOfSomeBlocksGivesStepsThatCanOverlap) {
    const std::size_t block = 45'864;
    for (std::size_t blocks = 4; blocks < 100; ++blocks) {
        const Schedule schedule(blocks * block, {.max = 1000 * block, .min = block, .granularity = block});
        EXPECT_GE(cut(schedule).size(), blocks % 4 == 0 ? 4U : 3U) << blocks;
    }
}

TEST_F(ScheduleOf, LengthsNextToTheLimits) {
    for (int i = 0; i < 500; ++i) {
        const Schedule::Limits limits = random_limits();
        for (const std::size_t near : {std::size_t{0}, std::size_t{64}, limits.min, 2 * limits.min,
                                       4 * limits.min, limits.max, 4 * limits.max, 16 * limits.max}) {
            for (const std::size_t items : {near - std::min<std::size_t>(near, 1), near, near + 1})
                expect_legal(items, limits);
        }
        if (HasFailure()) return;
    }
}

TEST_F(ScheduleOf, NoItemsHasNoChunks) {
    EXPECT_TRUE(cut(Schedule(0, {.max = 64, .min = 64})).empty());
    EXPECT_TRUE(Schedule(0, {.max = 64, .min = 64}).is_single());
}

TEST_F(ScheduleOf, AStreamThatIsNotTooShortGivesStepsThatCanOverlap) {
    for (int i = 0; i < 5000; ++i) {
        const Schedule::Limits limits = random_limits();
        const std::uint64_t items = 640 + 4 * (limits.min + 64) + below(limits.max * 4);
        EXPECT_GE(cut(Schedule(items, limits)).size(), 4U) << describe(items, limits);
    }
}

TEST_F(ScheduleOf, AllButTheLastAreEqual) {
    for (int i = 0; i < 5000; ++i) {
        const Schedule::Limits limits = random_limits();
        const std::uint64_t items = 1 + below(limits.max * 20);
        const std::vector<Chunk> chunks = cut(Schedule(items, limits));
        ASSERT_FALSE(chunks.empty());
        for (std::size_t n = 0; n + 1 < chunks.size(); ++n)
            ASSERT_EQ(chunks[n].items, chunks[0].items) << describe(items, limits);
        ASSERT_LE(chunks.back().items, chunks[0].items) << describe(items, limits);
    }
}

TEST_F(ScheduleOf, EvenCutsIntoFullChunks) {
    for (int i = 0; i < 1000; ++i) {
        const std::size_t most = 1 + below(1000);
        const std::uint64_t items = below(most * 20);
        const std::vector<Chunk> chunks = cut(Schedule(items, Schedule::even(most)));
        ASSERT_EQ(chunks.size(), (items + most - 1) / most);
        for (std::size_t n = 0; n + 1 < chunks.size(); ++n)
            ASSERT_EQ(chunks[n].items, most);
    }
}

TEST_F(ScheduleOf, EndlessStreamsHaveFullChunks) {
    for (int i = 0; i < 1000; ++i) {
        const Schedule::Limits limits = random_limits();
        SCOPED_TRACE(describe(phy::Source::endless, limits));
        Schedule schedule(phy::Source::endless, limits);
        EXPECT_FALSE(schedule.is_single());
        const std::vector<Chunk> chunks = cut(schedule, 200);
        ASSERT_EQ(chunks.size(), 200U);
        ASSERT_NO_FATAL_FAILURE(expect_legal(chunks, limits));
        for (const Chunk& chunk : chunks)
            ASSERT_EQ(chunk.items, limits.max);
    }
}

TEST_F(ScheduleOf, APartIsCutLikeAStreamOfItsLength) {
    for (int i = 0; i < 1000; ++i) {
        const Schedule::Limits limits = random_limits_of_blocks();
        const std::uint64_t items = below(1 + limits.max * 20);
        const std::uint64_t first = limits.granularity * std::uint64_t{below(1U << 30U)};
        std::vector<Chunk> chunks = cut(Schedule(items, limits, first));
        for (Chunk& chunk : chunks)
            chunk.first -= first;
        SCOPED_TRACE(describe(items, limits));
        ASSERT_NO_FATAL_FAILURE(expect_legal(chunks, limits));
        const std::vector<Chunk> expected = cut(Schedule(items, limits));
        EXPECT_TRUE(std::ranges::equal(chunks, expected, {}, &Chunk::items, &Chunk::items));
    }
}

TEST_F(ScheduleOf, EndsWhenTold) {
    for (int i = 0; i < 1000; ++i) {
        const Schedule::Limits limits = random_limits();
        const std::uint64_t items =
            below(2) == 0 ? phy::Source::endless : std::uint64_t{limits.max} * (40 + below(10));
        Schedule schedule(items, limits);
        for (std::size_t chunk = below(10); chunk > 0; --chunk)
            ASSERT_TRUE(schedule.next());
        schedule.end();
        EXPECT_FALSE(schedule.next());
        EXPECT_FALSE(schedule.next());
    }
}

// In units of a copied byte: the first chunk alone in one direction, and a gap for each of them.
double lost(double stream, double chunk, double gap) {
    return chunk + gap * stream / chunk;
}

TEST(FastChunk, LosesLeastBetweenItsLimits) {
    const phy::detail::PipelineTuning tuning = {
        .chunk_bytes = 16'000'000, .min_bytes = 1'000'000, .buffer_sets = 4, .gap_bytes = 250'000};
    for (double stream = 5e6; stream < 1e9; stream *= 1.3) {
        const auto chunk = static_cast<double>(phy::detail::fast_chunk_bytes(stream, tuning));
        for (const double factor : {0.5, 0.9, 1.1, 2.0})
            EXPECT_LT(lost(stream, chunk, 250e3), lost(stream, factor * chunk, 250e3)) << stream;
    }
    EXPECT_EQ(phy::detail::fast_chunk_bytes(0.0, tuning), 1'000'000U);
    EXPECT_EQ(phy::detail::fast_chunk_bytes(3e6, tuning), 1'000'000U);
    EXPECT_EQ(phy::detail::fast_chunk_bytes(2e9, tuning), 16'000'000U);
    EXPECT_EQ(phy::detail::fast_chunk_bytes(1e30, tuning), 16'000'000U);
}

TEST_F(ScheduleOf, StaysAtItsEnd) {
    Schedule schedule(100, {.max = 64, .min = 64});
    EXPECT_EQ(cut(schedule).size(), 2U);
    schedule.next();
    schedule.next();
    EXPECT_FALSE(schedule.next());
    EXPECT_FALSE(schedule.next());
}

}  // namespace
