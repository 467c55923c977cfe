#include "phy/measure/soft_bit_meter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "measure/soft_bit_cases.hpp"
#include "phy/core/error.hpp"
#include "support/fenced_pages.hpp"
#include "support/fewer_cases.hpp"

namespace {

using phy::Backend;
using phy::Host;
using phy::SoftBitFormat;
using phy::SoftBitMeter;
using phy::SoftBitSums;
using phy_test::random_soft_bits;
using phy_test::SoftBitCase;

constexpr unsigned seed = 38211;
constexpr std::size_t block = 4096;

std::vector<Backend> host_backends() {
    std::vector<Backend> backends = Backend::all();
    std::erase_if(backends, [](const Backend& backend) {
        return backend.kind() == Backend::Kind::cuda || !backend.supported();
    });
    return backends;
}

std::vector<SoftBitSums> sums_of(SoftBitMeter& meter, const SoftBitCase& in, std::size_t row, bool compares) {
    std::vector<SoftBitSums> sums((in.size() + row - 1) / row);
    if (compares) {
        meter(in.view(), in.truth, row, sums);
    } else {
        meter(in.view(), row, sums);
    }
    return sums;
}

class SoftBitMeterOf : public testing::TestWithParam<std::tuple<Backend, SoftBitFormat>> {
protected:
    static SoftBitFormat format() { return std::get<1>(GetParam()); }
    static Host host(int threads = 1) {
        return phy::detail::host_of_exactly(threads, std::get<0>(GetParam()));
    }
};

TEST_P(SoftBitMeterOf, SumsByItsContractAtEveryLength) {
    const SoftBitCase all = random_soft_bits(format(), 3 * block + 77, seed);
    std::vector<std::size_t> lengths;
    for (std::size_t length = 0; length <= 400; ++length)
        lengths.push_back(length);
    for (const std::size_t length : {block - 1, block, block + 1, 2 * block, 2 * block + 129, all.size()})
        lengths.push_back(length);
    for (const int clip : {31, 127}) {
        SoftBitMeter meter(host(), {.llr = {.clip = clip}});
        for (const std::size_t length : phy_test::fewer_cases(lengths)) {
            const auto view = all.view().subspan(0, length);
            const auto truth = std::span(all.truth).first(length);
            const auto expected = phy_test::expected_sums(all, 0, length, clip, true);
            EXPECT_EQ(meter(view, truth), expected.sums) << length << " soft bits, seed " << seed;
            EXPECT_EQ(meter(view), phy_test::expected_sums(all, 0, length, clip, false).sums)
                << length << " soft bits, seed " << seed;
            constexpr long double depth = 32 + 7;  // of a block; binary64 adds nothing to speak of
            EXPECT_LE(std::fabs(expected.sums.magnitude - expected.exact),
                      depth * 0x1p-24L / (1 - depth * 0x1p-24L) * expected.exact * 1.0001L);
        }
    }
}

TEST_P(SoftBitMeterOf, GivesTheSameForAnyThreads) {
    const SoftBitCase all = random_soft_bits(format(), 150 * block + 1234, seed);
    for (const std::size_t row : {std::size_t{100}, std::size_t{9001}, 40 * block, all.size()}) {
        const auto expected = phy_test::expected_rows(all, row, 127, true);
        for (int threads = 1; threads <= 16; ++threads) {
            SoftBitMeter meter(host(threads), {});
            EXPECT_EQ(sums_of(meter, all, row, true), expected)
                << "rows of " << row << ", " << threads << " threads, seed " << seed;
        }
    }
}

TEST_P(SoftBitMeterOf, GivesTheSameForManyRowsAndThreads) {
    // From 2 parts of 16 blocks on a row is long: with few rows for the threads, and with many.
    constexpr std::size_t row = 32 * block + 5;
    const SoftBitCase all = random_soft_bits(format(), 35 * row + 1000, seed);
    const auto expected = phy_test::expected_rows(all, row, 127, true);
    for (const std::size_t rows : {1U, 3U, 4U, 15U, 16U, 17U, 35U, 36U}) {
        const std::size_t count = std::min(all.size(), rows * row);
        std::vector<SoftBitSums> sums(rows);
        for (const int threads : {1, 2, 4, 8, 9}) {
            SoftBitMeter meter(host(threads), {});
            std::ranges::fill(sums, SoftBitSums());
            meter(all.view().subspan(0, count), std::span(all.truth).first(count), row, sums);
            EXPECT_TRUE(std::ranges::equal(sums, std::span(expected).first(rows)))
                << rows << " rows, " << threads << " threads, seed " << seed;
        }
    }
}

TEST_P(SoftBitMeterOf, GivesTheSameForAnyAlignmentAndReadsNothingElse) {
    constexpr std::size_t count = 2 * block + 501;
    const SoftBitCase all = random_soft_bits(format(), count, seed);
    const phy_test::FencedPages soft_bit_pages(all.soft_bits.size() + 64);
    const phy_test::FencedPages truth_pages(count + 64);
    SoftBitMeter meter(host(), {});
    const SoftBitSums expected = phy_test::expected_sums(all, 0, count, 127, true).sums;
    for (std::size_t offset = 0; offset < 64; ++offset) {
        std::byte* const soft_bits = soft_bit_pages.before_fence(all.soft_bits.size() + offset);
        std::byte* const truth = truth_pages.before_fence(count + (offset * 5) % 64);
        std::ranges::copy(all.soft_bits, soft_bits);
        std::ranges::copy(std::as_bytes(std::span(all.truth)), truth);
        EXPECT_EQ(meter({format(), soft_bits, count}, {reinterpret_cast<std::uint8_t*>(truth), count}),
                  expected)
            << "offset " << offset << ", seed " << seed;
    }
    for (std::size_t length = 0; length < 300; ++length) {
        const std::size_t bytes = length * size_of(format());
        std::byte* const soft_bits = soft_bit_pages.before_fence(bytes);
        std::byte* const truth = truth_pages.before_fence(length);
        std::ranges::copy(std::span(all.soft_bits).first(bytes), soft_bits);
        std::ranges::copy(std::as_bytes(std::span(all.truth).first(length)), truth);
        EXPECT_EQ(meter({format(), soft_bits, length}, {reinterpret_cast<std::uint8_t*>(truth), length}),
                  phy_test::expected_sums(all, 0, length, 127, true).sums)
            << length << " soft bits, seed " << seed;
    }
}

TEST_P(SoftBitMeterOf, JoinsWhatCallsGive) {
    const SoftBitCase all = random_soft_bits(format(), 13 * block + 17, seed);
    SoftBitMeter meter(host(), {});
    const SoftBitSums whole = meter(all.view(), all.truth);
    for (const std::size_t part : {block, 2 * block, 8 * block}) {
        phy::NodeJoiner<SoftBitSums, phy::JoinSoftBitSums> joiner;
        for (const SoftBitSums& sums : sums_of(meter, all, part, true))
            joiner.add(sums);
        EXPECT_EQ(joiner.root({}), whole) << "parts of " << part << ", seed " << seed;
    }
}

TEST_P(SoftBitMeterOf, LeavesOutWhatIsNotFiniteWhereverItIs) {
    if (format() == SoftBitFormat::int8) return;  // integers are finite
    constexpr std::size_t count = 300;
    const bool is_half = format() == SoftBitFormat::float16;
    std::vector<std::uint32_t> not_finite = {0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001};
    if (is_half) not_finite = {0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01};
    SoftBitMeter meter(host(), {});
    for (std::size_t at = 0; at < count; ++at) {
        SoftBitCase in{format(), std::vector<std::byte>(count * size_of(format())),
                       std::vector<std::uint8_t>(count, 1)};
        for (std::size_t i = 0; i < count; ++i)
            phy_test::set_bits(in, i, phy_test::soft_bit_of(format(), -2.0));
        phy_test::set_bits(in, at, not_finite[at % not_finite.size()]);
        const SoftBitSums expected = {.magnitude = 2.0 * (count - 1),
                                      .soft_bits = count - 1,
                                      .not_finite = 1,
                                      .saturated = 0,
                                      .zeros = 0,
                                      .compared = count - 1,
                                      .bit_errors = 0};
        EXPECT_EQ(meter(in.view(), in.truth), expected) << "at " << at;
    }
}

TEST_P(SoftBitMeterOf, TakesZeroOfEitherSignForBit0) {
    const std::vector<double> values = {3.0, -3.0, 0.0, -0.0, 1.0, -1.0};
    SoftBitCase in{format(), std::vector<std::byte>(values.size() * size_of(format())), {}};
    in.truth.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        phy_test::set_bits(in, i, phy_test::soft_bit_of(format(), values[i]));
    SoftBitMeter meter(host(), {});
    const auto bit_errors = [&](const std::vector<std::uint8_t>& truth) {
        return meter(in.view(), truth).bit_errors;
    };
    EXPECT_EQ(bit_errors({0, 1, 0, 0, 0, 1}), 0U);
    EXPECT_EQ(bit_errors({1, 0, 1, 1, 1, 0}), 6U);
    EXPECT_EQ(bit_errors({0, 1, 1, 0, 0, 0}), 2U);
    EXPECT_EQ(bit_errors({0, 255, 0, 0, 0, 2}), 0U);
    EXPECT_EQ(meter(in.view()).zeros, 2U);
}

TEST_P(SoftBitMeterOf, SumsNothing) {
    SoftBitMeter meter(host(2), {});
    const phy::SoftBitView nothing(format(), nullptr, 0);
    EXPECT_EQ(meter(nothing), SoftBitSums());
    EXPECT_EQ(meter(nothing, std::span<const std::uint8_t>()), SoftBitSums());
    meter(nothing, 7, {});
}

std::string test_name(const testing::TestParamInfo<SoftBitMeterOf::ParamType>& info) {
    std::string name = std::get<0>(info.param).name() + "_" + std::string(to_string(std::get<1>(info.param)));
    std::erase(name, ']');
    std::ranges::replace(name, '[', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(, SoftBitMeterOf,
                         testing::Combine(testing::ValuesIn(host_backends()),
                                          testing::ValuesIn(phy::all_soft_bit_formats)),
                         test_name);

template <typename Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const phy::ArgumentError& error) {
        return error.what();
    }
    return "no ArgumentError";
}

TEST(SoftBitMeter, RefusesWhatDoesNotFit) {
    SoftBitMeter meter(Host(), {});
    const std::vector<float> soft_bits(10);
    const std::vector<std::uint8_t> truth(10);
    std::vector<SoftBitSums> sums(4);
    EXPECT_EQ(error_of([&] { meter(soft_bits, 3, std::span(sums).first(3)); }),
              "sums has 3 elements: expected 4");
    EXPECT_EQ(error_of([&] { meter(soft_bits, 5, sums); }), "sums has 4 elements: expected 2");
    EXPECT_EQ(error_of([&] { meter(soft_bits, 0, sums); }), "row 0: expected rows of at least one soft bit");
    EXPECT_EQ(error_of([&] { meter(soft_bits, std::span(truth).first(9), 3, sums); }),
              "truth has 9 elements: expected 10");
    EXPECT_EQ(error_of([&] { (void)meter(soft_bits, std::span<const std::uint8_t>()); }),
              "truth has 0 elements: expected 10");
    EXPECT_EQ(error_of([&] {
                  (void)meter({static_cast<SoftBitFormat>(7), nullptr, 0});
              }),
              "soft-bit format is number 7: expected 0 to 2");
    EXPECT_NO_THROW(meter(soft_bits, 3, sums));
    EXPECT_NO_THROW(meter(soft_bits, 1000, std::span(sums).first(1)));
}

TEST(SoftBitMeter, RefusesAConfigurationOutOfItsRange) {
    for (const int clip : {-1, 0, 128})
        EXPECT_THROW(SoftBitMeter(Host(), {.llr = {.clip = clip}}), phy::ArgumentError) << clip;
    for (const float scale : {0.0F, -1.0F, 5000.0F, std::nanf(""), HUGE_VALF})
        EXPECT_THROW(SoftBitMeter(Host(), {.llr = {.scale = scale}}), phy::ArgumentError) << scale;
    const SoftBitMeter::Config config = {.llr = {.scale = 2.0F, .clip = 31}};
    EXPECT_EQ(SoftBitMeter(Host(), config).config(), config);
}

TEST(SoftBitMeasurement, IsInNatsAndShares) {
    const SoftBitSums sums = {.magnitude = 1200.0,
                              .soft_bits = 100,
                              .not_finite = 3,
                              .saturated = 25,
                              .zeros = 10,
                              .compared = 50,
                              .bit_errors = 5};
    const phy::SoftBitMeterConfig config = {.llr = {.scale = 4.0F}};
    const phy::SoftBitMeasurement of_integers = measurement_of(sums, config, SoftBitFormat::int8);
    EXPECT_EQ(of_integers.soft_bits, 100U);
    EXPECT_EQ(of_integers.not_finite, 3U);
    EXPECT_EQ(of_integers.mean_magnitude, 3.0);
    EXPECT_EQ(of_integers.saturated, 0.25);
    EXPECT_EQ(of_integers.zeros, 0.1);
    EXPECT_EQ(of_integers.bit_error_rate, 0.1);
    EXPECT_EQ(measurement_of(sums, config, SoftBitFormat::float16).mean_magnitude, 12.0);
    EXPECT_EQ(measurement_of(sums, config, SoftBitFormat::float32).mean_magnitude, 12.0);
}

TEST(SoftBitMeasurement, OfNothingIsNoNumber) {
    const phy::SoftBitMeasurement measured = measurement_of({}, {}, SoftBitFormat::float32);
    EXPECT_TRUE(std::isnan(measured.mean_magnitude));
    EXPECT_TRUE(std::isnan(measured.saturated));
    EXPECT_TRUE(std::isnan(measured.zeros));
    EXPECT_TRUE(std::isnan(measured.bit_error_rate));
    EXPECT_TRUE(std::isnan(
        measurement_of({.magnitude = 1.0, .soft_bits = 1}, {}, SoftBitFormat::float32).bit_error_rate));
}

}  // namespace
