#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "phy/receiver/acquisition/correlator.hpp"
#include "phy/receiver/acquisition/evidence.hpp"
#include "phy/receiver/acquisition/fourier.hpp"
#include "phy/receiver/acquisition/ptrs_search.hpp"
#include "support/random_seed.hpp"

namespace {

using Complex = std::complex<double>;

constexpr unsigned seed = 17;

std::vector<phy::cf32> noise(std::size_t count, std::mt19937& random) {
    std::normal_distribution<float> normal;
    std::vector<phy::cf32> samples(count);
    for (phy::cf32& sample : samples) {
        const float re = normal(random);
        sample = {re, normal(random)};
    }
    return samples;
}

TEST(FourierTransformTest, AgreesWithItsDefinition) {
    std::mt19937 random(seed);
    for (const std::size_t points : {4, 8, 16, 32, 64, 128, 1024, 2048}) {
        SCOPED_TRACE(points);
        const std::vector<phy::cf32> in = noise(points, random);
        std::vector<float> re;
        std::vector<float> im;
        for (const phy::cf32 sample : in) {
            re.push_back(sample.real());
            im.push_back(sample.imag());
        }
        phy::detail::FourierTransform transform(points);
        transform(re.data(), im.data());
        const double most = 1e-6 * std::sqrt(static_cast<double>(points)) * std::log2(points);
        for (std::size_t k = 0; k < points; k += points / 4 + 1) {
            Complex expected;
            for (std::size_t n = 0; n < points; ++n) {
                const double turns = static_cast<double>(k * n % points) / static_cast<double>(points);
                expected += Complex(in[n]) * std::polar(1.0, -2.0 * std::numbers::pi * turns);
            }
            EXPECT_LT(std::abs(Complex(re[k], im[k]) - expected), most);
        }
        // With both planes in each other's place it is the inverse, times the points.
        transform(im.data(), re.data());
        for (std::size_t n = 0; n < points; ++n)
            EXPECT_NEAR(re[n] / static_cast<float>(points), in[n].real(), 1e-5F);
    }
}

TEST(DmrsCorrelatorTest, GivesSharesOfPower) {
    std::mt19937 random(seed);
    constexpr std::size_t size = 256;
    constexpr std::size_t length = 9000;
    constexpr std::size_t antennas = 2;
    std::vector<phy::detail::DmrsReference> references;
    for (const std::size_t begin : {300, 1000}) {
        std::vector<phy::cf32> kind = noise(size, random);
        double energy = 0.0;
        for (const phy::cf32 sample : kind)
            energy += std::norm(Complex(sample));
        for (phy::cf32& sample : kind)
            sample /= static_cast<float>(std::sqrt(energy));
        references.push_back({.begin = begin, .kinds = {kind}});
    }
    std::vector<phy::cf32> samples = noise(antennas * length, random);
    for (std::size_t i = 0; i < size; ++i)
        samples[5000 + 300 + i] = 3.0F * references[0].kinds[0][i];
    phy::detail::DmrsCorrelator correlate(references);
    constexpr std::size_t positions = 8000;
    constexpr std::int64_t first = -100;
    const std::vector<float> shares =
        correlate({.all = samples, .antennas = antennas, .length = length}, first, positions);
    ASSERT_EQ(shares.size(), positions);
    for (const std::size_t i : {0UL, 1UL, 99UL, 100UL, 3841UL, 5099UL, 5100UL, 5101UL, 7999UL}) {
        double power = 0.0;
        double energy = 0.0;
        for (const phy::detail::DmrsReference& reference : references) {
            for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
                Complex sum;
                for (std::size_t n = 0; n < size; ++n) {
                    const std::int64_t at = first + static_cast<std::int64_t>(i + reference.begin + n);
                    if (at < 0 || at >= static_cast<std::int64_t>(length)) continue;
                    const Complex sample(samples[antenna * length + static_cast<std::size_t>(at)]);
                    sum += sample * std::conj(Complex(reference.kinds[0][n]));
                    energy += std::norm(sample);
                }
                power += std::norm(sum);
            }
        }
        EXPECT_NEAR(shares[i], power / energy, 1e-4 * power / energy + 1e-6) << i;
    }
}

