#include "coding/losses.hpp"

#include <gtest/gtest.h>

#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

/// Where sum-product loses a tenth of the blocks (data/results/decoder_losses.json), plus the loss that is
/// allowed: nearly all blocks of the decoder are right.
struct Threshold {
    phy::BaseGraph graph;
    double rate;
    double snr_db;
};

constexpr Threshold thresholds[] = {{phy::BaseGraph::bg1, 0.9, 3.22 + 0.15},
                                    {phy::BaseGraph::bg1, 0.5, -2.29 + 0.3},
                                    {phy::BaseGraph::bg2, 0.2, -7.31 + 0.3}};

TEST(DecoderLossesTest, FewBlocksFailWhereSumProductHolds) {
    const unsigned seed = random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    const int blocks = takes_fewer_cases() ? 4 : 60;
    // A tenth is expected at most; more than these have a chance of one in 10,000.
    const int most = takes_fewer_cases() ? 3 : 16;
    for (const Threshold& threshold : thresholds) {
        const DecoderLosses losses(threshold.graph, threshold.rate);
        const DecoderLosses::Failures failures = losses.run(threshold.snr_db, blocks, seed, false);
        EXPECT_LE(failures.decoder, most) << threshold.rate;
        EXPECT_EQ(failures.wrong_verdicts, 0);
    }
}

/// The reference itself, at noise that both bear.
TEST(DecoderLossesTest, TheReferenceDecodes) {
    const DecoderLosses losses(phy::BaseGraph::bg2, 0.5);
    const DecoderLosses::Failures failures = losses.run(-1.0, takes_fewer_cases() ? 1 : 4, 7);
    EXPECT_EQ(failures.sum_product, 0);
    EXPECT_EQ(failures.decoder, 0);
}

}  // namespace
