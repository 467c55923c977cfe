#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "link_sim/options.hpp"
#include "link_sim/simulation.hpp"
#include "link_sim/statistics.hpp"
#include "link_sim/theory.hpp"
#include "support/equations.hpp"
#include "transmission/channel.hpp"

namespace phy::apps {
namespace {

double q(double x) {
    return 0.5 * std::erfc(x / std::numbers::sqrt2);
}

/// From the equations of the standard: by the probability of every point that may be decided, the axes
/// together. The points of an axis are those of the diagonal, with equal bits on I and Q.
double rate_of_decisions(Modulation modulation, double es_n0) {
    const std::size_t qm = bits_per_symbol(modulation);
    const std::size_t m = std::max<std::size_t>(1, qm / 2);
    struct Point {
        double level;
        std::vector<std::uint8_t> bits;
    };
    std::vector<Point> points;
    for (unsigned label = 0; label < 1U << m; ++label) {
        std::vector<std::uint8_t> bits(qm);
        for (std::size_t i = 0; i < qm; ++i)
            bits[i] = label >> (qm == 1 ? 0 : i / 2) & 1U;
        points.push_back({phy_test::symbol_of(modulation, bits, 0).real(), bits});
    }
    std::ranges::sort(points, {}, &Point::level);
    // BPSK is decided on both axes at once, which takes half of the noise.
    const double deviation = std::sqrt((qm == 1 ? 0.25 : 0.5) / es_n0);
    double sum = 0.0;
    for (const Point& sent : points) {
        for (std::size_t decided = 0; decided < points.size(); ++decided) {
            const auto above = [&](std::size_t boundary) {
                const double middle = (points[boundary - 1].level + points[boundary].level) / 2.0;
                return q((middle - sent.level) / deviation);
            };
            const double probability = (decided == 0 ? 1.0 : above(decided)) -
                                       (decided + 1 == points.size() ? 0.0 : above(decided + 1));
            for (std::size_t i = 0; i < qm; ++i)
                sum += sent.bits[i] != points[decided].bits[i] ? probability : 0.0;
        }
    }
    return sum / static_cast<double>(points.size() * qm);
}

TEST(LinkTheory, IsThatOfEveryDecision) {
    for (const Modulation modulation : all_modulations) {
        for (const double snr_db : {-10.0, 0.0, 7.0, 13.0, 22.0}) {
            SCOPED_TRACE(std::string(to_string(modulation)) + " at " + std::to_string(snr_db));
            const double es_n0 = std::pow(10.0, snr_db / 10.0);
            const double expected = rate_of_decisions(modulation, es_n0);
            EXPECT_NEAR(bit_error_rate(modulation, es_n0), expected, 1e-12 + 1e-9 * expected);
        }
    }
}

TEST(LinkTheory, HasTheKnownForms) {
    for (const double snr_db : {0.0, 10.0, 20.0, 30.0}) {
        const double es_n0 = std::pow(10.0, snr_db / 10.0);
        const auto expect_ratio = [](double value, double expected) {
            EXPECT_NEAR(value / expected, 1.0, 1e-9);
        };
        expect_ratio(bit_error_rate(Modulation::bpsk, es_n0 / 10.0), q(std::sqrt(2.0 * es_n0 / 10.0)));
        expect_ratio(bit_error_rate(Modulation::qpsk, es_n0), q(std::sqrt(es_n0)));
        const double x = std::sqrt(es_n0 / 5.0);
        expect_ratio(bit_error_rate(Modulation::qam16, es_n0),
                     0.75 * q(x) + 0.5 * q(3 * x) - 0.25 * q(5 * x));
    }
}

/// Against the integral over the power of the channel.
TEST(LinkTheory, OfRayleighFadingIsTheMean) {
    for (const int branches : {1, 2, 4}) {
        for (const double es_n0 : {0.5, 10.0, 300.0}) {
            // Over the amplitude, in which the integrand is smooth.
            constexpr double step = 1e-3;
            double integral = 0.0;
            for (double amplitude = step / 2.0; amplitude < 6.0; amplitude += step) {
                const double power = amplitude * amplitude;
                const double density =
                    std::pow(power, branches - 1) * std::exp(-power) / std::tgamma(branches);
                integral +=
                    2.0 * amplitude * step * density * bit_error_rate(Modulation::qam16, power * es_n0);
            }
            const double rate = rayleigh_bit_error_rate(Modulation::qam16, es_n0, branches);
            EXPECT_NEAR(rate / integral, 1.0, 1e-4) << branches << " branches at " << es_n0;
        }
    }
}

TEST(LinkChannel, TapsHaveUnitPowerAndTheirDelaySpread) {
    for (const std::string name : {"tdl:300", "tdl-a:300", "tdl-b:300", "tdl-c:300"}) {
        SCOPED_TRACE(name);
        double power = 0.0;
        double mean = 0.0;
        double square = 0.0;
        for (const Tap& tap : taps_of(parse_channel(name))) {
            power += tap.power;
            mean += tap.power * tap.delay;
            square += tap.power * tap.delay * tap.delay;
        }
        EXPECT_NEAR(power, 1.0, 1e-12);
        // The tables are printed with four digits of delays and one of decibels.
        EXPECT_NEAR(std::sqrt(square - mean * mean), 300e-9, 3e-9);
    }
    EXPECT_EQ(taps_of(parse_channel("tdl:300")).size(), 23U);
    EXPECT_EQ(taps_of(parse_channel("tdl-b:300")).size(), 23U);
    EXPECT_EQ(taps_of(parse_channel("tdl-c:300")).size(), 24U);
    EXPECT_EQ(to_string(parse_channel("tdl:12.5")), "tdl-a:12.5");
    EXPECT_EQ(to_string(parse_channel("awgn")), "awgn");
}

TEST(LinkChannel, TakesTapsAsGiven) {
    const std::string name = "taps:-120.5:-10,0:0,700:-3.5";
    EXPECT_EQ(to_string(parse_channel(name)), name);
    const std::vector<Tap> taps = taps_of(parse_channel(name));
    ASSERT_EQ(taps.size(), 3U);
    EXPECT_DOUBLE_EQ(taps[0].delay, -120.5e-9);
    EXPECT_DOUBLE_EQ(taps[2].delay, 700e-9);
    EXPECT_NEAR(taps[0].power / taps[1].power, 0.1, 1e-12);
    EXPECT_NEAR(taps[0].power + taps[1].power + taps[2].power, 1.0, 1e-12);
}

Channel channel_of(const std::string& name, int antennas, int layers) {
    return Channel(
        {.model = parse_channel(name), .antennas = antennas, .layers = layers, .subcarriers = 120});
}

/// Power, correlation of subcarriers and independence of antennas, over many slots.
TEST(LinkChannel, FadesAsItsTaps) {
    for (const std::string name : {"flat", "tdl-a:300", "tdl-c:100", "taps:-90:-6,400:0,720:-2"}) {
        const Channel channel = channel_of(name, 2, 1);
        std::vector<float> h(channel.size());
        constexpr int slots = 20'000;
        double power = 0.0;
        std::complex<double> near;
        std::complex<double> other_antenna;
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            channel.draw({5, slot}, h);
            const auto at = [&](std::size_t antenna, std::size_t k) {
                return std::complex<double>(h[antenna * 240 + k], h[antenna * 240 + 120 + k]);
            };
            power += std::norm(at(0, 60)) / slots;
            near += at(0, 90) * std::conj(at(0, 30)) / double{slots};
            other_antenna += at(0, 60) * std::conj(at(1, 60)) / double{slots};
        }
        std::complex<double> expected;
        for (const Tap& tap : taps_of(parse_channel(name)))
            expected += std::polar(tap.power, -2.0 * std::numbers::pi * 60.0 * 30e3 * tap.delay);
        EXPECT_NEAR(power, 1.0, 0.03) << name;
        EXPECT_NEAR(std::abs(near - expected), 0.0, 0.03) << name;
        EXPECT_NEAR(std::abs(other_antenna), 0.0, 0.03) << name;
    }
}

/// The correlation of symbols is J0(2 pi f tau), here as its integral over angles of arrival; that of
/// subcarriers is the one without a shift.
TEST(LinkChannel, MovesAsJakesSays) {
    for (const double doppler : {10.0, 389.0, 2000.0}) {
        const Channel channel({.model = parse_channel("tdl-a:300"),
                               .antennas = 2,
                               .layers = 1,
                               .subcarriers = 120,
                               .doppler = doppler});
        ASSERT_EQ(channel.size(), std::size_t{14 * 2 * 2 * 120});
        std::vector<float> h(channel.size());
        constexpr int slots = 20'000;
        const auto at = [&](std::size_t moment, std::size_t antenna, std::size_t k) {
            const std::size_t first = (moment * 2 + antenna) * 240;
            return std::complex<double>(h[first + k], h[first + 120 + k]);
        };
        std::array<std::complex<double>, 14> over_time;
        std::complex<double> over_frequency;
        std::complex<double> over_antennas;
        for (std::uint64_t slot = 0; slot < slots; ++slot) {
            channel.draw({6, slot}, h);
            for (std::size_t moment = 0; moment < 14; ++moment)
                over_time[moment] += at(moment, 0, 60) * std::conj(at(0, 0, 60)) / double{slots};
            over_frequency += at(9, 1, 90) * std::conj(at(9, 1, 30)) / double{slots};
            over_antennas += at(5, 0, 60) * std::conj(at(5, 1, 60)) / double{slots};
        }
        const double symbol = 1.0 / 30e3 * (1.0 + 9.0 / 128.0);
        for (std::size_t moment = 0; moment < 14; ++moment) {
            double expected = 0.0;
            constexpr int angles = 1000;
            for (int i = 0; i < angles; ++i)
                expected += std::cos(2.0 * std::numbers::pi * doppler * symbol * static_cast<double>(moment) *
                                     std::cos(std::numbers::pi * (i + 0.5) / angles)) /
                            angles;
            EXPECT_NEAR(std::abs(over_time[moment] - expected), 0.0, 0.04) << doppler << " Hz, " << moment;
        }
        std::complex<double> expected;
        for (const Tap& tap : taps_of(parse_channel("tdl-a:300")))
            expected += std::polar(tap.power, -2.0 * std::numbers::pi * 60.0 * 30e3 * tap.delay);
        EXPECT_NEAR(std::abs(over_frequency - expected), 0.0, 0.04) << doppler << " Hz";
        EXPECT_NEAR(std::abs(over_antennas), 0.0, 0.04) << doppler << " Hz";
    }
}

TEST(LinkChannel, LayersAreOrthogonalWithoutFading) {
    for (const int antennas : {1, 2, 3, 4, 7}) {
        for (int layers = 1; layers <= std::min(antennas, 4); ++layers) {
            const Channel channel = channel_of("awgn", antennas, layers);
            std::vector<float> h(channel.size());
            channel.draw({1, 1}, h);
            for (int v = 0; v < layers; ++v) {
                for (int w = 0; w < layers; ++w) {
                    std::complex<double> product;
                    for (int a = 0; a < antennas; ++a) {
                        const auto at = [&](int layer) {
                            const auto first = static_cast<std::size_t>(a * layers + layer) * 240;
                            return std::complex<double>(h[first + 7], h[first + 127]);
                        };
                        product += at(v) * std::conj(at(w));
                    }
                    EXPECT_NEAR(std::abs(product), v == w ? antennas : 0.0, 1e-5);
                }
            }
        }
    }
}

TEST(LinkChannel, OffsetsTurnSubcarriersAndSymbols) {
    const Channel channel({.model = {},
                           .subcarriers = 120,
                           .subcarrier_spacing = 30e3,
                           .timing_offset = 100e-9,
                           .frequency_offset = 300.0});
    std::vector<float> h(channel.size());
    channel.draw({1, 1}, h);
    const auto angle = [&](std::size_t k) { return std::arg(std::complex<double>(h[k], h[120 + k])); };
    EXPECT_NEAR(angle(70) - angle(60), -2.0 * std::numbers::pi * 10.0 * 30e3 * 100e-9, 1e-5);
    const double symbol = 1.0 / 30e3 * (1.0 + 9.0 / 128.0);
    EXPECT_NEAR(std::arg(channel.phase()[5]) - std::arg(channel.phase()[2]),
                2.0 * std::numbers::pi * 3.0 * symbol * 300.0, 1e-5);
}

TEST(LinkStatistics, InformationIsThatOfItsDefinition) {
    const std::vector<std::uint8_t> bits = {0, 1, 0, 1, 1, 0, 0};
    const std::vector<float> nats = {1.5F, -2.0F, -0.5F, 20.0F, 0.0F, 100.0F, -60.0F};
    double expected = 0.0;
    for (std::size_t i = 0; i < bits.size(); ++i)
        expected += 1.0 - std::log2(1.0 + std::exp(-(1.0 - 2.0 * bits[i]) * static_cast<double>(nats[i])));
    EXPECT_NEAR(information(nats, 1.0F, bits), expected, 1e-9);
    std::vector<half> halves;
    std::vector<std::int8_t> integers;
    double of_integers = 0.0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        halves.emplace_back(nats[i]);
        integers.push_back(static_cast<std::int8_t>(std::clamp(nats[i] * 4.0F, -127.0F, 127.0F)));
        of_integers += 1.0 - std::log2(1.0 + std::exp(-(1.0 - 2.0 * bits[i]) * integers[i] / 4.0));
    }
    EXPECT_NEAR(information(halves, 1.0F, bits), expected, 1e-9);
    EXPECT_NEAR(information(integers, 4.0F, bits), of_integers, 1e-9);
    const std::vector<std::int8_t> least = {-128};
    EXPECT_NEAR(information(least, 6.0F, std::vector<std::uint8_t>{1}), 1.0, 1e-6);
}

