#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <optional>
#include <random>

#include "demapper/signals.hpp"
#include "phy/mapper/mapper.hpp"

/// The error rate of bits that were mapped, disturbed and demapped is what theory says of the modulation.
namespace {

using phy::Modulation;
using phy::SampleFormat;

constexpr unsigned seed = 1948;
constexpr double confidence = 4.0;  // standard deviations

/// The error probability of bit k (0 the outermost) of an axis with m bits: K. Cho and D. Yoon, "On the
/// general BER expression of one- and two-dimensional amplitude modulations", IEEE Trans. Commun. 50 (2002),
/// equation (9), with the SNR of a symbol Es/N0 for their log2(M) Eb/N0.
double axis_bit_error_rate(int m, int k, double snr) {
    const int levels = 1 << m;
    const double argument = std::sqrt(1.5 * snr / (levels * levels - 1));
    const int weight = 1 << k;
    double sum = 0.0;
    for (int i = 0; i < levels - (levels >> (k + 1)); ++i) {
        const int sign = i * weight / levels % 2 == 0 ? 1 : -1;
        const int count = weight - (2 * i * weight + levels) / (2 * levels);
        sum += sign * count * std::erfc((2 * i + 1) * argument);
    }
    return sum / levels;
}

/// The error probability of bit k of a symbol.
double bit_error_rate(Modulation modulation, std::size_t k, double snr) {
    const auto qm = static_cast<int>(bits_per_symbol(modulation));
    if (qm == 1) return 0.5 * std::erfc(std::sqrt(snr));
    return axis_bit_error_rate(qm / 2, static_cast<int>(k) / 2, snr);
}

double mean_bit_error_rate(Modulation modulation, double snr) {
    const std::size_t qm = bits_per_symbol(modulation);
    double sum = 0.0;
    for (std::size_t k = 0; k < qm; ++k)
        sum += bit_error_rate(modulation, k, snr);
    return sum / static_cast<double>(qm);
}

/// The Es/N0 at which theory gives a mean bit error rate.
double snr_for(Modulation modulation, double rate) {
    double low = 1e-3;
    double high = 1e6;
    while (high / low > 1.0 + 1e-12) {
        const double middle = std::sqrt(low * high);
        (mean_bit_error_rate(modulation, middle) > rate ? low : high) = middle;
    }
    return low;
}

/// The number of errors in each bit of the symbols.
std::vector<std::size_t> count_errors(Modulation modulation, double snr, std::size_t symbols) {
    const std::size_t qm = bits_per_symbol(modulation);
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> sent(symbols * qm);
    for (std::uint8_t& bit : sent)
        bit = static_cast<std::uint8_t>(random() >> 63);
    std::vector<phy::cf32> received(symbols);
    phy::Mapper(phy::Host(), {.modulation = modulation})(sent, received);
    std::normal_distribution<double> noise(0.0, std::sqrt(0.5 / snr));
    for (phy::cf32& symbol : received) {
        const double i = static_cast<double>(symbol.real()) + noise(random);
        const double q = static_cast<double>(symbol.imag()) + noise(random);
        symbol = {static_cast<float>(i), static_cast<float>(q)};
    }
    std::vector<float> llr(sent.size());
    phy::SoftDemapper(phy::Host(), {.modulation = modulation})(received, 1.0F, llr);
    std::vector<std::size_t> errors(qm);
    for (std::size_t n = 0; n < sent.size(); ++n)
        errors[n % qm] += (sent[n] == 1) != (llr[n] < 0.0F) ? 1 : 0;
    return errors;
}

class Physics : public testing::TestWithParam<Modulation> {};

// Each bit of a label on its own: its errors in different symbols are independent, so that their number is
// binomial, which the sum over the bits of a symbol is not.
TEST_P(Physics, BitErrorRateIsThatOfTheory) {
    std::cout << "seed " << seed << "\n";
    const std::size_t qm = bits_per_symbol(GetParam());
    const std::size_t symbols = 1'000'000 / qm;
    for (const double rate : {0.1, 0.03, 0.01, 0.001}) {
        const double snr = snr_for(GetParam(), rate);
        const std::vector<std::size_t> errors = count_errors(GetParam(), snr, symbols);
        for (std::size_t k = 0; k < qm; ++k) {
            const double expected = bit_error_rate(GetParam(), k, snr);
            const auto trials = static_cast<double>(symbols);
            const double deviation = std::sqrt(expected * (1.0 - expected) / trials);
            EXPECT_NEAR(static_cast<double>(errors[k]) / trials, expected, confidence * deviation)
                << "bit " << k << " at Es/N0 " << 10.0 * std::log10(snr) << " dB, Eb/N0 "
                << 10.0 * std::log10(snr / static_cast<double>(qm)) << " dB, seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(, Physics, testing::ValuesIn(phy::all_modulations),
                         [](const auto& test) { return phy_test::test_name(test.param); });

class MappedIntegers : public testing::TestWithParam<Modulation> {};

/// With one full scale for mapper and demapper, soft bits depend on the format by its rounding only.
TEST_P(MappedIntegers, HaveTheSoftBitsOfFloats) {
    const std::size_t symbols = std::size_t{2} << bits_per_symbol(GetParam());
    std::vector<std::uint8_t> sent;
    for (std::size_t n = 0; n < symbols; ++n) {
        for (std::size_t k = bits_per_symbol(GetParam()); k-- > 0;)
            sent.push_back(static_cast<std::uint8_t>(n / 2 >> k & 1U));
    }
    const auto soft_bits = [&](SampleFormat format, std::optional<phy::FullScale> full_scale) {
        phy_test::Bytes bytes(symbols * size_of(format));
        const phy::SymbolSpan mapped(format, bytes.data(), symbols);
        phy::Mapper(phy::Host(), {.modulation = GetParam(), .full_scale = full_scale})(sent, mapped);
        std::vector<float> llr(sent.size());
        phy::SoftDemapper(phy::Host(),
                          {.modulation = GetParam(), .full_scale = full_scale.value_or(phy::FullScale())})(
            mapped, 1.0F, llr);
        return llr;
    };
    const std::vector<float> expected = soft_bits(SampleFormat::cf32, {});
    for (const float full_scale : {8192.0F, 1000.0F}) {
        const std::vector<float> llr = soft_bits(SampleFormat::ci16, full_scale);
        // A component is off by half an integer at most, and the slope of a soft bit is at most 8.
        for (std::size_t i = 0; i < llr.size(); ++i)
            ASSERT_NEAR(llr[i], expected[i], 8.0F * 0.5F / full_scale) << i << ", full scale " << full_scale;
    }
}

INSTANTIATE_TEST_SUITE_P(, MappedIntegers, testing::ValuesIn(phy::all_modulations),
                         [](const auto& test) { return phy_test::test_name(test.param); });

// Textbook numbers, so that the formula itself is not typed wrong.
TEST(Theory, IsTheTextbooks) {
    const auto q = [](double x) { return 0.5 * std::erfc(x / std::sqrt(2.0)); };
    EXPECT_NEAR(bit_error_rate(Modulation::bpsk, 0, 4.0), q(std::sqrt(8.0)), 1e-15);
    EXPECT_NEAR(bit_error_rate(Modulation::qpsk, 0, 4.0), q(2.0), 1e-15);
    const double a = std::sqrt(4.0 / 5.0);  // half the distance of levels, in deviations, of 16QAM at Es/N0 4
    EXPECT_NEAR(bit_error_rate(Modulation::qam16, 0, 4.0), (q(a) + q(3.0 * a)) / 2.0, 1e-15);
    EXPECT_NEAR(bit_error_rate(Modulation::qam16, 2, 4.0), (2.0 * q(a) + q(3.0 * a) - q(5.0 * a)) / 2.0,
                1e-15);
}

}  // namespace