TEST(EvidenceTest, ChanceIsTheTailOfTheGammaDistribution) {
    phy::detail::Evidence evidence;
    EXPECT_EQ(evidence.log_chance(), 0.0);
    evidence.parts = 1;
    evidence.surprisal = 7.5;
    EXPECT_NEAR(evidence.log_chance(), -7.5, 1e-12);
    evidence.parts = 3;
    EXPECT_NEAR(evidence.log_chance(), -7.5 + std::log(1.0 + 7.5 + 7.5 * 7.5 / 2.0), 1e-12);
    evidence.parts = 2000;
    evidence.surprisal = 2000.0;
    EXPECT_NEAR(std::exp(evidence.log_chance()), 0.5, 0.01);
    evidence.surprisal = 1e5;
    EXPECT_LT(evidence.log_chance(), -8e4);
    EXPECT_TRUE(std::isfinite(evidence.log_chance()));
}

TEST(EvidenceTest, NoiseHasTheExpectedSurprisal) {
    std::mt19937 random(seed);
    for (const int type : {1, 2}) {
        for (const int ports : {1, 2}) {
            SCOPED_TRACE(testing::Message() << "seed " << seed << ", type " << type << ", ports " << ports);
            phy::SlotAllocation allocation;
            allocation.carrier_resource_blocks = 51;
            allocation.resource_blocks = {{0, 51}};
            allocation.dmrs.type = type;
            allocation.dmrs.ports = ports == 1 ? std::vector<int>{1} : std::vector<int>{0, 1};
            std::vector<phy::cf32> pilots(phy::dmrs_pilot_count(allocation));
            phy::dmrs_pilots(allocation, 3, pilots);
            phy::detail::Evidence evidence;
            for (int slot = 0; slot < 100; ++slot)
                evidence.add(allocation, noise(14 * 51 * 12, random), pilots);
            // Parts of two resource blocks, and one of one, of two symbols.
            EXPECT_EQ(evidence.parts, 100U * 26 * 2);
            EXPECT_NEAR(evidence.surprisal / static_cast<double>(evidence.parts), 1.0, 0.05);
        }
    }
}

/// What chance makes once, a signal that repeats its frames makes in each of them. An OFDM symbol, or an
/// element, that is not finite spoils no other.
TEST(PtrsSearchTest, RepetitionsProveNothing) {
    const auto drawn = static_cast<unsigned>(phy_test::random_seed());
    std::mt19937 random(drawn);
    phy::SlotAllocation allocation;
    allocation.carrier_resource_blocks = 11;
    allocation.resource_blocks = {{0, 11}};
    allocation.dmrs.symbols = {2};
    const auto subcarriers = static_cast<std::size_t>(allocation.subcarriers());
    const std::size_t of_slot = phy::symbols_per_slot * subcarriers;
    // Of both slots of a frame; behind noise of -12 dB.
    const auto is_found = [&](bool repeats, bool has_ptrs, bool is_spoilt = false) {
        phy::detail::PtrsSearch search(allocation);
        std::vector<phy::cf32> frames[] = {noise(of_slot, random), noise(of_slot, random)};
        for (int slot = 0; slot < 16; ++slot) {
            std::vector<phy::cf32>& grid = frames[slot % 2];
            if (!repeats) grid = noise(of_slot, random);
            for (std::size_t l = 0; has_ptrs && l < phy::symbols_per_slot; ++l)
                for (std::size_t k = 0; k < subcarriers; k += 48)
                    grid[l * subcarriers + k] = grid[2 * subcarriers + k];
            std::vector<phy::cf32> received = grid;
            const std::vector<phy::cf32> disturbance = noise(of_slot, random);
            for (std::size_t i = 0; i < of_slot; ++i)
                received[i] += 0.25F * disturbance[i];
            if (is_spoilt && slot == 3)
                std::fill_n(received.begin() + static_cast<std::ptrdiff_t>(7 * subcarriers), subcarriers,
                            phy::cf32(std::numeric_limits<float>::quiet_NaN(), 0.0F));
            for (std::size_t l = 3; is_spoilt && slot == 5 && l < phy::symbols_per_slot; ++l)
                received[l * subcarriers] = {std::numeric_limits<float>::infinity(), 0.0F};
            search.add(received, 1);
        }
        return search.signs(1.0).found.has_value();
    };
    for (int trial = 0; trial < 100; ++trial) {
        ASSERT_FALSE(is_found(true, false)) << "trial " << trial << ", seed " << drawn;
        ASSERT_FALSE(is_found(false, false)) << "trial " << trial << ", seed " << drawn;
        ASSERT_TRUE(is_found(false, true)) << "trial " << trial << ", seed " << drawn;
        ASSERT_TRUE(is_found(false, true, true)) << "trial " << trial << ", seed " << drawn;
    }
}

}  // namespace