TEST(LinkOptions, RangesOfSnr) {
    EXPECT_EQ(parse_snr_range("-5:2.5:5"), (std::vector<double>{-5.0, -2.5, 0.0, 2.5, 5.0}));
    EXPECT_EQ(parse_snr_range("7"), std::vector<double>{7.0});
    EXPECT_EQ(parse_snr_range("0:0.1:0.3"), (std::vector<double>{0.0, 0.1, 0.2, 0.3}));
    EXPECT_EQ(parse_snr_range("1:4:8"), (std::vector<double>{1.0, 5.0}));
    for (const std::string wrong : {"", ":", "1:2", "1:2:3:4", "1:0:3", "1:-1:3", "3:1:1", "a", "0:1:nan",
                                    "0:1e-9:9", "101", "0:1:101"})
        EXPECT_THROW(parse_snr_range(wrong), ArgumentError) << wrong;
}

TEST(LinkSimulation, PointsEndByTheirRule) {
    PointState state{.slots = 4, .sums = std::vector<LinkSums>(2)};
    state.sums[0].soft_bits = {.soft_bits = 1000, .bit_errors = 50};
    state.sums[1].soft_bits = {.soft_bits = 1000, .bit_errors = 20};
    EXPECT_DOUBLE_EQ(state.done({.errors = 40, .max_sent = 10'000}), 0.5);
    EXPECT_DOUBLE_EQ(state.done({.errors = 40, .max_sent = 1'250}), 0.8);
    EXPECT_DOUBLE_EQ(state.done({.errors = 20, .max_sent = 10'000, .min_slots = 16}), 0.25);
    EXPECT_GE(state.done({.errors = 20, .max_sent = 10'000}), 1.0);
}

TEST(LinkSimulation, PointsOfBlocksEndByBlocks) {
    PointState state{.slots = 8, .sums = std::vector<LinkSums>(2)};
    for (LinkSums& sums : state.sums)
        sums.soft_bits = {.soft_bits = 1000, .bit_errors = 50};
    state.sums[0].blocks = {.blocks = 8, .errors = 4};
    state.sums[1].blocks = {.blocks = 8, .errors = 1};
    EXPECT_DOUBLE_EQ(state.done({.counts_blocks = true, .errors = 2, .max_sent = 80}), 0.5);
    EXPECT_DOUBLE_EQ(state.done({.counts_blocks = true, .errors = 4, .max_sent = 16}), 0.5);
    EXPECT_GE(state.done({.counts_blocks = true, .errors = 4, .max_sent = 8}), 1.0);
}

}  // namespace
}  // namespace phy::apps
