#include <cmath>

#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "phy/core/full_scale.hpp"

namespace {

using phy::FullScale;
using phy::SampleFormat;

TEST(FullScale, IsThatOfTheFormatUnlessGiven) {
    constexpr FullScale none;
    for (const SampleFormat format : phy::all_sample_formats)
        EXPECT_EQ(none.value_for(format), default_full_scale(format));
}

TEST(FullScale, OfIntegersOnly) {
    const FullScale given = 2048.0F;
    EXPECT_EQ(given.value_for(SampleFormat::ci16), 2048.0F);
    EXPECT_EQ(given.value_for(SampleFormat::ci8), 2048.0F);
    EXPECT_EQ(given.value_for(SampleFormat::cf16), 1.0F);
    EXPECT_EQ(given.value_for(SampleFormat::cf32), 1.0F);
}

TEST(FullScale, ComparesWhatWasGiven) {
    EXPECT_EQ(FullScale(3.0F), FullScale(3.0F));
    EXPECT_NE(FullScale(3.0F), FullScale(4.0F));
    EXPECT_NE(FullScale(32768.0F), FullScale());
}

TEST(FullScale, Range) {
    for (const float value : {0x1p-126F, 1.0F, 0x1p126F})
        EXPECT_EQ(FullScale(value).value_for(SampleFormat::ci16), value);
    for (const float value : {0.0F, -0.0F, -1.0F, 0x1p-127F, std::nextafter(0x1p126F, HUGE_VALF), HUGE_VALF,
                              -HUGE_VALF, std::nanf("")})
        EXPECT_THROW(FullScale{value}, phy::ArgumentError) << value;
}

}  // namespace
