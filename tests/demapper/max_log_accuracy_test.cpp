#include <gtest/gtest.h>

#include <iostream>
#include <tuple>

#include "demapper/awkward_symbols.hpp"

/// Max-log by arithmetic against double precision, on millions of noisy symbols.
namespace {

using phy::Method;
using phy::Modulation;

constexpr unsigned seed = 510;
constexpr double fp32_tolerance = 1e-5;  // of the largest LLR of the axis
constexpr std::uint64_t soft_bits_a_tie = 100'000;

/// What the demapper says of one block of symbols, in every format.
struct Demapped {
    std::vector<std::int8_t> int8;
    std::vector<phy::half> float16;
    std::vector<float> float32;

    Demapped(phy::SoftDemapper& demap, std::span<const phy::cf32> symbols, float noise) {
        const std::size_t bits = symbols.size() * bits_per_symbol(demap.config().modulation);
        int8.resize(bits);
        float16.resize(bits);
        float32.resize(bits);
        demap(symbols, noise, int8);
        demap(symbols, noise, float16);
        demap(symbols, noise, float32);
    }
};

/// The largest LLR of the axis to which bit k belongs.
double largest_of_axis(const phy_test::SoftBits& expected, std::size_t k, std::size_t qm) {
    double largest = 0.0;
    for (std::size_t j = k % 2; j < qm; j += 2)
        largest = std::max(largest, std::abs(expected[j]));
    return largest;
}

/// How far soft bits are from the reference.
struct Deviation {
    std::uint64_t soft_bits = 0;
    std::uint64_t int8_off = 0;
    int int8_worst = 0;
    double fp32_worst = 0.0;  // of the largest LLR of the axis
    std::uint64_t fp16_not_rounded_fp32 = 0;
};

class MaxLogAgainstDouble {
public:
    explicit MaxLogAgainstDouble(const phy::DemapperConfig& config)
        : demap_(phy::Host(), config),
          reference_(config.modulation),
          qm_(bits_per_symbol(config.modulation)) {}

    void add(std::span<const phy::cf32> symbols, float noise) {
        const Demapped actual(demap_, symbols, noise);
        for (std::size_t n = 0; n < symbols.size(); ++n) {
            const std::complex<double> y(symbols[n]);
            const auto expected = reference_(Method::max_log, y, static_cast<double>(noise), n);
            for (std::size_t k = 0; k < qm_; ++k)
                add(expected, k, actual, n * qm_ + k);
        }
    }

    [[nodiscard]] const Deviation& deviation() const { return deviation_; }

private:
    void add(const phy_test::SoftBits& expected, std::size_t k, const Demapped& actual, std::size_t at) {
        const phy::DemapperConfig& config = demap_.config();
        const auto scale = static_cast<double>(config.llr.scale);
        const int off = std::abs(actual.int8[at] - phy_test::quantised(expected[k], scale, config.llr.clip));
        const double largest = largest_of_axis(expected, k, qm_);
        const auto value = static_cast<double>(actual.float32[at]);
        const phy::half rounded(std::clamp(actual.float32[at], -65504.0F, 65504.0F));

        deviation_.soft_bits += 1;
        deviation_.int8_off += off != 0 ? 1 : 0;
        deviation_.int8_worst = std::max(deviation_.int8_worst, off);
        deviation_.fp32_worst = std::max(deviation_.fp32_worst, std::abs(value - expected[k]) / largest);
        deviation_.fp16_not_rounded_fp32 += actual.float16[at] != rounded ? 1 : 0;
    }

    phy::SoftDemapper demap_;
    phy_test::Reference reference_;
    std::size_t qm_;
    Deviation deviation_;
};

void expect_bounds(const Deviation& deviation) {
    EXPECT_LE(deviation.int8_worst, 1);
    EXPECT_LT(deviation.int8_off * soft_bits_a_tie, deviation.soft_bits)
        << deviation.int8_off << " of " << deviation.soft_bits;
    EXPECT_LE(deviation.fp32_worst, fp32_tolerance);
    EXPECT_EQ(deviation.fp16_not_rounded_fp32, 0U);
}

class MaxLogAccuracy : public testing::TestWithParam<std::tuple<Modulation, int>> {};

TEST_P(MaxLogAccuracy, OverMillionsOfNoisySymbols) {
    const auto [modulation, snr] = GetParam();
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr std::size_t block = 4096;
    constexpr std::size_t blocks = 366;  // 1.5 million symbols; of seven modulations over 10 million
    phy_test::NoisySymbols source(modulation, snr, seed);
    MaxLogAgainstDouble check({.modulation = modulation});
    for (std::size_t n = 0; n < blocks; ++n)
        check.add(source.take(block), phy_test::noise_of_snr(snr));
    const Deviation& deviation = check.deviation();
    expect_bounds(deviation);
    std::cout << deviation.int8_off << " of " << deviation.soft_bits << " int8 soft bits off by one, fp32 to "
              << deviation.fp32_worst << " of the largest LLR\n";
}

INSTANTIATE_TEST_SUITE_P(, MaxLogAccuracy,
                         testing::Combine(testing::ValuesIn(phy::all_modulations),
                                          testing::Values(5, 15, 25, 35)),
                         [](const auto& test) {
                             return phy_test::test_name(std::get<0>(test.param)) + "_at_" +
                                    std::to_string(std::get<1>(test.param)) + "dB";
                         });

class MaxLogAccuracyOf : public testing::TestWithParam<Modulation> {};

TEST_P(MaxLogAccuracyOf, FarOutsideTheConstellation) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> coordinate(-3.5F, 3.5F);
    MaxLogAgainstDouble check({.modulation = GetParam()});
    for (const double snr : {0.0, 10.0, 20.0, 30.0, 40.0}) {
        std::vector<phy::cf32> symbols(100'000);
        for (phy::cf32& symbol : symbols) {
            const float i = coordinate(random);
            symbol = {i, coordinate(random)};
        }
        check.add(symbols, phy_test::noise_of_snr(snr));
    }
    expect_bounds(check.deviation());
}

// Where soft bits saturate decides which formula is used, and that moves with N0.
TEST_P(MaxLogAccuracyOf, AtEveryNoiseVariance) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (int quarters = 0; quarters <= 180; ++quarters) {
        const double snr = 0.25 * quarters;
        MaxLogAgainstDouble check({.modulation = GetParam()});
        check.add(phy_test::NoisySymbols(GetParam(), snr, seed).take(1000), phy_test::noise_of_snr(snr));
        ASSERT_LE(check.deviation().int8_worst, 1) << snr << " dB";
        ASSERT_LE(check.deviation().fp32_worst, fp32_tolerance) << snr << " dB";
        ASSERT_EQ(check.deviation().fp16_not_rounded_fp32, 0U) << snr << " dB";
    }
}

