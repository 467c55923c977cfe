#include "phy/numerics/elementary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

/// Against the C library's functions of long double, which has 64 bits or more, and against values that were
/// rounded from 300 bits.
namespace {

namespace elementary = phy::detail::elementary;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t seed = 14;
constexpr int trials = 100'000;

/// What long double itself may miss: two units of its last place, which is the 64th bit or one behind.
constexpr double slack = 2.0 / (1 << 11);

/// In units in the last place of the value nearest to what is expected.
double error_in_units(double value, long double expected) {
    const double nearest = std::fabs(static_cast<double>(expected));
    const double unit = std::isinf(nearest) ? infinity : std::nextafter(nearest, infinity) - nearest;
    if (std::isinf(nearest) && static_cast<double>(expected) == value) return 0.0;
    return static_cast<double>(std::fabs(static_cast<long double>(value) - expected)) / unit;
}

struct Range {
    double from;
    double to;
    bool is_of_exponents = false;  ///< of powers of two, of both signs where negative numbers are allowed
};

template <typename Function, typename Reference>
void expect_near(const char* name, Function function, Reference reference, const std::vector<Range>& ranges,
                 bool has_sign, double most = 0.5) {
    std::mt19937_64 random(seed);
    for (const Range& range : ranges) {
        std::uniform_real_distribution<double> uniform(range.from, range.to);
        double worst = 0.0;
        double at = 0.0;
        for (int i = 0; i < trials; ++i) {
            double x = uniform(random);
            if (range.is_of_exponents) x = std::exp2(x) * (has_sign && random() % 2 == 0 ? -1.0 : 1.0);
            const double error = error_in_units(function(x), reference(static_cast<long double>(x)));
            if (error > worst) at = x;
            worst = std::max(worst, error);
        }
        EXPECT_LE(worst, most + slack)
            << name << " of " << std::hexfloat << at << ", from " << std::defaultfloat << range.from << " to "
            << range.to << ", seed " << seed;
    }
}

TEST(Elementary, ErrorsAreHalfAUnitInTheLastPlace) {
    expect_near(
        "exp", elementary::exp, [](long double x) { return std::exp(x); },
        {{-745.2, 709.9}, {-745.2, -707.0}, {-20.0, 0.0}, {-70.0, 3.0, true}}, true);
    expect_near(
        "exp10", elementary::exp10, [](long double x) { return std::pow(10.0L, x); },
        {{-323.4, 308.3}, {-5.0, 5.0}, {-70.0, 1.0, true}}, true);
    expect_near(
        "log", elementary::log, [](long double x) { return std::log(x); },
        {{0.5, 2.0}, {0.99, 1.01}, {1.0 - 1e-6, 1.0 + 1e-6}, {-1074.0, 1023.9, true}}, false);
    const std::vector<Range> angles = {{-4.0, 4.0}, {-10'000.0, 10'000.0}, {-1074.0, 20.0, true}};
    expect_near(
        "sin", elementary::sin, [](long double x) { return std::sin(x); }, angles, true);
    expect_near(
        "cos", elementary::cos, [](long double x) { return std::cos(x); }, angles, true);
    expect_near(
        "erfc", elementary::erfc, [](long double x) { return std::erfc(x); },
        {{0.0, 1.5}, {0.0, 7.0}, {0.0, 26.5}, {-1000.0, 0.0, true}}, false, 8.0);
}

TEST(Elementary, Decibels) {
    expect_near(
        "decibels", elementary::decibels, [](long double x) { return 10.0L * std::log10(x); },
        {{0.0, 0.9}, {1.1, 1e4}, {-300.0, 300.0, true}}, false, 4.0);
    expect_near(
        "power_ratio", elementary::power_ratio, [](long double x) { return std::pow(10.0L, x / 10.0L); },
        {{-5.0, 5.0}}, true);
    EXPECT_EQ(elementary::decibels(0.0), -infinity);
    EXPECT_EQ(elementary::decibels(infinity), infinity);
    EXPECT_EQ(elementary::power_ratio(-infinity), 0.0);
    EXPECT_EQ(elementary::power_ratio(infinity), infinity);
    EXPECT_EQ(elementary::power_ratio(20.0), 100.0);
    EXPECT_TRUE(std::isnan(elementary::power_ratio(std::nan(""))));
    EXPECT_TRUE(std::isnan(elementary::decibels(std::nan(""))));
}

TEST(Elementary, AnglesOfPoints) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    double worst = 0.0;
    for (int i = 0; i < trials; ++i) {
        const double x = uniform(random) * std::exp2(i % 3 == 1 ? 500.0 * uniform(random) : 0.0);
        const double y = uniform(random) * std::exp2(i % 3 == 2 ? 60.0 * uniform(random) : 0.0);
        const long double expected = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
        worst = std::max(worst, error_in_units(elementary::angle_of({x, y}), expected));
    }
    EXPECT_LE(worst, 0.5 + slack) << "seed " << seed;
    EXPECT_EQ(elementary::angle_of({0.0, 0.0}), 0.0);
    EXPECT_EQ(elementary::angle_of({2.0, 0.0}), 0.0);
    EXPECT_EQ(elementary::angle_of({-2.0, 0.0}), std::numbers::pi);
    EXPECT_EQ(elementary::angle_of({-2.0, -0.0}), -std::numbers::pi);
    EXPECT_EQ(elementary::angle_of({0.0, -5e-324}), -0.5 * std::numbers::pi);
    EXPECT_EQ(elementary::angle_of({1e308, 1e308}), 0.25 * std::numbers::pi);
    EXPECT_TRUE(std::isnan(elementary::angle_of({infinity, 1.0})));
    EXPECT_TRUE(std::isnan(elementary::angle_of({1.0, std::nan("")})));
}

