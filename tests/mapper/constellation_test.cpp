#include "phy/core/constellation.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "support/equations.hpp"

namespace {

using phy::Modulation;

unsigned label_count(Modulation modulation) {
    return 1U << bits_per_symbol(modulation);
}

std::complex<double> expected_point(Modulation modulation, unsigned label, std::uint64_t index = 0) {
    std::vector<std::uint8_t> bits;
    for (std::size_t k = bits_per_symbol(modulation); k-- > 0;) {
        bits.push_back(static_cast<std::uint8_t>(label >> k & 1U));
    }
    return phy_test::symbol_of(modulation, bits, index);
}

TEST(Constellation, FollowsTheEquations) {
    for (const Modulation modulation : phy::all_modulations) {
        SCOPED_TRACE(to_string(modulation));
        for (unsigned label = 0; label < label_count(modulation); ++label) {
            for (const std::uint64_t index : {0U, 1U, 2U, 7U}) {
                const phy::cf32 point = constellation_point(modulation, label, index);
                const auto expected = expected_point(modulation, label, index);
                ASSERT_EQ(point.real(), static_cast<float>(expected.real())) << label << " at " << index;
                ASSERT_EQ(point.imag(), static_cast<float>(expected.imag())) << label << " at " << index;
            }
        }
    }
}

TEST(Constellation, HasUnitMeanPower) {
    for (const Modulation modulation : phy::all_modulations) {
        double power = 0.0;
        for (unsigned label = 0; label < label_count(modulation); ++label) {
            power += std::norm(std::complex<double>(constellation_point(modulation, label)));
        }
        EXPECT_NEAR(power / label_count(modulation), 1.0, 1e-7) << to_string(modulation);
    }
}

TEST(Constellation, NeighboursDifferInOneBit) {
    for (const Modulation modulation :
         {Modulation::qam16, Modulation::qam64, Modulation::qam256, Modulation::qam1024}) {
        SCOPED_TRACE(to_string(modulation));
        const std::size_t m = phy::bits_per_axis(modulation);
        std::vector<unsigned> bits_of_level(std::size_t{1} << m);
        for (unsigned bits = 0; bits < bits_of_level.size(); ++bits) {
            const int level = phy::axis_level(m, bits);
            bits_of_level.at(static_cast<std::size_t>(level + (1 << m) - 1) / 2) = bits;
        }
        for (std::size_t n = 1; n < bits_of_level.size(); ++n) {
            const unsigned difference = bits_of_level[n] ^ bits_of_level[n - 1];
            EXPECT_EQ(std::popcount(difference), 1) << "between levels " << n - 1 << " and " << n;
        }
    }
}

TEST(Constellation, IsConstexpr) {
    static_assert(phy::constellation_point(Modulation::qpsk, 0b10).real() == -0x1.6a09e6p-1F);
    static_assert(phy::point_levels(Modulation::qam256, 0b00110011) == phy::PointLevels{9, 9});
    static_assert(phy::bits_per_axis(Modulation::bpsk) == 1);
    SUCCEED();
}

}  // namespace
