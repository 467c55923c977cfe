#include "phy/coding/crc.hpp"
#include "support/random_seed.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace {

using namespace phy::detail;  // NOLINT(google-build-using-namespace)

/// The remainder of a long division, bit by bit.
std::uint32_t remainder_of(const Crc& crc, const std::vector<std::uint8_t>& packed, std::size_t bits) {
    std::uint64_t rest = 0;
    const std::uint64_t divisor = std::uint64_t{1} << crc.length | crc.polynomial;
    for (std::size_t i = 0; i < bits + static_cast<std::size_t>(crc.length); ++i) {
        const std::uint64_t bit = i < bits ? packed[i / 8] >> (7 - i % 8) & 1 : 0;
        rest = rest << 1 | bit;
        if ((rest >> crc.length & 1) != 0) rest ^= divisor;
    }
    return static_cast<std::uint32_t>(rest);
}

/// Check values of the catalogue of parametrised CRC algorithms: CRC-24/LTE-A, CRC-24/LTE-B, CRC-16/XMODEM.
TEST(CrcTest, CheckValues) {
    constexpr std::string_view digits = "123456789";
    const std::vector<std::uint8_t> bytes(digits.begin(), digits.end());
    EXPECT_EQ(CrcEngine(crc24a)(bytes, 72), 0xCDE703U);
    EXPECT_EQ(CrcEngine(crc24b)(bytes, 72), 0x23EF52U);
    EXPECT_EQ(CrcEngine(crc16)(bytes, 72), 0x31C3U);
}

TEST(CrcTest, EveryLengthIsARemainder) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(30);
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(random());
    for (const Crc& crc : {crc24a, crc24b, crc16}) {
        const CrcEngine engine(crc);
        for (std::size_t bits = 0; bits <= 8 * bytes.size(); ++bits)
            ASSERT_EQ(engine(bytes, bits), remainder_of(crc, bytes, bits)) << crc.length << ", " << bits;
    }
}

}  // namespace
