#include "phy/coding/block_code.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/half.hpp"
#include "phy/scrambling/scrambler.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_seed.hpp"
#include "support/unnamed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::BlockCode;
using phy::DecodedWord;
using phy::Modulation;

using Bits = std::vector<std::uint8_t>;

Bits bits_of(unsigned word, int count) {
    Bits bits;
    for (int k = 0; k < count; ++k)
        bits.push_back(static_cast<std::uint8_t>(word >> static_cast<unsigned>(k) & 1U));
    return bits;
}

unsigned word_of(const DecodedWord& decoded) {
    unsigned word = 0;
    for (std::size_t k = 0; k < decoded.bits.size(); ++k)
        word |= static_cast<unsigned>(decoded.bits[k]) << k;
    return word;
}

Bits encoded(const BlockCode& code, unsigned word, std::size_t size) {
    Bits coded(size);
    phy::encode_block_code(code, bits_of(word, code.bits), coded);
    return coded;
}

template <typename T>
std::vector<T> soft_bits(const Bits& coded, float magnitude) {
    std::vector<T> llr;
    for (const std::uint8_t bit : coded)
        llr.push_back(static_cast<T>(bit != 0 ? -magnitude : magnitude));
    return llr;
}

class BlockCodeTest : public testing::Test {
protected:
    void SetUp() override { RecordProperty("seed", std::to_string(seed_)); }

    int below(int end) { return std::uniform_int_distribution<>(0, end - 1)(random_); }

    std::vector<float> noise(std::size_t size, double deviation) {
        std::normal_distribution<float> normal(0.0F, static_cast<float>(deviation));
        std::vector<float> values(size);
        std::ranges::generate(values, [&] { return normal(random_); });
        return values;
    }

    Bits random_bits(std::size_t size) {
        Bits bits(size);
        std::ranges::generate(bits, [&] { return static_cast<std::uint8_t>(below(2)); });
        return bits;
    }

    std::uint32_t seed_ = random_seed();
    std::mt19937 random_{seed_};
    testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
};

/// From uci_reference.py: number of bits, word, coded bits with the first one most significant.
struct CodedWord {
    int bits;
    unsigned word;
    std::uint32_t coded;
};
constexpr CodedWord coded_words[] = {
    {3, 0x002, 0xCC95A5D2},  {3, 0x003, 0x336A5A2D},  {3, 0x001, 0xFFFFFFFF},  {4, 0x007, 0x691AD393},
    {4, 0x00B, 0x0AA63E9B},  {4, 0x00F, 0x50D6B725},  {5, 0x00B, 0x0AA63E9B},  {5, 0x019, 0xC1F078C7},
    {5, 0x01B, 0x0D65DD15},  {6, 0x035, 0xA27365B1},  {6, 0x00F, 0x50D6B725},  {6, 0x031, 0xF803EC0F},
    {7, 0x06E, 0x8967006A},  {7, 0x058, 0x187E3FF6},  {7, 0x028, 0x39F394C8},  {8, 0x047, 0x4F6B6B5D},
    {8, 0x072, 0xED180EEC},  {8, 0x0A6, 0x9B75FEC4},  {9, 0x05A, 0xD4EB9A24},  {9, 0x0F4, 0x76520056},
    {9, 0x03C, 0x6440FEF8},  {10, 0x0FA, 0xD97B488C}, {10, 0x012, 0xCB56465C}, {10, 0x324, 0x0FBABFCC},
    {11, 0x3D5, 0xDC67C9DB}, {11, 0x43E, 0x572A5468}, {11, 0x706, 0x3CEFE522},
};

TEST_F(BlockCodeTest, EncodesAsTheTableSays) {
    for (const CodedWord& expected : coded_words) {
        const Bits coded = encoded({.bits = expected.bits}, expected.word, 75);
        for (std::size_t i = 0; i < coded.size(); ++i)
            EXPECT_EQ(coded[i], expected.coded >> (31 - i % 32) & 1U) << expected.bits << ' ' << i;
    }
}