struct Known {
    double x;
    double value;
};

void expect_known(const char* name, const std::function<double(double)>& function,
                  const std::vector<Known>& all) {
    for (const Known& known : all)
        EXPECT_EQ(function(known.x), known.value) << name << " of " << std::hexfloat << known.x;
}

// The last four of each are nearer than 2^-15 units to the middle between two numbers: the short way leaves
// them open.
TEST(Elementary, AreRoundedToNearest) {
    expect_known("exp", elementary::exp,
                 {{-0x1.5e4p+9, 0x1.4ff475c68ca02p-1011},
                  {-0x1.2ap+5, 0x1.3278bcd70e981p-54},
                  {-1.0, 0x1.78b56362cef38p-2},
                  {-0.1, 0x1.cf46d99d52b3ap-1},
                  {1e-9, 0x1.000000044b83p+0},
                  {0.7, 0x1.01c2a61268987p+1},
                  {88.0, 0x1.f1056dc7bf22dp+126},
                  {709.5, 0x1.81e9b4b52d0c9p+1023},
                  {-0x1.17e7e911ff597p+4, 0x1.b1ee51a486639p-26},
                  {-0x1.5756e54a794b4p+3, 0x1.6f4c6c7f83dd2p-16},
                  {0x1.9a4240cc665bp+1, 0x1.8a8bc34ca933dp+4},
                  {-0x1.e6c5e7f3de1e6p+3, 0x1.09cdac09a9b7fp-22}});
    expect_known("exp10", elementary::exp10,
                 {{-300.25, 0x1.81a2607e5cae3p-998},
                  {-0.15, 0x1.6a77deae8ab8ap-1},
                  {0.05, 0x1.1f3c99f6bc436p+0},
                  {0.15, 0x1.699c0f7e86e1p+0},
                  {0.2385, 0x1.bb57d62dfd3c3p+0},
                  {22.0, 1e22},
                  {307.9, 0x1.c476e1b46893fp+1022},
                  {0x1.581648dc2b36ap+1, 0x1.e7bb0da336376p+8},
                  {0x1.016e5819a83a8p-1, 0x1.97628a6925992p+1},
                  {-0x1.3819e5975aa1ap+0, 0x1.ee96e1c979082p-5},
                  {-0x1.1d8608ddcee42p+1, 0x1.81532961372f1p-8}});
    expect_known("log", elementary::log,
                 {{5e-324, -0x1.74385446d71c3p+9},
                  {1e-310, -0x1.64e69394d9508p+9},
                  {0.1, -0x1.26bb1bbb55515p+1},
                  {0.999999, -0x1.0c6f82d74d23p-20},
                  {1.000001, 0x1.0c6f713f33a1dp-20},
                  {2.0, 0x1.62e42fefa39efp-1},
                  {3.0, 0x1.193ea7aad030bp+0},
                  {1e300, 0x1.5963447f87fb5p+9},
                  {0x1.70cabc5599cd7p+0, 0x1.75d106922e1a2p-2},
                  {0x1.479781bb3aad6p+0, 0x1.f904acc12b6aep-3},
                  {0x1.9e713e0ebcb54p+0, 0x1.ed518fbd04988p-2},
                  {0x1.f7ee6e3cebedfp+0, 0x1.5ac22b4c015cfp-1}});
    expect_known("cos", elementary::cos,
                 {{1e-5, 0x1.ffffffff920c8p-1},
                  {0.5, 0x1.c1528065b7d5p-1},
                  {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
                  {3.0, -0x1.fae04be85e5d2p-1},
                  {355.0, -0x1.fffffffc18e4cp-1},
                  {9472.25, -0x1.e1486c0c4e68cp-1},
                  {1048575.9, 0x1.f1b57557c0355p-1},
                  {0x1.77da951c339bcp+2, 0x1.d57856bc6b88ep-1},
                  {-0x1.8a1196a97a93p-1, 0x1.6fb08232331bap-1},
                  {0x1.8ee40a9b4ep-1, 0x1.6c514c0a2c2f3p-1},
                  {-0x1.097fe855a12a8p+0, 0x1.0475ee47e3d7ep-1}});
    expect_known("sin", elementary::sin,
                 {{1e-300, 1e-300},
                  {1e-5, 0x1.4f8b588e1e8a2p-17},
                  {0.5, 0x1.eaee8744b05fp-2},
                  {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
                  {355.0, -0x1.f9bd0307d1de3p-16},
                  {9472.25, -0x1.5d58be6aff4ecp-2},
                  {1048575.9, 0x1.e07fa13370afbp-3},
                  {-0x1.01f3aff8829fp+0, -0x1.b0ee09cafb7bbp-1},
                  {0x1.8e4f887815a3cp+2, -0x1.e7cc7c3018a44p-5},
                  {-0x1.a19587b817c58p+0, -0x1.ff110db4a6174p-1},
                  {-0x1.075178a33480dp+3, -0x1.dc793d7e75685p-1}});
}

// Its bits count as well, though they are not those of the nearest number.
TEST(Elementary, ErfcHasTheSameBitsEverywhere) {
    expect_known("erfc", elementary::erfc,
                 {{0.1, 0x1.c66b42bb6099ap-1},
                  {0.5, 0x1.eb02147ce245cp-2},
                  {0.74, 0x1.2e68deb59f768p-2},
                  {0.76, 0x1.213e0ba4167a6p-2},
                  {1.5, 0x1.15aaa8ec85205p-5},
                  {2.75, 0x1.a609f7584d32bp-14},
                  {5.9, 0x1.4b99601a343bfp-54},
                  {6.1, 0x1.d1ef7651e1e25p-58},
                  {15.5, 0x1.869c2824b4b6cp-352},
                  {26.0, 0x1.284bfe1cdea24p-981}});
}

TEST(Elementary, BesselFunction) {
    for (int i = -800; i <= 800; ++i) {
        const double x = 0.25 * i;
        EXPECT_NEAR(elementary::bessel_j0(x), std::cyl_bessel_j(0.0, std::fabs(x)), 0x1p-44) << x;
    }
    EXPECT_EQ(elementary::bessel_j0(0.0), 1.0);
    // Abramowitz and Stegun, table 9.1.
    EXPECT_NEAR(elementary::bessel_j0(1.0), 0.765197686557967, 1e-15);
    EXPECT_NEAR(elementary::bessel_j0(2.4048255576957728), 0.0, 1e-15);
}

TEST(Elementary, OfSpecialValues) {
    const double nan = std::nan("");
    for (const auto& function : {elementary::exp, elementary::exp10, elementary::log, elementary::cos,
                                 elementary::sin, elementary::erfc})
        EXPECT_TRUE(std::isnan(function(nan)));
    for (const auto& power : {elementary::exp, elementary::exp10}) {
        EXPECT_EQ(power(infinity), infinity);
        EXPECT_EQ(power(-infinity), 0.0);
        EXPECT_EQ(power(1e300), infinity);
        EXPECT_EQ(power(-1e300), 0.0);
        EXPECT_EQ(power(0.0), 1.0);
        EXPECT_EQ(power(-0.0), 1.0);
        EXPECT_EQ(power(5e-324), 1.0);
    }
    EXPECT_EQ(elementary::exp(0x1.62e42fefa39efp+9), 0x1.fffffffffff2ap+1023);
    EXPECT_EQ(elementary::exp(0x1.62e42fefa39fp+9), infinity);
    EXPECT_EQ(elementary::exp(-0x1.74910d52d3051p+9), 5e-324);
    EXPECT_EQ(elementary::exp(-0x1.74910d52d3052p+9), 0.0);
    EXPECT_EQ(elementary::log(0.0), -infinity);
    EXPECT_EQ(elementary::log(-0.0), -infinity);
    EXPECT_EQ(elementary::log(infinity), infinity);
    EXPECT_EQ(elementary::log(1.0), 0.0);
    EXPECT_TRUE(std::isnan(elementary::log(-5e-324)));
    EXPECT_TRUE(std::isnan(elementary::log(-infinity)));
    for (const auto& function : {elementary::cos, elementary::sin}) {
        EXPECT_TRUE(std::isnan(function(infinity)));
        EXPECT_TRUE(std::isnan(function(-infinity)));
        EXPECT_FALSE(std::isnan(function(elementary::largest_angle)));
        EXPECT_TRUE(std::isnan(function(std::nextafter(elementary::largest_angle, infinity))));
    }
    EXPECT_EQ(elementary::cos(0.0), 1.0);
    EXPECT_EQ(elementary::sin(5e-324), 5e-324);
    EXPECT_TRUE(std::signbit(elementary::sin(-0.0)));
    EXPECT_EQ(elementary::erfc(0.0), 1.0);
    EXPECT_EQ(elementary::erfc(infinity), 0.0);
    EXPECT_TRUE(std::isnan(elementary::erfc(-1.0)));
}

}  // namespace
