#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ofdm/ofdm_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/ofdm/transform_precoder.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::TransformPrecoder;
using Direction = TransformPrecoder::Config::Direction;

std::vector<int> precoding_sizes() {
    std::vector<int> sizes;
    for (int blocks = 1; blocks <= 270; ++blocks) {
        int rest = blocks;
        for (const int factor : {2, 3, 5})
            while (rest % factor == 0)
                rest /= factor;
        if (rest == 1) sizes.push_back(12 * blocks);
    }
    return fewer_cases(sizes);
}

std::vector<cf32> precoded(const phy::Host& host, int size, Direction direction, std::span<const cf32> in) {
    std::vector<cf32> out(in.size());
    TransformPrecoder(host, {.subcarriers = size, .direction = direction})(in, out);
    return out;
}

TEST(TransformPrecoderTest, EverySizeIsTheSumOfTheStandard) {
    for (const int size : precoding_sizes()) {
        const auto count = static_cast<std::size_t>(size);
        const std::vector<cf32> in = random_numbers(2 * count);
        for (const Direction direction : {Direction::precode, Direction::undo}) {
            SCOPED_TRACE(std::to_string(size) + " subcarriers, seed " + std::to_string(ofdm_seed));
            const std::vector<cf32> out = precoded(scalar_host(), size, direction, in);
            Points truth;
            for (std::size_t first = 0; first < 2 * count; first += count) {
                const Points some(in.begin() + static_cast<std::ptrdiff_t>(first),
                                  in.begin() + static_cast<std::ptrdiff_t>(first + count));
                for (const auto& bin : reference_dft(some, direction == Direction::precode ? -1.0 : 1.0))
                    truth.push_back(bin / std::sqrt(static_cast<double>(size)));
            }
            EXPECT_LT(relative_error(out, truth), transform_error(count));
            for (const phy::Backend& backend : host_backends())
                EXPECT_TRUE(bits_of(precoded(host_of(backend), size, direction, in)) == bits_of(out))
                    << backend.name();
        }
    }
}

TEST(TransformPrecoderTest, AnyNumberOfSymbolsAndThreads) {
    constexpr int size = 60;
    for (std::size_t symbols = 0; symbols < 40; ++symbols) {
        const std::vector<cf32> in = random_numbers(symbols * size);
        std::vector<cf32> expected;
        for (std::size_t first = 0; first < in.size(); first += size) {
            const auto one =
                precoded(scalar_host(), size, Direction::precode, std::span(in).subspan(first, size));
            expected.insert(expected.end(), one.begin(), one.end());
        }
        for (const phy::Backend& backend : host_backends())
            for (const int threads : {1, 3})
                EXPECT_TRUE(bits_of(precoded(host_of(backend, threads), size, Direction::precode, in)) ==
                            bits_of(expected))
                    << backend.name() << ", " << symbols << " symbols, seed " << ofdm_seed;
    }
}

TEST(TransformPrecoderTest, OneUndoesTheOtherInPlace) {
    for (const int size : {12, 300, 3240}) {
        const std::vector<cf32> in = random_numbers(static_cast<std::size_t>(14 * size));
        std::vector<cf32> out = in;
        TransformPrecoder(phy::Host(), {.subcarriers = size, .direction = Direction::precode})(out, out);
        EXPECT_GT(relative_error(out, Points(in.begin(), in.end())), 1.0);
        TransformPrecoder(phy::Host(), {.subcarriers = size})(out, out);
        EXPECT_LT(relative_error(out, Points(in.begin(), in.end())), 5e-7) << "seed " << ofdm_seed;
    }
}

TEST(TransformPrecoderTest, WhatIsNotFiniteStaysInItsSymbol) {
    std::vector<cf32> in = random_numbers(5 * std::size_t{36});
    const auto expected = precoded(phy::Host(), 36, Direction::undo, in);
    in[36 * 3 + 7] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
    for (const phy::Backend& backend : host_backends()) {
        const auto out = precoded(host_of(backend), 36, Direction::undo, in);
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (i / 36 != 3) {
                EXPECT_EQ(out[i], expected[i]);
            } else {
                EXPECT_EQ(bits_of(std::span(out).subspan(i, 1)),
                          (std::vector<std::uint32_t>{0x7FC00000U, 0x7FC00000U}));
            }
        }
    }
}

TEST(TransformPrecoderTest, WrongArgumentsThrow) {
    for (const int size : {-12, 0, 1, 6, 13, 84, 132, 3252, 3300})
        EXPECT_THROW(TransformPrecoder(phy::Host(), {.subcarriers = size}), phy::ArgumentError) << size;
    EXPECT_THROW(TransformPrecoder(phy::Host(), {.subcarriers = 12, .direction = static_cast<Direction>(2)}),
                 phy::ArgumentError);
    TransformPrecoder precoder(phy::Host(), {.subcarriers = 12});
    std::vector<cf32> in(24);
    std::vector<cf32> out(36);
    EXPECT_THROW(precoder(in, out), phy::ArgumentError);
    EXPECT_THROW(precoder(std::span(in).first(13), std::span(out).first(13)), phy::ArgumentError);
}

}  // namespace
