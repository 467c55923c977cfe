#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>

#include "phy/core/error.hpp"
#include "scrambling/gold_reference.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;

constexpr unsigned seed = 64114;

/// r(m) of every resource block from reference_crb on, cut out for the allocation.
std::vector<std::complex<double>> expected_pilots(const phy::SlotAllocation& allocation, int slot) {
    const phy::DmrsConfig& dmrs = allocation.dmrs;
    const std::size_t per_block = dmrs.type == 1 ? 6 : 4;
    const std::size_t blocks =
        static_cast<std::size_t>(allocation.first_crb + allocation.carrier_resource_blocks);
    std::vector<std::complex<double>> pilots;
    for (const int l : dmrs.symbols) {
        const std::uint64_t c_init =
            ((1ULL << 17) * (14ULL * static_cast<unsigned>(slot) + static_cast<unsigned>(l) + 1) *
                 (2ULL * dmrs.scrambling_id + 1) +
             2ULL * dmrs.scrambling_id + static_cast<unsigned>(dmrs.n_scid)) %
            (1ULL << 31);
        const std::vector<std::uint8_t> c =
            gold_reference(static_cast<std::uint32_t>(c_init), 2 * per_block * blocks);
        for (const phy::ResourceBlocks& range : allocation.resource_blocks) {
            for (int block = range.first; block < range.first + range.count; ++block) {
                const int after_reference = allocation.first_crb + block - dmrs.reference_crb;
                for (std::size_t i = 0; i < per_block; ++i) {
                    const std::size_t m = per_block * static_cast<std::size_t>(after_reference) + i;
                    pilots.emplace_back((1 - 2 * c[2 * m]) / std::sqrt(2.0),
                                        (1 - 2 * c[2 * m + 1]) / std::sqrt(2.0));
                }
            }
        }
    }
    return pilots;
}

void expect_pilots(const phy::SlotAllocation& allocation, int slot) {
    const auto expected = expected_pilots(allocation, slot);
    ASSERT_EQ(phy::dmrs_pilot_count(allocation), expected.size());
    std::vector<cf32> pilots(expected.size());
    phy::dmrs_pilots(allocation, slot, pilots);
    for (std::size_t i = 0; i < pilots.size(); ++i)
        ASSERT_LE(std::abs(std::complex<double>(pilots[i]) - expected[i]), 1e-7) << i;
}

TEST(DmrsPilots, AreThoseOfABitSerialGoldSequence) {
    std::mt19937 random(seed);
    for (int trial = 0; trial < fewer_times(200); ++trial) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial));
        const phy::SlotAllocation allocation = random_allocation(random, trial % 20 == 0 ? 275 : 60);
        expect_pilots(allocation, random_int(random, 0, 639));
    }
}

TEST(DmrsPilots, CInitWrapsAt31Bits) {
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = 275;
    allocation.resource_blocks = {{274, 1}, {0, 274}};
    allocation.dmrs.scrambling_id = 65535;
    allocation.dmrs.n_scid = 1;
    expect_pilots(allocation, 639);
}

TEST(DmrsPilots, RefusesWhatDoesNotFit) {
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = 10;
    allocation.resource_blocks = {{0, 10}};
    std::vector<cf32> pilots(120);
    phy::dmrs_pilots(allocation, 0, pilots);
    EXPECT_THROW(phy::dmrs_pilots(allocation, -1, pilots), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_pilots(allocation, 640, pilots), phy::ArgumentError);
    EXPECT_THROW(phy::dmrs_pilots(allocation, 0, std::span(pilots).first(119)), phy::ArgumentError);
    allocation.dmrs.reference_crb = 1;
    EXPECT_THROW(phy::dmrs_pilots(allocation, 0, pilots), phy::ArgumentError);
}

}  // namespace
