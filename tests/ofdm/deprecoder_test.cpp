// Equalised subcarriers with transform precoding, against the same in binary64.

#include "phy/ofdm/transform_deprecoder.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/core/error.hpp"

namespace {

using phy::cf32;
using phy::TransformDeprecoder;
using Complex = std::complex<double>;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Row {
    std::vector<cf32> symbols;
    std::vector<float> noise;
};

/// Some subcarriers are erased, with a share from 0 to 1.
Row random_row(std::mt19937& random, std::size_t count, double erased) {
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<double> share;
    Row row;
    for (std::size_t k = 0; k < count; ++k) {
        const bool is_erased = share(random) < erased;
        row.symbols.push_back(is_erased ? cf32() : cf32(normal(random), normal(random)));
        row.noise.push_back(is_erased ? infinity : std::exp(3.0F * normal(random) - 3.0F));
    }
    return row;
}

/// By the definition of the inverse DFT, and of what its results are made of.
void expect_undone(const Row& in, const Row& out, bool mmse) {
    const std::size_t count = in.symbols.size();
    const auto number = static_cast<double>(count);
    std::vector<double> weights;
    double mean = 0.0;
    double signal = 0.0;
    double noise = 0.0;
    for (const float n : in.noise) {
        const bool is_erased = std::isinf(n);
        const double weight = is_erased ? 0.0 : mmse ? 1.0 / (1.0 + double{n}) : 1.0;
        weights.push_back(weight);
        mean += weight / number;
        signal += weight * weight / number;
        noise += is_erased ? 0.0 : weight * weight * double{n} / number;
    }
    // What is left of the other symbols, and the noise, over the gain of the wanted one.
    const double variance = (signal - mean * mean + noise) / (mean * mean);
    for (std::size_t i = 0; i < count; ++i) {
        if (mean == 0.0) {
            ASSERT_EQ(out.symbols[i], cf32());
            ASSERT_EQ(out.noise[i], infinity);
            continue;
        }
        Complex sum = 0.0;
        for (std::size_t k = 0; k < count; ++k)
            sum += weights[k] * Complex(in.symbols[k]) *
                   std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(i * k % count) / number);
        sum /= std::sqrt(number) * mean;
        ASSERT_NEAR(std::abs(Complex(out.symbols[i]) - sum), 0.0, 1e-5 / mean) << i;
        ASSERT_NEAR(double{out.noise[i]}, variance, 1e-5 * (variance + 1.0)) << i;
    }
}

TEST(TransformDeprecoderTest, IsWhatItsEquationsSay) {
    constexpr unsigned seed = 63;
    for (const std::size_t count : {12U, 24U, 36U, 60U, 300U, 1620U}) {
        for (const bool mmse : {true, false}) {
            std::mt19937 random(seed);
            TransformDeprecoder undo(phy::Host(), {.subcarriers = static_cast<int>(count), .mmse = mmse});
            Row all;
            std::vector<Row> rows;
            for (const double erased : {0.0, 0.3, 1.0, 0.05}) {
                rows.push_back(random_row(random, count, erased));
                all.symbols.insert(all.symbols.end(), rows.back().symbols.begin(), rows.back().symbols.end());
                all.noise.insert(all.noise.end(), rows.back().noise.begin(), rows.back().noise.end());
            }
            undo(all.symbols, all.noise);
            for (std::size_t r = 0; r < rows.size(); ++r) {
                SCOPED_TRACE(std::to_string(count) + " subcarriers, row " + std::to_string(r) + ", seed " +
                             std::to_string(seed));
                const auto first = static_cast<std::ptrdiff_t>(r * count);
                const auto end = static_cast<std::ptrdiff_t>((r + 1) * count);
                expect_undone(rows[r],
                              {{all.symbols.begin() + first, all.symbols.begin() + end},
                               {all.noise.begin() + first, all.noise.begin() + end}},
                              mmse);
            }
        }
    }
}

TEST(TransformDeprecoderTest, KeepsNoiseAboveZero) {
    for (const bool mmse : {true, false}) {
        TransformDeprecoder undo(phy::Host(), {.subcarriers = 12, .mmse = mmse});
        std::vector<cf32> symbols(12, {1.0F, -1.0F});
        std::vector<float> noise(12, 1e-30F);
        undo(symbols, noise);
        EXPECT_GT(noise[0], 0.0F);
        EXPECT_LT(noise[0], 1e-7F);
    }
}

TEST(TransformDeprecoderTest, ErasesWhatIsNotFinite) {
    TransformDeprecoder undo(phy::Host(), {.subcarriers = 12, .mmse = false});
    std::vector<cf32> symbols(24, {1.0F, 0.0F});
    std::vector<float> noise(24, 0.1F);
    std::fill_n(symbols.begin(), 12, cf32(3e38F, 3e38F));
    undo(symbols, noise);
    EXPECT_EQ(symbols[0], cf32());
    EXPECT_EQ(noise[0], infinity);
    EXPECT_FLOAT_EQ(noise[12], 0.1F);
}

TEST(TransformDeprecoderTest, RefusesWhatDoesNotFit) {
    EXPECT_THROW(TransformDeprecoder(phy::Host(), {.subcarriers = 84}), phy::ArgumentError);
    TransformDeprecoder undo(phy::Host(), {.subcarriers = 12});
    std::vector<cf32> symbols(24);
    std::vector<float> noise(24);
    EXPECT_THROW(undo(std::span(symbols).first(13), std::span(noise).first(13)), phy::ArgumentError);
    EXPECT_THROW(undo(symbols, std::span(noise).first(12)), phy::ArgumentError);
}

}  // namespace
