#include "demapper/reference.hpp"

#include <gtest/gtest.h>

#include "demapper/signals.hpp"

namespace {

using phy::Method;
using phy::Modulation;

constexpr unsigned seed = 2002;

// The accuracy tests trust this for the millions of symbols for which the plane would take too long.
TEST(Reference, AxesEqualThePlane) {
    for (const Modulation modulation : phy::all_modulations) {
        SCOPED_TRACE(std::string(to_string(modulation)) + ", seed " + std::to_string(seed));
        phy_test::Reference by_axes(modulation);
        for (const double snr : {0.0, 12.0, 30.0}) {
            phy_test::NoisySymbols symbols(modulation, snr, seed);
            const double noise = phy_test::noise_of_snr(snr);
            for (std::uint64_t index = 0; index < 50; ++index) {
                const std::complex<double> y(symbols.next());
                phy_test::PlaneReference by_plane(modulation, index);
                for (const Method method : {Method::max_log, Method::log_map}) {
                    const auto expected = by_plane(method, y, noise);
                    const auto actual = by_axes(method, y, noise, index);
                    for (std::size_t k = 0; k < bits_per_symbol(modulation); ++k) {
                        ASSERT_NEAR(actual[k], expected[k], 1e-9 * (1.0 + std::abs(expected[k])))
                            << "bit " << k << " at " << snr << " dB";
                    }
                }
            }
        }
    }
}

// A reference with its sign the wrong way round would agree with a demapper that has the same mistake.
TEST(Reference, PositiveMeansZero) {
    phy_test::PlaneReference qpsk(Modulation::qpsk, 0);
    const double a = std::sqrt(0.5);
    const auto soft_bits = qpsk(Method::max_log, {a, -2.0 * a}, 0.25);
    EXPECT_NEAR(soft_bits[0], 4.0 * a * a / 0.25, 1e-12);
    EXPECT_NEAR(soft_bits[1], -4.0 * a * 2.0 * a / 0.25, 1e-12);
    EXPECT_EQ(phy_test::quantised(soft_bits[0], 6.0, 127), 48);
    EXPECT_EQ(phy_test::quantised(soft_bits[0], 6.0, 31), 31);
}

}  // namespace
