#include "phy/core/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/half_reference.hpp"

namespace {

using phy::half;
using phy_test::nearest_half_bits;
using phy_test::value_of_half;

half from_bits(unsigned bits) {
    half value;
    value.bits = static_cast<std::uint16_t>(bits);
    return value;
}

void expect_nearest(float value) {
    const half rounded(value);
    const unsigned expected =
        std::fabs(value) < 0x1p17F ? nearest_half_bits(value) : (std::signbit(value) ? 0xFC00U : 0x7C00U);
    ASSERT_EQ(rounded.bits, expected)
        << "of " << value << ", binary32 bits " << std::hex << std::bit_cast<std::uint32_t>(value);
}

void expect_nearest_around(float value) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const float sign : {1.0F, -1.0F}) {
        ASSERT_NO_FATAL_FAILURE(expect_nearest(sign * value));
        ASSERT_NO_FATAL_FAILURE(expect_nearest(sign * std::nextafter(value, infinity)));
        ASSERT_NO_FATAL_FAILURE(expect_nearest(sign * std::nextafter(value, -infinity)));
    }
}

TEST(Half, WidensEveryValueExactly) {
    for (unsigned bits = 0; bits < 0x10000U; ++bits) {
        const auto widened = static_cast<float>(from_bits(bits));
        const long double exact = value_of_half(bits);
        if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(widened)) << std::hex << bits;
        } else {
            ASSERT_EQ(static_cast<long double>(widened), exact) << std::hex << bits;
        }
        ASSERT_EQ(std::signbit(widened), (bits & 0x8000U) != 0) << std::hex << bits;
    }
}

TEST(Half, NarrowingUndoesWidening) {
    for (unsigned bits = 0; bits < 0x10000U; ++bits) {
        const half there_and_back(static_cast<float>(from_bits(bits)));
        if (std::isnan(value_of_half(bits))) {
            ASSERT_TRUE(std::isnan(static_cast<float>(there_and_back))) << std::hex << bits;
            ASSERT_EQ(there_and_back.bits & 0x8000U, bits & 0x8000U) << std::hex << bits;
        } else {
            ASSERT_EQ(there_and_back.bits, bits);
        }
    }
}

TEST(Half, RoundsToNearestEvenAtEveryTieAndBesideIt) {
    for (unsigned bits = 0; bits < 0x7C00U; ++bits) {
        const float here = static_cast<float>(from_bits(bits));
        // After the largest binary16 the next would be 65536.
        const float next = bits + 1 < 0x7C00U ? static_cast<float>(from_bits(bits + 1)) : 65536.0F;
        ASSERT_NO_FATAL_FAILURE(expect_nearest_around(here));
        ASSERT_NO_FATAL_FAILURE(expect_nearest_around(0.5F * (here + next)));
    }
}

TEST(Half, RoundsToNearestEvenAcrossBinary32) {
    constexpr std::uint32_t infinity = 0x7F800000U;
    constexpr std::uint32_t step = 4099;  // prime: meets all low bits
    for (std::uint32_t word = 0; word < infinity; word += step) {
        ASSERT_NO_FATAL_FAILURE(expect_nearest(std::bit_cast<float>(word)));
        ASSERT_NO_FATAL_FAILURE(expect_nearest(std::bit_cast<float>(word | 0x80000000U)));
    }
}

TEST(Half, NarrowsInfinityAndNan) {
    EXPECT_EQ(half(std::numeric_limits<float>::infinity()).bits, 0x7C00U);
    EXPECT_EQ(half(-std::numeric_limits<float>::infinity()).bits, 0xFC00U);
    for (const std::uint32_t word : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFFFFFFFU}) {
        EXPECT_TRUE(std::isnan(static_cast<float>(half(std::bit_cast<float>(word))))) << std::hex << word;
    }
}

TEST(Half, IsConstexpr) {
    static_assert(half(1.0F).bits == 0x3C00U);
    static_assert(half(-65504.0F).bits == 0xFBFFU);
    static_assert(half(0x1p-24F).bits == 1U);
    static_assert(static_cast<float>(half(0.25F)) == 0.25F);
    SUCCEED();
}

}  // namespace
