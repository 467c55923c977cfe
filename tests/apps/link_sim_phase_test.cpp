#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "link_sim/phase_noise.hpp"
#include "link_sim_program.hpp"
#include "support/random_seed.hpp"

namespace phy::test {
namespace {

using apps::OscillatorGrid;
using apps::PhaseNoise;
using Complex = std::complex<double>;

/// The mean power density of rotations around a frequency, in dB per Hz, where it falls by 20 dB per decade:
/// by windowed Fourier sums.
double density_db(const PhaseNoise& noise, double sample_rate, double middle) {
    constexpr std::size_t size = 1 << 15;
    constexpr int records = 40;
    double power = 0.0;
    double window_energy = 0.0;
    std::vector<cf32> rotations(size);
    for (int record = 0; record < records; ++record) {
        noise.draw({7, static_cast<std::uint64_t>(record)}, rotations);
        for (const double share : {-1.2, -1.1, -0.9, -0.8, 0.8, 0.9, 1.0, 1.1, 1.2}) {
            Complex sum = 0.0;
            const double turn = -2.0 * std::numbers::pi * share * middle / sample_rate;
            for (std::size_t i = 0; i < size; ++i) {
                const double at = static_cast<double>(i) / static_cast<double>(size);
                const double window = 0.5 - 0.5 * std::cos(2.0 * std::numbers::pi * at);
                sum += window * Complex(rotations[i]) * std::polar(1.0, turn * static_cast<double>(i));
                window_energy += window * window;
            }
            power += share * share * std::norm(sum);
        }
    }
    return 10.0 * std::log10(power / window_energy / sample_rate);
}

/// The level at 10 kHz, 20 dB less at 100 kHz.
TEST(PhaseNoise, HasTheDensityThatItsLevelSays) {
    constexpr double sample_rate = 3.84e6;
    for (const double level : {-100.0, -80.0}) {
        const PhaseNoise noise({.level = level, .sample_rate = sample_rate});
        EXPECT_NEAR(density_db(noise, sample_rate, 10e3), level, 1.0);
        EXPECT_NEAR(density_db(noise, sample_rate, 100e3), level - 20.0, 1.0);
    }
}

TEST(PhaseNoise, TurnsAGridAsTheMeanOfEachSymbolSays) {
    std::mt19937 random(phy_test::random_seed());
    std::normal_distribution<float> normal;
    SlotAllocation allocation;
    allocation.carrier_resource_blocks = 12;
    allocation.resource_blocks = {{0, 12}};
    constexpr std::size_t row = 144;
    std::vector<cf32> sent(2 * 14 * row);
    for (cf32& element : sent)
        element = {normal(random), normal(random)};
    std::vector<cf32> still = sent;
    OscillatorGrid(Host(), allocation, 30e3, 2, -200.0).pass(still, {3, 1});
    std::vector<cf32> turned = sent;
    OscillatorGrid(Host(), allocation, 30e3, 2, -90.0).pass(turned, {3, 1});
    for (std::size_t symbol = 0; symbol < 14; ++symbol) {
        Complex common[2] = {};
        for (std::size_t antenna = 0; antenna < 2; ++antenna)
            for (std::size_t k = 0; k < row; ++k) {
                const std::size_t i = (antenna * 14 + symbol) * row + k;
                EXPECT_LT(std::abs(still[i] - sent[i]), 1e-4F);
                common[antenna] += Complex(turned[i]) * std::conj(Complex(sent[i]));
            }
        EXPECT_NEAR(std::arg(common[0] / common[1]), 0.0, 0.02) << symbol;
        for (std::size_t antenna = 0; antenna < 2; ++antenna) {
            double error = 0.0;
            double power = 0.0;
            const Complex turn = std::polar(1.0, std::arg(common[antenna]));
            for (std::size_t k = 0; k < row; ++k) {
                const std::size_t i = (antenna * 14 + symbol) * row + k;
                error += std::norm(Complex(turned[i]) - turn * Complex(sent[i]));
                power += std::norm(sent[i]);
            }
            // What is left of a walk in a symbol: a sixth of its variance from end to end, 1.3e-4.
            EXPECT_LT(error, 2e-4 * power) << symbol;
        }
    }
}

std::vector<double> information(const char* modulation, const char* snr_db, const Arguments& more) {
    Arguments arguments = {
        "--channel",         "tdl-a:100", "--antennas",       "2",      "--modulation",         modulation,
        "--snr-db",          snr_db,      "--max-bits",       "1",      "--min-slots",          "100",
        "--resource-blocks", "25",        "--phase-tracking", "off,on", "--time-interpolation", "wiener",
        "--dmrs-symbols",    "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<double> bits;
    const JsonValue report = simulate(arguments);
    for (const JsonValue& point : report["points"].array()) {
        EXPECT_EQ(point["phase_tracking"].boolean(), bits.size() % 2 == 1);
        bits.push_back(point["mutual_information_bits"].number());
    }
    EXPECT_EQ(bits.size(), 2U);
    return bits;
}

/// 256QAM with one DM-RS: a free-running oscillator leaves nothing of it, and tracking nearly all.
TEST(LinkSimPhase, TrackingTakesOutThePhaseNoise) {
    const double none = information("256qam", "32", {})[0];
    const std::vector<double> noisy = information("256qam", "32", {"--phase-noise", "-80"});
    EXPECT_LT(noisy[0], none - 2.0);
    EXPECT_GT(noisy[1], none - 0.05);
}

TEST(LinkSimPhase, TrackingNothingCostsNothing) {
    for (const auto& [modulation, snr_db] :
         {std::pair("qpsk", "-3"), std::pair("qpsk", "6"), std::pair("16qam", "10"), std::pair("64qam", "18"),
          std::pair("256qam", "26"), std::pair("1024qam", "32")}) {
        const std::vector<double> bits = information(modulation, snr_db, {});
        EXPECT_GT(bits[1], bits[0] - 0.002) << modulation << " at " << snr_db << " dB";
    }
}

/// 16QAM at 14 dB and 120 kHz: decisions lose the phase of such an oscillator, PT-RS do not.
TEST(LinkSimPhase, PtrsHoldThePhaseOfABadOscillator) {
    const Arguments bad = {"--phase-noise", "-58", "--subcarrier-spacing", "120000"};
    Arguments with_ptrs = bad;
    with_ptrs.insert(with_ptrs.end(), {"--ptrs", "1,2"});
    const double ideal = information("16qam", "14", {"--subcarrier-spacing", "120000"})[1];
    EXPECT_LT(information("16qam", "14", bad)[1], ideal - 0.3);
    EXPECT_GT(information("16qam", "14", with_ptrs)[1], ideal - 0.2);
}

TEST(LinkSimPhase, RefusesWhatIsNoPtrs) {
    for (const auto& [value, reason] :
         {std::pair("1", "two numbers"), std::pair("1,2,3", "two numbers"), std::pair("a,2", "two numbers"),
          std::pair("3,2", "PT-RS time_density 3"), std::pair("1,1", "PT-RS frequency_density 1")}) {
        const Outcome outcome = run({link_sim_program(), "--ptrs", value});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_NE(outcome.err.find(reason), std::string::npos) << outcome.err;
    }
}

TEST(LinkSimPhase, RefusesWhatIsNoLevel) {
    for (const char* const level : {"-30", "-300", "loud"}) {
        const Outcome outcome = run({link_sim_program(), "--phase-noise", level});
        EXPECT_EQ(outcome.status, 2);
        EXPECT_NE(outcome.err.find("a number from -200 to -40"), std::string::npos) << outcome.err;
    }
}

}  // namespace
}  // namespace phy::test
