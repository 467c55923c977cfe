#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/mapper/mapper.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

TEST(PackBits, FirstBitIsTheMostSignificant) {
    Bytes packed(2);
    phy::pack_bits(Bytes{1, 0, 1, 1, 0, 0, 1, 0, 1, 1}, packed);
    EXPECT_EQ(packed, (Bytes{0b10110010, 0b11000000}));
}

TEST(PackBits, LooksAtTheLowestBitOnly) {
    Bytes packed(1);
    phy::pack_bits(Bytes{2, 3, 254, 255}, packed);
    EXPECT_EQ(packed, Bytes{0b01010000});
}

TEST(PackBits, UnpackingUndoesItAtEveryLength) {
    constexpr unsigned seed = 5;
    std::mt19937 random(seed);
    for (std::size_t count = 0; count <= 70; ++count) {
        Bytes bits(count);
        for (std::uint8_t& bit : bits)
            bit = static_cast<std::uint8_t>(random() >> 31);
        Bytes packed((count + 7) / 8, 0xFF);
        phy::pack_bits(bits, packed);
        Bytes unpacked(count, 0xFF);
        phy::unpack_bits(packed, unpacked);
        ASSERT_EQ(unpacked, bits) << count << " bits, seed " << seed;
    }
}

TEST(UnpackBits, IgnoresTrailingBits) {
    Bytes bits(3);
    phy::unpack_bits(Bytes{0b01011111}, bits);
    EXPECT_EQ(bits, (Bytes{0, 1, 0}));
}

TEST(PackBits, WrongSizesAreErrorsThatWriteNothing) {
    for (const std::size_t size : {0U, 1U, 3U}) {
        Bytes packed(size, 7);
        EXPECT_THROW(phy::pack_bits(Bytes(9), packed), phy::ArgumentError) << size;
        EXPECT_EQ(packed, Bytes(size, 7));
        Bytes bits(9, 7);
        EXPECT_THROW(phy::unpack_bits(packed, bits), phy::ArgumentError) << size;
        EXPECT_EQ(bits, Bytes(9, 7));
    }
}

}  // namespace