TEST_P(MaxLogAccuracyOf, WithOtherScalesAndClips) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const float scale : {0.5F, 6.0F, 16.0F}) {
        for (const int clip : {31, 120, 127}) {
            MaxLogAgainstDouble check({.modulation = GetParam(), .llr = {.scale = scale, .clip = clip}});
            for (const double snr : {3.0, 12.0, 24.0}) {
                phy_test::NoisySymbols source(GetParam(), snr, seed);
                check.add(source.take(50'000), phy_test::noise_of_snr(snr));
            }
            SCOPED_TRACE("scale " + std::to_string(scale) + ", clip " + std::to_string(clip));
            expect_bounds(check.deviation());
        }
    }
}

TEST_P(MaxLogAccuracyOf, WithANoiseVarianceForEachSymbol) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Modulation modulation = GetParam();
    const std::size_t qm = bits_per_symbol(modulation);
    const std::vector<phy::cf32> symbols = phy_test::NoisySymbols(modulation, 20.0, seed).take(100'000);
    std::vector<float> noise(symbols.size());
    for (std::size_t n = 0; n < noise.size(); ++n) {
        noise[n] = phy_test::noise_of_snr(static_cast<double>(n % 451) / 10.0);
    }
    std::vector<std::int8_t> soft_bits(symbols.size() * qm);
    phy::SoftDemapper(phy::Host(), {.modulation = modulation})(symbols, noise, soft_bits);
    phy_test::Reference reference(modulation);
    std::uint64_t off = 0;
    for (std::size_t n = 0; n < symbols.size(); ++n) {
        const auto expected =
            reference(Method::max_log, std::complex<double>(symbols[n]), static_cast<double>(noise[n]), n);
        for (std::size_t k = 0; k < qm; ++k) {
            const int difference =
                std::abs(soft_bits[n * qm + k] - phy_test::quantised(expected[k], 6.0, 127));
            ASSERT_LE(difference, 1) << "bit " << k << " of symbol " << n << ", N0 " << noise[n];
            off += static_cast<std::uint64_t>(difference);
        }
    }
    EXPECT_LT(off * soft_bits_a_tie, soft_bits.size()) << off << " of " << soft_bits.size();
}

// The reference takes the stored numbers, so that what is measured is the conversion and not the storage.
TEST_P(MaxLogAccuracyOf, FromStoredFormatsAndFullScales) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Modulation modulation = GetParam();
    const std::size_t qm = bits_per_symbol(modulation);
    const float noise = phy_test::noise_of_snr(18.0);
    const std::vector<phy::cf32> symbols = phy_test::NoisySymbols(modulation, 18.0, seed).take(20'000);
    phy_test::Reference reference(modulation);
    for (const phy::SampleFormat format : phy::all_sample_formats) {
        for (const phy::FullScale given : {phy::FullScale(), phy::FullScale(60.0F)}) {
            const float full_scale = given.value_for(format);
            const phy_test::Bytes bytes = phy_test::stored(format, symbols, full_scale);
            std::vector<float> soft_bits(symbols.size() * qm);
            phy::SoftDemapper demap(phy::Host(), {.modulation = modulation, .full_scale = given});
            demap({format, bytes.data(), symbols.size()}, noise, soft_bits);
            for (std::size_t n = 0; n < symbols.size(); ++n) {
                const auto scale = static_cast<double>(full_scale);
                const std::complex<double> y(phy_test::component(format, bytes, 2 * n, scale),
                                             phy_test::component(format, bytes, 2 * n + 1, scale));
                const auto expected = reference(Method::max_log, y, static_cast<double>(noise), n);
                for (std::size_t k = 0; k < qm; ++k) {
                    ASSERT_NEAR(static_cast<double>(soft_bits[n * qm + k]), expected[k],
                                fp32_tolerance * largest_of_axis(expected, k, qm))
                        << "bit " << k << " of symbol " << n << " in " << to_string(format);
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, MaxLogAccuracyOf, testing::ValuesIn(phy::all_modulations),
                         [](const auto& test) { return phy_test::test_name(test.param); });

}  // namespace
