#include "phy/scrambling/gold_sequence.hpp"

#include <gtest/gtest.h>

#include <string>

#include "demapper/signals.hpp"
#include "phy/core/error.hpp"
#include "phy/scrambling/signs.hpp"
#include "scrambling/scrambling_cases.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::gold_sequence;
using phy::ScramblingIdentity;

std::uint8_t bit_of(std::span<const std::uint32_t> words, std::size_t i) {
    return words[i / 32] >> (i % 32) & 1U;
}

std::vector<std::uint8_t> bits_of_words(std::span<const std::uint32_t> words) {
    std::vector<std::uint8_t> bits(32 * words.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = bit_of(words, i);
    return bits;
}

/// c from first on, as many bits as the words have.
std::vector<std::uint8_t> part_of(const std::vector<std::uint8_t>& c, std::size_t first, std::size_t words) {
    const auto begin = c.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(32 * words)};
}

TEST(GoldSequence, IsThatOfTheClauseForAnyBeginning) {
    std::mt19937 random(scrambling_seed);
    constexpr std::size_t longest = 1'000'000;
    constexpr std::size_t words = 40'000;
    for (int n = 0; n < fewer_times(8); ++n) {
        const std::uint32_t c_init = random_c_init(random);
        const std::vector<std::uint8_t> c = gold_reference(c_init, longest + 32 * words);
        for (const std::size_t first : {std::size_t{0}, std::size_t{random() % longest}, longest}) {
            SCOPED_TRACE("c_init " + std::to_string(c_init) + ", first " + std::to_string(first) + ", seed " +
                         std::to_string(scrambling_seed));
            const std::vector<std::uint8_t> expected = part_of(c, first, words);
            std::vector<std::uint32_t> written(words);
            gold_sequence(c_init, first, written);
            ASSERT_EQ(bits_of_words(written), expected);
            for (const phy::Backend& backend : host_backends()) {
                for (const int threads : {1, 3}) {
                    std::vector<std::uint32_t> by_host(words);
                    gold_sequence(host_of(backend, threads), c_init, first, by_host);
                    ASSERT_EQ(by_host, written) << backend.name() << ", " << threads << " threads";
                }
            }
        }
    }
}

TEST(GoldSequence, EveryLengthAndOffset) {
    for (const std::uint32_t c_init : some_c_init) {
        const std::vector<std::uint8_t> c = gold_reference(c_init, 10'000);
        for (std::size_t first = 0; first < 70; ++first) {
            for (const phy::Backend& backend : host_backends()) {
                const phy::Host host = host_of(backend);
                for (std::size_t words = 0; words < 200; words += 1 + words / 16) {
                    std::vector<std::uint32_t> written(words + 1, 0xA5A5A5A5);
                    gold_sequence(host, c_init, first, std::span(written).first(words));
                    ASSERT_EQ(written[words], 0xA5A5A5A5);
                    written.pop_back();
                    ASSERT_EQ(bits_of_words(written), part_of(c, first, words))
                        << backend.name() << ", c_init " << c_init << ", " << words << " words from "
                        << first;
                }
            }
        }
    }
}

TEST(GoldSequence, JumpsAnywhere) {
    std::mt19937_64 random(scrambling_seed);
    std::vector<std::uint64_t> firsts = {30,
                                         31,
                                         (std::uint64_t{1} << 31U) - 1601,
                                         (std::uint64_t{1} << 31U) - 1600,
                                         std::uint64_t{1} << 40U,
                                         0xFFFFFFFFFFFFFFFF - 1600};
    for (int n = 0; n < 20; ++n)
        firsts.push_back(random() >> (24U + random() % 20));
    for (const std::uint64_t first : firsts) {
        const auto c_init = static_cast<std::uint32_t>(random() & 0x7FFFFFFFU);
        std::uint32_t word;
        gold_sequence(c_init, first, {&word, 1});
        std::vector<std::uint8_t> bits = bits_of_words({&word, 1});
        bits.pop_back();
        ASSERT_EQ(bits, far_gold_reference(c_init, first))
            << "c_init " << c_init << ", first " << first << ", seed " << scrambling_seed;
    }
}

/// Codewords one after another, of which no more than the first begins with a word.
TEST(GoldSequence, WritesSignsFromAnyBitOn) {
    constexpr std::size_t all = 4000;
    const std::vector<std::uint8_t> c = gold_reference(some_c_init[4], all + 7);
    for (const std::size_t length : {1, 31, 32, 33, 77, 1003}) {
        for (const phy::Backend& backend : host_backends()) {
            std::vector<std::uint32_t> signs((all + 31) / 32);
            for (std::size_t begin = 0; begin < all; begin += length)
                phy::detail::write_signs(
                    host_of(backend), some_c_init[4],
                    {.begin = begin, .count = std::min(length, all - begin), .first = begin == 0 ? 7U : 0U},
                    signs);
            for (std::size_t i = 0; i < all; ++i)
                ASSERT_EQ(bit_of(signs, i), c[i % length + (i < length ? 7 : 0)])
                    << backend.name() << ", codewords of " << length << ", bit " << i;
        }
    }
}

TEST(GoldSequence, WrongArgumentsThrow) {
    std::vector<std::uint32_t> words(3, 7);
    EXPECT_THROW(gold_sequence(0x80000000, 0, words), phy::ArgumentError);
    EXPECT_THROW(gold_sequence(phy::Host(), 0x80000000, 0, words), phy::ArgumentError);
    EXPECT_EQ(words, std::vector<std::uint32_t>(3, 7));
}

TEST(ScramblingIdentityTest, MakesAnInitialValue) {
    EXPECT_EQ((ScramblingIdentity{.rnti = 0, .id = 0}).c_init(), 0U);
    EXPECT_EQ((ScramblingIdentity{.rnti = 65535, .id = 1023, .codeword = 1}).c_init(), 0x7FFFC3FFU);
    EXPECT_EQ((ScramblingIdentity{.rnti = 1, .id = 2}).c_init(), 32770U);
    EXPECT_EQ((ScramblingIdentity{.rnti = 1, .id = 2, .codeword = 1}).c_init(), 49154U);
    EXPECT_THROW(static_cast<void>(ScramblingIdentity{.rnti = 65536}.c_init()), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(ScramblingIdentity{.id = 1024}.c_init()), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(ScramblingIdentity{.codeword = 2}.c_init()), phy::ArgumentError);
    EXPECT_THROW(static_cast<void>(ScramblingIdentity{.codeword = -1}.c_init()), phy::ArgumentError);
}

}  // namespace
