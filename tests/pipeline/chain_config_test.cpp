#include <gtest/gtest.h>

#include <type_traits>

#include "phy/core/error.hpp"
#include "phy/pipeline/chain.hpp"
#include "pipeline/fake_stage.hpp"

/// How stages become a chain, and which ones do not.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Chain;
using phy::Port;

static_assert(!std::is_copy_constructible_v<Chain>);
static_assert(std::is_nothrow_move_constructible_v<Chain>);

using Ports = std::vector<Port>;

StageShape shape(std::string name, Ports inputs, Ports outputs, std::size_t granularity = 1) {
    return {.name = std::move(name),
            .inputs = std::move(inputs),
            .outputs = std::move(outputs),
            .granularity = granularity};
}

void expect_refused(const std::vector<StageShape>& shapes, const std::vector<std::string>& also_out,
                    const std::string& text) {
    std::vector<FakeStage> stages(shapes.begin(), shapes.end());
    try {
        const Chain chain({stages.begin(), stages.end()}, also_out);
        ADD_FAILURE() << text;
    } catch (const phy::ArgumentError& error) {
        EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
    }
}

TEST(ChainConfig, ConnectsPortsByName) {
    FakeStage estimate(shape("estimate", {{"pilots", 8, 12}}, {{"channel", 16, 12}}, 12));
    FakeStage equalise(shape("equalise", {{"received", 8}, {"channel", 16, 12}, {"scale", 4}},
                             {{"symbols", 8}, {"noise", 4}, {"quality", 2, 28}}, 84));
    FakeStage demap(shape("demap", {{"symbols", 8}, {"noise", 4}, {"scale", 4}}, {{"llr", 6}}, 28));
    const Chain chain({estimate, equalise, demap});
    EXPECT_EQ(chain.name(), "estimate+equalise+demap");
    EXPECT_EQ(chain.inputs(), (Ports{{"pilots", 8, 12}, {"received", 8}, {"scale", 4}}));
    EXPECT_EQ(chain.outputs(), (Ports{{"quality", 2, 28}, {"llr", 6}}));
    EXPECT_EQ(chain.granularity(), 84U);
}

TEST(ChainConfig, GivesWhatIsTakenIfToldTo) {
    FakeStage first(shape("first", {{"a", 1}}, {{"b", 1}, {"c", 1}}));
    FakeStage second(shape("second", {{"b", 1}, {"c", 1}}, {{"d", 1}}));
    EXPECT_EQ(Chain({first, second}).outputs(), (Ports{{"d", 1}}));
    EXPECT_EQ(Chain({first, second}, {"c"}).outputs(), (Ports{{"c", 1}, {"d", 1}}));
    EXPECT_EQ(Chain({first, second}, {"d", "c", "b"}).outputs(), (Ports{{"b", 1}, {"c", 1}, {"d", 1}}));
}

TEST(ChainConfig, OneStageIsAChain) {
    FakeStage only(shape("only", {{"a", 3}}, {{"b", 5}}, 7));
    const Chain chain({only});
    EXPECT_EQ(chain.name(), "only");
    EXPECT_EQ(chain.inputs(), only.inputs());
    EXPECT_EQ(chain.outputs(), only.outputs());
    EXPECT_EQ(chain.granularity(), 7U);
    EXPECT_EQ(chain.scratch_bytes(1000), 0U);
}

TEST(ChainConfig, ChainsAreStagesOfChains) {
    FakeStage first(shape("a", {{"a", 1}}, {{"b", 1}}, 4));
    FakeStage second(shape("b", {{"b", 1}}, {{"c", 1}}, 6));
    FakeStage third(shape("c", {{"c", 1}, {"a", 1}}, {{"d", 1}}, 10));
    Chain inner({first, second});
    const Chain outer({inner, third});
    EXPECT_EQ(outer.name(), "a+b+c");
    EXPECT_EQ(outer.inputs(), (Ports{{"a", 1}}));
    EXPECT_EQ(outer.outputs(), (Ports{{"d", 1}}));
    EXPECT_EQ(outer.granularity(), 60U);
}

// What is between the stages at multiples of 256 bytes, and behind it as much as the stage that needs most.
TEST(ChainConfig, ScratchMemoryHoldsWhatIsBetweenAndTheStages) {
    FakeStage first({.name = "a", .outputs = {{"b", 1}, {"c", 3}}, .more_scratch = 1000});
    FakeStage second(
        {.name = "b", .inputs = {{"b", 1}, {"c", 3}}, .outputs = {{"d", 1}}, .more_scratch = 70});
    const Chain chain({first, second});
    EXPECT_EQ(chain.scratch_bytes(1), 512 + 1000U);
    EXPECT_EQ(chain.scratch_bytes(256), 256 + 768 + 1000U);
    EXPECT_EQ(chain.scratch_bytes(257), 512 + 1024 + 1000U);
}

TEST(ChainConfig, NoStagesAreRefused) {
    expect_refused({}, {}, "no stages");
}

TEST(ChainConfig, TwoThatGiveOnePortAreRefused) {
    expect_refused({shape("x", {{"a", 1}}, {{"b", 1}}), shape("y", {{"a", 1}}, {{"b", 1}})}, {},
                   "two stages give port 'b'");
}

TEST(ChainConfig, ThatTakeWhatOnlyALaterOneGivesAreRefused) {
    expect_refused({shape("x", {{"b", 1}}, {{"a", 1}}), shape("y", {{"a", 1}}, {{"b", 1}})}, {},
                   "port 'b' is taken before");
    expect_refused({shape("x", {{"a", 1}}, {{"a", 1}})}, {}, "port 'a' is taken before");
}

TEST(ChainConfig, ThatDifferInAPortsRecordsAreRefused) {
    const StageShape first = shape("x", {{"a", 1}}, {{"b", 4, 12}}, 12);
    expect_refused({first, shape("y", {{"b", 8, 12}}, {}, 12)}, {}, "port 'b'");
    expect_refused({first, shape("y", {{"b", 4, 1}}, {}, 12)}, {}, "port 'b'");
    expect_refused({first, shape("y", {{"a", 2}}, {})}, {}, "port 'a'");
}

TEST(ChainConfig, OutputsThatNoStageGivesAreRefused) {
    const StageShape only = shape("x", {{"a", 1}}, {{"b", 1}});
    expect_refused({only}, {"c"}, "'c'");
    expect_refused({only}, {"a"}, "'a'");
}

TEST(ChainConfig, StagesThatMakeNoSenseAreRefused) {
    expect_refused({shape("x", {{"a", 1}, {"a", 1}}, {})}, {}, "stage 'x'");
    expect_refused({shape("x", {{"a", 1}}, {}), shape("y", {{"a", 1}}, {{"b", 0}})}, {}, "stage 'y'");
    expect_refused({shape("x", {{"a", 1, 12}}, {}, 4)}, {}, "divisor of the granularity");
    expect_refused({shape("x", {{"a", 1}}, {}, 0)}, {}, "granularity is 0");
}

TEST(ChainConfig, GranularitiesWithoutACommonMultipleAreRefused) {
    const std::size_t large = SIZE_MAX / 2;  // odd
    expect_refused({shape("x", {{"a", 1}}, {}, large), shape("y", {{"a", 1}}, {}, large - 1)}, {},
                   "granularities");
}

}  // namespace
