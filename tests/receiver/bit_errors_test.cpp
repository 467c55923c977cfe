#include "phy/receiver/bit_errors.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "phy/core/half.hpp"

namespace {

using phy::detail::count_bit_errors;

template <typename T>
class BitErrors : public testing::Test {};

using SoftBitTypes = testing::Types<std::int8_t, phy::half, float>;
TYPED_TEST_SUITE(BitErrors, SoftBitTypes);

TYPED_TEST(BitErrors, APositiveSoftBitIsBit0AndSoIsZero) {
    std::vector<TypeParam> soft_bits;
    for (const float value : {3.0F, -3.0F, 0.0F, -0.0F, 1.0F, -1.0F})
        soft_bits.push_back(static_cast<TypeParam>(value));
    EXPECT_EQ(count_bit_errors(soft_bits, std::vector<std::uint8_t>{0, 1, 0, 0, 0, 1}), 0U);
    EXPECT_EQ(count_bit_errors(soft_bits, std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0}), 6U);
    EXPECT_EQ(count_bit_errors(soft_bits, std::vector<std::uint8_t>{0, 1, 1, 0, 0, 0}), 2U);
}

}  // namespace
