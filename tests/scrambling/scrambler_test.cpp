#include "phy/scrambling/scrambler.hpp"

#include <gtest/gtest.h>

#include <string>

#include "demapper/signals.hpp"
#include "phy/core/error.hpp"
#include "scrambling/scrambling_cases.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Scrambler;

/// Longer than what a thread takes at a time.
constexpr std::size_t long_codeword = 300'007;

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

TEST(ScramblerTest, WrongArgumentsThrowBeforeAnythingIsWritten) {
    const phy::Host host;
    const std::vector<std::uint32_t> two = {1, 2};
    const std::vector<std::uint32_t> wrong = {1, 0x80000000};
    std::vector<std::uint8_t> bits(4, 1);
    const std::span<std::uint8_t> three_bits = std::span(bits).first(3);
    const Scrambler scramble(host);
    EXPECT_THROW(scramble(wrong, bits, bits), phy::ArgumentError);
    EXPECT_THROW(scramble(two, three_bits, three_bits), phy::ArgumentError);
    EXPECT_THROW(scramble(two, bits, three_bits), phy::ArgumentError);
    EXPECT_THROW(scramble(std::span<const std::uint32_t>(), bits, bits), phy::ArgumentError);
    EXPECT_EQ(bits, std::vector<std::uint8_t>(4, 1));
}

}  // namespace