TEST_F(BlockCodeTest, EncodesOneAndTwoBitsWithPlaceholders) {
    struct Case {
        Modulation modulation;
        std::string one;
        std::string two;
    };
    const Case cases[] = {{Modulation::pi2_bpsk, "0", "012"},
                          {Modulation::bpsk, "0", "012"},
                          {Modulation::qpsk, "0y", "012012"},
                          {Modulation::qam16, "0yxx", "01xx20xx12xx"},
                          {Modulation::qam64, "0yxxxx", "01xxxx20xxxx12xxxx"},
                          {Modulation::qam256, "0yxxxxxx", "01xxxxxx20xxxxxx12xxxxxx"}};
    for (const Case& c : cases) {
        for (int bits = 1; bits <= 2; ++bits) {
            const std::string& pattern = bits == 1 ? c.one : c.two;
            for (unsigned word = 0; word < 1U << static_cast<unsigned>(bits); ++word) {
                const Bits coded = encoded({.bits = bits, .modulation = c.modulation}, word, 50);
                const std::uint8_t sums[] = {static_cast<std::uint8_t>(word % 2),
                                             static_cast<std::uint8_t>(word / 2),
                                             static_cast<std::uint8_t>(word % 2 != word / 2 ? 1 : 0)};
                for (std::size_t i = 0; i < coded.size(); ++i) {
                    const char what = pattern[i % pattern.size()];
                    const std::uint8_t expected = what == 'x'   ? phy::placeholder_x
                                                  : what == 'y' ? phy::placeholder_y
                                                                : sums[what - '0'];
                    EXPECT_EQ(coded[i], expected) << to_string(c.modulation) << ' ' << word << ' ' << i;
                }
            }
        }
    }
}

TEST_F(BlockCodeTest, DecodesEveryWordOfSaturatedSoftBits) {
    constexpr float distances[] = {16, 16, 16, 16, 12, 12, 12, 12, 10};
    for (int bits = 3; bits <= phy::max_block_code_bits; ++bits) {
        const float distance = distances[bits - 3];
        for (const std::uint64_t index : fewer_indices(std::uint64_t{1} << static_cast<unsigned>(bits))) {
            const auto word = static_cast<unsigned>(index);
            const Bits coded = encoded({.bits = bits}, word, 64);
            const DecodedWord of_int8 =
                phy::decode_block_code({.bits = bits}, soft_bits<std::int8_t>(coded, 127));
            const DecodedWord of_half =
                phy::decode_block_code({.bits = bits}, soft_bits<phy::half>(coded, 65504));
            const DecodedWord of_float =
                phy::decode_block_code({.bits = bits}, soft_bits<float>(coded, 1e38F));
            ASSERT_EQ(word_of(of_int8), word);
            ASSERT_EQ(word_of(of_half), word);
            ASSERT_EQ(word_of(of_float), word);
            EXPECT_FLOAT_EQ(of_int8.margin, 2 * distance * 127 / 6);
            EXPECT_FLOAT_EQ(of_half.margin, 2 * distance * 65504);
            EXPECT_EQ(of_float.margin, std::numeric_limits<float>::max());
        }
    }
}

/// Adds up soft bits word by word.
TEST_F(BlockCodeTest, FindsTheLikeliestOfAllWords) {
    for (int n = 0; n < fewer_times(60); ++n) {
        const BlockCode code = {.bits = 1 + below(11), .modulation = static_cast<Modulation>(below(6))};
        const std::size_t size = static_cast<std::size_t>(below(200));
        std::vector<std::int8_t> llr(size);
        std::ranges::generate(llr, [&] { return static_cast<std::int8_t>(below(256) - 128); });
        std::vector<int> correlations;
        for (unsigned word = 0; word < 1U << static_cast<unsigned>(code.bits); ++word) {
            const Bits coded = encoded(code, word, size);
            int sum = 0;
            for (std::size_t i = 0; i < size; ++i)
                if (coded[i] < 2) sum += coded[i] == 0 ? llr[i] : -llr[i];
            correlations.push_back(sum);
        }
        const auto best = std::ranges::max_element(correlations);
        const auto word = static_cast<unsigned>(best - correlations.begin());
        const int best_sum = *best;
        *best = std::numeric_limits<int>::min();
        const int second = *std::ranges::max_element(correlations);
        const DecodedWord decoded = phy::decode_block_code(code, llr, {.scale = 8.0F});
        EXPECT_EQ(word_of(decoded), word) << code.bits << ' ' << size;
        EXPECT_LE(decoded.margin, static_cast<float>(best_sum - second) / 16 * 1.0001F);
        if (best_sum > second)
            EXPECT_GT(decoded.margin, 0.0F);
        else
            EXPECT_EQ(decoded.margin, 0.0F);
    }
}

