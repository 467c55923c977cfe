#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/demapper/batch.hpp"
#include "phy/demapper/host/soft_runner.hpp"

/// Tables that a demapper keeps for values of N0 that may come again.
namespace {

phy::detail::TableKey key_of(std::size_t n) {
    return {.bits = 2, .noise = 0.1F + 0.01F * static_cast<float>(n), .llr_scale = 6.0F, .llr_clip = 127};
}

/// A call with tables first, first + 1 ...
void call(phy::detail::TableCache& cache, std::size_t first, std::size_t count) {
    cache.start_call();
    for (std::size_t n = first; n < first + count; ++n)
        EXPECT_EQ(cache.table(key_of(n)).key(), key_of(n));
}

TEST(TableCache, KeepsThoseOfTheLatestCalls) {
    phy::detail::TableCache cache(4);
    for (std::size_t n = 0; n < 100; ++n) {
        call(cache, n, 1);
        EXPECT_EQ(cache.size(), std::min<std::size_t>(n + 1, 4));
    }
    const phy::detail::LlrTable* const known = &cache.table(key_of(99));
    call(cache, 97, 3);
    EXPECT_EQ(cache.size(), 4U);
    EXPECT_EQ(&cache.table(key_of(99)), known) << "it was there";
}

TEST(TableCache, OfOneCallThatNeedsManyStayUntilAnotherCame) {
    phy::detail::TableCache cache(4);
    call(cache, 0, 50);
    EXPECT_EQ(cache.size(), 50U);
    const phy::detail::LlrTable* const known = &cache.table(key_of(49));
    call(cache, 0, 50);
    EXPECT_EQ(cache.size(), 50U);
    EXPECT_EQ(&cache.table(key_of(49)), known) << "the same call again builds nothing";
    call(cache, 0, 0);
    EXPECT_EQ(cache.size(), 50U) << "of the latest call";
    call(cache, 0, 0);
    EXPECT_EQ(cache.size(), 0U);
    for (std::size_t n = 0; n < 20; ++n)
        call(cache, 50 * n, 50);
    EXPECT_EQ(cache.size(), 50U);
}

TEST(TableCache, OfABatchDemapperLeaveTheSoftBitsAsTheyAre) {
    const phy::DemapperConfig config = {.modulation = phy::Modulation::qam16,
                                        .llr = {.evaluator = phy::Evaluator::table}};
    const phy::Host host;
    phy::BatchDemapper batch(host, {.llr = config.llr});
    const std::vector<phy::cf32> symbols(40, phy::cf32(0.3F, -0.7F));
    for (std::size_t turn = 0; turn < 3; ++turn) {
        std::vector<std::vector<std::int8_t>> llr(100, std::vector<std::int8_t>(4 * symbols.size()));
        std::vector<phy::Allocation> allocations;
        for (std::size_t n = 0; n < llr.size(); ++n)
            allocations.push_back({phy::Modulation::qam16, symbols, key_of(n + turn).noise, llr[n]});
        batch(allocations);
        for (std::size_t n = 0; n < llr.size(); ++n) {
            phy::SoftDemapper demap(host, config);
            std::vector<std::int8_t> alone(4 * symbols.size());
            demap(symbols, key_of(n + turn).noise, alone);
            ASSERT_EQ(llr[n], alone) << n;
        }
    }
}

}  // namespace
