#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ofdm/ofdm_cases.hpp"
#include "phy/ofdm/modulator.hpp"
#include "support/npz.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;

/// A waveform of MATLAB's 5G Toolbox with phase compensation, both ways.
TEST(OfdmVectorsTest, MatlabWaveform) {
    const auto arrays = read_npz(vectors_directory() / "matlab_ofdm_40mhz_15khz.npz");
    const auto waveform = arrays.at("waveform").as<cf32>("<c8");
    const auto grid = arrays.at("grid").as<cf32>("<c8");
    const phy::OfdmConfig config = {.resource_blocks = 216,
                                    .subcarrier_spacing = 15000.0,
                                    .sample_rate = 61'440'000.0,
                                    .center_frequency = 3.8e9};
    ASSERT_EQ(grid.size(), 28 * phy::OfdmTiming(config).subcarriers());
    const auto largest_difference = [](std::span<const cf32> values, std::span<const cf32> truth) {
        double largest = 0.0;
        for (std::size_t i = 0; i < truth.size(); ++i)
            largest = std::max(largest, std::abs(std::complex<double>(values[i] - truth[i])));
        const double power = power_of(Points(truth.begin(), truth.end()));
        return largest / std::sqrt(power / static_cast<double>(truth.size()));
    };
    const auto seen = demodulated(phy::Host(), {.ofdm = config}, waveform, {.count = 2});
    EXPECT_LT(largest_difference(seen, grid), 2e-6);

    std::vector<cf32> samples(waveform.size());
    phy::OfdmModulator modulate(phy::Host(), config);
    modulate(grid, {.count = 2}, samples);
    EXPECT_LT(largest_difference(samples, waveform), 2e-6);

    phy::OfdmConfig without = config;
    without.center_frequency = 0.0;
    EXPECT_GT(largest_difference(demodulated(phy::Host(), {.ofdm = without}, waveform, {.count = 2}), grid),
              0.1);
}

}  // namespace