TEST_F(BlockCodeTest, KnowsNothingFromSoftBitsWithoutInformation) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (int bits = 1; bits <= phy::max_block_code_bits; ++bits) {
        const BlockCode code = {.bits = bits};
        for (const float value : {0.0F, nan, infinity, -infinity}) {
            EXPECT_EQ(phy::decode_block_code(code, std::vector<float>(96, value)), DecodedWord());
            EXPECT_EQ(phy::decode_block_code(code, std::vector<phy::half>(96, phy::half(value))),
                      DecodedWord());
        }
        EXPECT_EQ(phy::decode_block_code(code, std::vector<std::int8_t>(96)), DecodedWord());
        EXPECT_EQ(phy::decode_block_code(code, std::vector<float>()), DecodedWord());
    }
}

TEST_F(BlockCodeTest, IgnoresSoftBitsThatAreNotFinite) {
    const Bits coded = encoded({.bits = 7}, 0x35, 96);
    std::vector<float> llr = soft_bits<float>(coded, 20.0F);
    for (int n = 0; n < 30; ++n)
        llr[static_cast<std::size_t>(below(96))] =
            below(2) == 0 ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    std::vector<float> zeros = llr;
    std::ranges::replace_if(
        zeros, [](float x) { return !std::isfinite(x); }, 0.0F);
    EXPECT_EQ(word_of(phy::decode_block_code({.bits = 7}, llr)), 0x35U);
    EXPECT_EQ(phy::decode_block_code({.bits = 7}, llr), phy::decode_block_code({.bits = 7}, zeros));
}

/// However large, noise exceeds a margin of 16 in about 1 % of cases at most.
TEST_F(BlockCodeTest, HasNoLargeMarginForNoise) {
    for (int bits = 1; bits <= phy::max_block_code_bits; ++bits) {
        int large = 0;
        const int times = fewer_times(400);
        for (int n = 0; n < times; ++n) {
            const std::size_t size = 32 + 8 * static_cast<std::size_t>(below(20));
            Bits signs = random_bits(size);
            const DecodedWord saturated =
                phy::decode_block_code({.bits = bits}, soft_bits<std::int8_t>(signs, 127), {.scale = 1.0F});
            const DecodedWord gaussian = phy::decode_block_code({.bits = bits}, noise(size, 1000.0));
            large += (saturated.margin > 16.0F ? 1 : 0) + (gaussian.margin > 16.0F ? 1 : 0);
        }
        EXPECT_LE(large, times / 16 + 6) << bits;  // of twice as many
    }
}

/// Transmits by TS 38.211 clause 6.3.1.1; the soft bits of a receiver are descrambled like any others.
TEST_F(BlockCodeTest, DecodesScrambledPlaceholders) {
    const phy::Scrambler scramble{phy::Host()};
    for (int n = 0; n < fewer_times(200); ++n) {
        const BlockCode code = {.bits = 1 + below(2), .modulation = static_cast<Modulation>(below(6))};
        const auto word = static_cast<unsigned>(below(1 << code.bits));
        const std::size_t per_symbol = bits_per_symbol(code.modulation);
        const std::size_t size = per_symbol * (3 + static_cast<std::size_t>(below(20)));
        const auto c_init = static_cast<std::uint32_t>(random_()) >> 1U;
        const Bits coded = encoded(code, word, size);
        Bits sequence(size);
        scramble(c_init, sequence, sequence);

        Bits sent;
        for (std::size_t i = 0; i < size; ++i) {
            const auto sum = static_cast<std::uint8_t>(coded[i] ^ sequence[i]);
            sent.push_back(coded[i] == phy::placeholder_x   ? 1
                           : coded[i] == phy::placeholder_y ? sent.back()
                                                            : sum);
        }
        Bits scrambled = coded;
        scramble(c_init, scrambled, scrambled);
        phy::resolve_placeholders(scrambled);
        EXPECT_EQ(scrambled, sent);

        std::vector<float> llr = soft_bits<float>(sent, 3.0F);
        for (std::size_t i = 0; i < size; ++i)
            if (sequence[i] != 0) llr[i] = -llr[i];
        const DecodedWord with = phy::decode_block_code(code, llr, {.scrambling = sequence});
        const DecodedWord without = phy::decode_block_code(code, llr);
        EXPECT_EQ(word_of(with), word);
        EXPECT_EQ(word_of(without), word);
        const bool has_y = code.bits == 1 && per_symbol > 1;
        EXPECT_FLOAT_EQ(with.margin, (has_y ? 2.0F : 1.0F) * without.margin);
    }
}

