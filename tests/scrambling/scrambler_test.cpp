#include "phy/scrambling/scrambler.hpp"

#include <gtest/gtest.h>

#include <string>

#include "demapper/signals.hpp"
#include "phy/core/error.hpp"
#include "scrambling/scrambling_cases.hpp"
#include "support/fewer_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Descrambler;
using phy::Scrambler;
using phy::SoftBitFormat;
using phy::SoftBitSpan;
using phy::SoftBitView;

/// Longer than what a thread takes at a time, for some formats.
constexpr std::size_t long_codeword = 300'007;

class DescramblerOf : public testing::TestWithParam<SoftBitFormat> {};

TEST_P(DescramblerOf, EveryBackendNegatesWhereTheSequenceIsOne) {
    const SoftBitFormat format = GetParam();
    for (const std::size_t length : {std::size_t{1}, std::size_t{1003}, long_codeword}) {
        const std::size_t codewords = length == long_codeword ? 2 : std::size(some_c_init);
        const std::span<const std::uint32_t> c_init = std::span(some_c_init).last(codewords);
        const std::vector<std::byte> bytes = random_bytes(codewords * length * size_of(format));
        for (const std::size_t first : {std::size_t{0}, std::size_t{77'777}}) {
            const std::vector<std::byte> expected =
                expected_descrambled(format, bytes, gold_reference(c_init, length, first));
            for (const phy::Backend& backend : host_backends()) {
                for (const int threads : {1, 3}) {
                    SCOPED_TRACE(backend.name() + ", " + std::to_string(threads) + " threads, length " +
                                 std::to_string(length) + ", seed " + std::to_string(scrambling_seed));
                    const Descrambler descramble(host_of(backend, threads));
                    std::vector<std::byte> out(bytes.size());
                    descramble(c_init, SoftBitView(format, bytes), SoftBitSpan(format, out), first);
                    ASSERT_TRUE(out == expected);
                    std::vector<std::byte> in_place = bytes;
                    descramble(c_init, SoftBitView(format, in_place), SoftBitSpan(format, in_place), first);
                    ASSERT_TRUE(in_place == expected);
                }
            }
        }
    }
}

TEST_P(DescramblerOf, EveryLengthAndAlignment) {
    const SoftBitFormat format = GetParam();
    const std::size_t size = size_of(format);
    const std::vector<std::byte> bytes = random_bytes(200 * size + 8);
    const std::uint32_t c_init = 31'415'926;
    const std::vector<std::uint8_t> c = gold_reference(c_init, 400);
    for (std::size_t shift = 0; shift < 5; ++shift) {
        for (std::size_t count = 0; count < 150; ++count) {
            const auto in = std::span(bytes).subspan(shift, count * size);
            const std::vector<std::byte> expected =
                expected_descrambled(format, {in.begin(), in.end()}, std::span(c).subspan(shift * 37));
            for (const phy::Backend& backend : host_backends()) {
                std::vector<std::byte> out(in.size() + 4, std::byte{0xA5});
                const auto target = std::span(out).subspan(3, in.size());
                Descrambler(host_of(backend))(c_init, SoftBitView(format, in), SoftBitSpan(format, target),
                                              shift * 37);
                ASSERT_EQ(std::vector<std::byte>(target.begin(), target.end()), expected)
                    << backend.name() << ", " << count << " soft bits, shift " << shift << ", seed "
                    << scrambling_seed;
                ASSERT_EQ(out[2], std::byte{0xA5});
                ASSERT_EQ(out.back(), std::byte{0xA5});
            }
        }
    }
}

TEST_P(DescramblerOf, PiecesOfACodewordGiveTheSameBytes) {
    const SoftBitFormat format = GetParam();
    const std::size_t size = size_of(format);
    const std::vector<std::byte> bytes = random_bytes(20'000 * size);
    const std::uint32_t c_init = 27'182'818;
    const std::vector<std::byte> expected =
        expected_descrambled(format, bytes, gold_reference(c_init, 20'000));
    std::mt19937 random(scrambling_seed);
    std::vector<std::byte> out(bytes.size());
    const Descrambler descramble{phy::Host()};
    for (std::size_t first = 0, count = 0; first < 20'000; first += count) {
        count = std::min<std::size_t>(20'000 - first, random() % 2000);
        descramble(c_init, SoftBitView(format, bytes).subspan(first, count),
                   SoftBitSpan(format, out).subspan(first, count), first);
    }
    EXPECT_TRUE(out == expected) << "seed " << scrambling_seed;
}

INSTANTIATE_TEST_SUITE_P(All, DescramblerOf, testing::ValuesIn(phy::all_soft_bit_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(ScramblerTest, EveryBackendAddsTheSequence) {
    for (const std::size_t length : {std::size_t{1}, std::size_t{1003}, long_codeword}) {
        const std::vector<std::byte> random = random_bytes(2 * length);
        std::vector<std::uint8_t> bits(random.size());
        std::memcpy(bits.data(), random.data(), random.size());
        const std::span<const std::uint32_t> c_init = std::span(some_c_init).last(2);
        std::vector<std::uint8_t> expected = gold_reference(c_init, length, 1001);
        for (std::size_t i = 0; i < bits.size(); ++i)
            expected[i] = static_cast<std::uint8_t>(expected[i] ^ bits[i]);
        for (const phy::Backend& backend : host_backends()) {
            for (const int threads : {1, 3}) {
                const Scrambler scramble(host_of(backend, threads));
                std::vector<std::uint8_t> out(bits.size());
                scramble(c_init, bits, out, 1001);
                ASSERT_TRUE(out == expected) << backend.name() << ", length " << length;
                scramble(c_init, out, out, 1001);
                ASSERT_TRUE(out == bits) << backend.name() << ", length " << length;
            }
        }
    }
}

TEST(ScramblerTest, EveryLength) {
    const std::vector<std::uint8_t> c = gold_reference(5U, 200);
    for (std::size_t count = 0; count < 200; ++count) {
        for (const phy::Backend& backend : host_backends()) {
            std::vector<std::uint8_t> bits(count + 1, 0);
            Scrambler(host_of(backend))(5, std::span(bits).first(count), std::span(bits).first(count));
            ASSERT_EQ(bits[count], 0);
            bits.pop_back();
            ASSERT_TRUE(std::equal(bits.begin(), bits.end(), c.begin())) << backend.name() << ", " << count;
        }
    }
}

TEST(ScramblerTest, SoftBitsOfScrambledBitsDescrambleToBits) {
    const phy::ScramblingIdentity identity{.rnti = 4321, .id = 99, .codeword = 1};
    std::vector<std::uint8_t> bits(5000);
    std::mt19937 random(scrambling_seed);
    for (std::uint8_t& bit : bits)
        bit = random() & 1U;
    std::vector<std::uint8_t> scrambled(bits.size());
    Scrambler{phy::Host()}(identity.c_init(), bits, scrambled);
    std::vector<std::int8_t> llr(bits.size());
    for (std::size_t i = 0; i < bits.size(); ++i)
        llr[i] = scrambled[i] == 1 ? -5 : 5;
    Descrambler{phy::Host()}(identity.c_init(), llr, llr);
    for (std::size_t i = 0; i < bits.size(); ++i)
        ASSERT_EQ(llr[i], bits[i] == 1 ? -5 : 5) << "seed " << scrambling_seed;
}

TEST(ScramblerTest, WrongArgumentsThrowBeforeAnythingIsWritten) {
    const phy::Host host;
    const std::vector<std::uint32_t> two = {1, 2};
    const std::vector<std::uint32_t> wrong = {1, 0x80000000};
    std::vector<std::uint8_t> bits(4, 1);
    std::vector<std::int8_t> llr(4, 3);
    std::vector<float> floats(4);
    const std::span<std::uint8_t> three_bits = std::span(bits).first(3);
    const std::span<std::int8_t> three = std::span(llr).first(3);
    const Scrambler scramble(host);
    const Descrambler descramble(host);
    EXPECT_THROW(scramble(wrong, bits, bits), phy::ArgumentError);
    EXPECT_THROW(scramble(two, three_bits, three_bits), phy::ArgumentError);
    EXPECT_THROW(scramble(two, bits, three_bits), phy::ArgumentError);
    EXPECT_THROW(scramble(std::span<const std::uint32_t>(), bits, bits), phy::ArgumentError);
    EXPECT_THROW(descramble(wrong, llr, llr), phy::ArgumentError);
    EXPECT_THROW(descramble(two, three, three), phy::ArgumentError);
    EXPECT_THROW(descramble(two, llr, three), phy::ArgumentError);
    EXPECT_THROW(descramble(two, floats, llr), phy::ArgumentError);
    EXPECT_THROW(descramble(std::span<const std::uint32_t>(), llr, llr), phy::ArgumentError);
    EXPECT_EQ(bits, std::vector<std::uint8_t>(4, 1));
    EXPECT_EQ(llr, std::vector<std::int8_t>(4, 3));
    EXPECT_NO_THROW(
        descramble(std::span<const std::uint32_t>(), std::span<std::int8_t>(), std::span<std::int8_t>()));
}

}  // namespace
