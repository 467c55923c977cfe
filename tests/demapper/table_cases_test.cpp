#include "demapper/table_cases.hpp"

#include <gtest/gtest.h>

#include "demapper/large_calls.hpp"

/// Tests on a GPU say which table they use; a GPU would not notice if they used none.
namespace {

using phy::Evaluator;
using phy_test::LargeCall;
using phy_test::TableCase;
using phy_test::TableRoom;

TEST(TableCases, HaveTablesOfTheirSizes) {
    for (const TableCase& table : phy_test::table_cases) {
        SCOPED_TRACE(table.name);
        const phy::SoftDemapper demap(phy::Host(), table.config());
        ASSERT_EQ(demap.evaluator_for(table.noise, table.format), Evaluator::table);
        const std::size_t bytes = phy_test::table_bytes(table.config(), table.format, table.noise);
        EXPECT_TRUE(has_room(table.room, bytes)) << bytes << " bytes";
    }
}

TEST(LargeCalls, AreEvaluatedAsTheySay) {
    bool any_table = false;
    for (const LargeCall& call : phy_test::large_calls) {
        SCOPED_TRACE(call.name);
        const phy::SoftDemapper demap(phy::Host(), call.config);
        const std::vector<float> each(1, 0.1F);
        const Evaluator evaluator = demap.evaluator_for(call.noise.of(each), call.out);
        ASSERT_EQ(evaluator, call.table ? Evaluator::table : Evaluator::arithmetic);
        if (!call.table) continue;
        any_table = true;
        const std::size_t bytes = phy_test::table_bytes(call.config, call.out, call.noise.scalar);
        EXPECT_TRUE(has_room(*call.table, bytes)) << bytes << " bytes";
    }
    EXPECT_TRUE(any_table);
}

// What the check above rests on: at a small N0 log-MAP in int8 has no table, whatever the evaluator.
TEST(TableCases, AreNotThereWhereTheClosedFormServes) {
    const phy::SoftDemapper demap(phy::Host(),
                                  {.modulation = phy::Modulation::qam16,
                                   .llr = {.method = phy::Method::log_map, .evaluator = Evaluator::table}});
    EXPECT_EQ(demap.evaluator_for(0.003F, phy::SoftBitFormat::int8), Evaluator::arithmetic);
    EXPECT_EQ(demap.evaluator_for(0.003F, phy::SoftBitFormat::float16), Evaluator::table);
}

TEST(TableCases, KnowWhatHasRoom) {
    EXPECT_TRUE(has_room(TableRoom::several_blocks, 50 << 10));
    EXPECT_FALSE(has_room(TableRoom::several_blocks, (50 << 10) + 1));
    EXPECT_FALSE(has_room(TableRoom::one_block, 114 << 10));
    EXPECT_TRUE(has_room(TableRoom::one_block, 140 << 10));
    EXPECT_FALSE(has_room(TableRoom::one_block, (140 << 10) + 1));
    EXPECT_FALSE(has_room(TableRoom::global_memory, 227 << 10));
    EXPECT_TRUE(has_room(TableRoom::global_memory, (227 << 10) + 1));
}

}  // namespace