struct Rate {
    int bits;
    double decibels;   ///< Es/N0 per coded bit
    double errors;     ///< share of words
    double deviation;  ///< of the reference
};

/// From uci_reference.py: K = 4 from a formula, K = 8 by simulation of 10000 words.
constexpr Rate rates[] = {{4, -11.0, 0.3167767, 0.0},
                          {4, -9.0, 0.1623295, 0.0},
                          {4, -7.0, 0.0530497, 0.0},
                          {8, -8.0, 0.4271, 0.005},
                          {8, -6.0, 0.1841, 0.004}};

TEST_F(BlockCodeTest, ErrsAsOftenAsTheory) {
    const int times = fewer_times(8000);
    int sure = 0;
    int wrong_when_sure = 0;
    for (const Rate& rate : rates) {
        const double snr = std::pow(10.0, rate.decibels / 10.0);
        int wrong = 0;
        for (int n = 0; n < times; ++n) {
            const auto word = static_cast<unsigned>(below(1 << rate.bits));
            std::vector<float> llr = noise(32, std::sqrt(0.5 / snr));
            const std::vector<float> signal = soft_bits<float>(encoded({.bits = rate.bits}, word, 32), 1.0F);
            for (std::size_t i = 0; i < llr.size(); ++i)
                llr[i] = 4.0F * static_cast<float>(snr) * (llr[i] + signal[i]);
            const DecodedWord decoded = phy::decode_block_code({.bits = rate.bits}, llr);
            const bool is_wrong = word_of(decoded) != word;
            wrong += is_wrong ? 1 : 0;
            sure += decoded.margin > 4.0F ? 1 : 0;
            wrong_when_sure += is_wrong && decoded.margin > 4.0F ? 1 : 0;
        }
        const double deviation = std::sqrt(rate.errors * (1.0 - rate.errors) / times);
        EXPECT_NEAR(static_cast<double>(wrong) / times, rate.errors,
                    5.0 * std::hypot(deviation, rate.deviation))
            << rate.bits << ' ' << rate.decibels;
    }
    EXPECT_GT(sure, times);
    EXPECT_LT(wrong_when_sure, sure / 50);
}

TEST_F(BlockCodeTest, RejectsWhatIsOutOfRange) {
    const std::vector<float> llr(32);
    Bits coded(32);
    for (const int bits : {0, 12, -1}) {
        EXPECT_THROW((void)phy::decode_block_code({.bits = bits}, llr), phy::ArgumentError);
        EXPECT_THROW(phy::encode_block_code({.bits = bits}, Bits(3), coded), phy::ArgumentError);
    }
    EXPECT_THROW(phy::encode_block_code({.bits = 4}, Bits(3), coded), phy::ArgumentError);
    EXPECT_THROW((void)phy::decode_block_code({.bits = 4}, llr, {.scale = 0.0F}), phy::ArgumentError);
    EXPECT_THROW((void)phy::decode_block_code({.bits = 4}, llr, {.scrambling = std::span(coded).first(31)}),
                 phy::ArgumentError);
    expect_unnamed("modulation", 7, 6, [&] {
        (void)phy::decode_block_code({.bits = 1, .modulation = static_cast<Modulation>(7)}, llr);
    });
    expect_unnamed("soft-bit format", 3, 2, [&] {
        (void)phy::decode_block_code({},
                                     phy::SoftBitView(static_cast<phy::SoftBitFormat>(3), llr.data(), 32));
    });
}

}  // namespace
