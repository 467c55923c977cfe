#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ofdm/ofdm_cases.hpp"
#include "phy/core/check.hpp"
#include "phy/resampler/resampler.hpp"

/// Rates for tests.
namespace phy_test {

/// Those of recorders into those of carriers, and any others.
inline phy::ResamplerConfig random_rates(std::mt19937& random) {
    constexpr double recorded[] = {20e6, 25e6, 50e6, 62.5e6, 100e6, 125e6, 184.32e6, 200e6, 245.76e6};
    constexpr double of_carriers[] = {15.36e6, 23.04e6, 30.72e6, 61.44e6, 122.88e6};
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    phy::ResamplerConfig config;
    if (random() % 3 == 0) {
        config.input_rate = 1e6 * std::exp(6.0 * unit(random));
        config.output_rate = config.input_rate * std::exp(3.0 * (unit(random) - 0.5));
    } else {
        config.input_rate = recorded[random() % std::size(recorded)];
        config.output_rate = of_carriers[random() % std::size(of_carriers)];
    }
    const double smaller = std::min(config.input_rate, config.output_rate);
    config.bandwidth = std::min(smaller * (0.96 - 0.5 * unit(random)), smaller - 0.0095 * config.input_rate);
    return config;
}

inline unsigned next_seed(std::mt19937& random) {
    return static_cast<unsigned>(random());
}

/// Rows that begin anywhere in the first samples, or before them, with steps of a clock that is up to 100 ppm
/// off.
inline std::vector<phy::ResampledRow> random_rows(std::mt19937& random, std::uint64_t step,
                                                  std::size_t count) {
    std::vector<phy::ResampledRow> rows(count);
    for (phy::ResampledRow& row : rows) {
        row.position = random() % (std::uint64_t{1} << 38U);
        const auto off = static_cast<std::int64_t>(random() % 200) - 100;
        row.step = step + static_cast<std::uint64_t>(static_cast<std::int64_t>(step / 1'000'000) * off);
    }
    return rows;
}

inline std::string name_of(const phy::ResamplerConfig& config) {
    return phy::detail::number_text(config.input_rate) + " to " +
           phy::detail::number_text(config.output_rate) + " Hz, bandwidth " +
           phy::detail::number_text(config.bandwidth);
}

inline std::vector<phy::cf32> resampled(const phy::Host& host, const phy::ResamplerConfig& config,
                                        phy::SymbolView input, std::span<const phy::ResampledRow> rows,
                                        std::size_t outputs) {
    phy::Resampler resample(host, config);
    std::vector<phy::cf32> output(rows.size() * outputs);
    resample(input, rows, output);
    return output;
}

}  // namespace phy_test
