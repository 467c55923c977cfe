#include "phy/core/half.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

using phy::half;

half from_bits(unsigned bits) {
    half value;
    value.bits = static_cast<std::uint16_t>(bits);
    return value;
}

/// The value that IEEE 754 gives to the bits of a binary16.
long double value_of(unsigned bits) {
    const int exponent = static_cast<int>(bits >> 10 & 0x1FU);
    const auto fraction = static_cast<long double>(bits & 0x3FFU);
    const long double sign = (bits & 0x8000U) != 0 ? -1.0L : 1.0L;
    if (exponent == 31) {
        return fraction != 0.0L ? std::numeric_limits<long double>::quiet_NaN()
                                : sign * std::numeric_limits<long double>::infinity();
    }
    return exponent == 0 ? sign * std::ldexp(fraction, -24)
                         : sign * std::ldexp(fraction + 1024.0L, exponent - 25);
}

/// The bits of the binary16 nearest to a number, ties to even: nearbyint in units of the last place.
unsigned nearest_bits(long double value) {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const long double magnitude = std::fabs(value);
    const int exponent = magnitude == 0.0L ? -14 : std::max(std::ilogb(magnitude), -14);
    const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
    // A fraction that was rounded up to 2 carries into the exponent by itself.
    const unsigned bits = static_cast<unsigned>(exponent + 14) * 1024U + units;
    return sign | std::min(bits, 0x7C00U);
}

void expect_nearest(float value) {
    const half rounded(value);
    const unsigned expected =
        std::fabs(value) < 0x1p17F ? nearest_bits(value) : (std::signbit(value) ? 0xFC00U : 0x7C00U);
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
        const long double exact = value_of(bits);
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
        if (std::isnan(value_of(bits))) {
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
