#include "phy/core/view.hpp"

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <list>
#include <span>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/noise_variance.hpp"
#include "support/unnamed.hpp"

namespace {

using phy::cf16;
using phy::cf32;
using phy::ci16;
using phy::ci8;
using phy::SoftBitSpan;
using phy::SymbolSpan;
using phy::SymbolView;

template <typename From, typename To>
constexpr bool converts = std::convertible_to<From, To>;

// Reading: any contiguous range of samples, const or not, temporary or not.
static_assert(converts<std::vector<cf32>&, SymbolView>);
static_assert(converts<const std::vector<cf16>&, SymbolView>);
static_assert(converts<std::span<const ci16>, SymbolView>);
static_assert(converts<std::span<ci8, 4>, SymbolView>);
static_assert(converts<const std::array<cf32, 3>&, SymbolView>);
static_assert(converts<cf32 (&)[5], SymbolView>);
static_assert(converts<std::vector<cf32>, SymbolView>);
static_assert(converts<std::vector<float>, phy::NoiseVariance>);

static_assert(!converts<std::vector<float>&, SymbolView>);
static_assert(!converts<std::vector<std::complex<double>>&, SymbolView>);
static_assert(!converts<std::vector<std::int16_t>&, SymbolView>);
static_assert(!converts<std::list<cf32>&, SymbolView>);
static_assert(!converts<cf32*, SymbolView>);
static_assert(!converts<cf32, SymbolView>);

// Writing: the elements must not be const, and a temporary container would be written to in vain.
static_assert(converts<std::vector<cf32>&, SymbolSpan>);
static_assert(converts<std::span<cf16>, SymbolSpan>);
static_assert(converts<ci16 (&)[5], SymbolSpan>);
static_assert(!converts<std::vector<cf32>, SymbolSpan>);
static_assert(!converts<const std::vector<cf32>&, SymbolSpan>);
static_assert(!converts<std::span<const cf32>, SymbolSpan>);
static_assert(!converts<std::vector<float>&, SymbolSpan>);
static_assert(!converts<SymbolView, SymbolSpan>);

static_assert(converts<std::vector<std::int8_t>&, SoftBitSpan>);
static_assert(converts<std::span<phy::half>, SoftBitSpan>);
static_assert(converts<std::array<float, 8>&, SoftBitSpan>);
static_assert(!converts<const std::vector<float>&, SoftBitSpan>);
static_assert(!converts<std::span<const std::int8_t>, SoftBitSpan>);
static_assert(!converts<std::vector<std::uint8_t>&, SoftBitSpan>);
static_assert(!converts<std::vector<double>&, SoftBitSpan>);
static_assert(!converts<std::vector<bool>&, SoftBitSpan>);

// What may be written to can be read.
static_assert(converts<SymbolSpan, SymbolView>);
static_assert(converts<SoftBitSpan, phy::SoftBitView>);
static_assert(!converts<phy::SoftBitView, SoftBitSpan>);

// N0: one float, or floats.
static_assert(converts<float, phy::NoiseVariance>);
static_assert(converts<const std::vector<float>&, phy::NoiseVariance>);
static_assert(converts<std::span<float>, phy::NoiseVariance>);
static_assert(!converts<std::vector<double>&, phy::NoiseVariance>);
static_assert(!converts<std::vector<cf32>&, phy::NoiseVariance>);

const void* address(const auto& range) {
    return std::data(range);
}

template <typename Sample>
void expect_sample_views(phy::SampleFormat format) {
    std::vector<Sample> symbols(7);
    const SymbolView view = symbols;
    EXPECT_EQ(view.format(), format);
    EXPECT_EQ(view.data(), address(symbols));
    EXPECT_EQ(view.size(), 7U);
    const SymbolSpan span = symbols;
    EXPECT_EQ(span.format(), format);
    EXPECT_EQ(span.data(), address(symbols));
    EXPECT_EQ(span.size(), 7U);
}

TEST(Views, KnowFormatPlaceAndSize) {
    expect_sample_views<cf32>(phy::SampleFormat::cf32);
    expect_sample_views<cf16>(phy::SampleFormat::cf16);
    expect_sample_views<ci16>(phy::SampleFormat::ci16);
    expect_sample_views<ci8>(phy::SampleFormat::ci8);
    std::array<phy::half, 3> soft_bits;
    const SoftBitSpan span = soft_bits;
    EXPECT_EQ(span.format(), phy::SoftBitFormat::float16);
    EXPECT_EQ(span.data(), address(soft_bits));
    EXPECT_EQ(span.size(), 3U);
}

TEST(Views, AreEmptyByDefault) {
    EXPECT_EQ(SymbolView().size(), 0U);
    EXPECT_EQ(SymbolSpan().size(), 0U);
    EXPECT_EQ(SoftBitSpan().size(), 0U);
}

TEST(Views, PartsCountInElements) {
    const std::vector<ci16> symbols(9);
    const SymbolView part = SymbolView(symbols).subspan(4, 3);
    EXPECT_EQ(part.format(), phy::SampleFormat::ci16);
    EXPECT_EQ(part.data(), address(std::span(symbols).subspan(4)));
    EXPECT_EQ(part.size(), 3U);

    std::vector<float> soft_bits(9);
    const SoftBitSpan tail = SoftBitSpan(soft_bits).subspan(5, 4);
    EXPECT_EQ(tail.format(), phy::SoftBitFormat::float32);
    EXPECT_EQ(tail.data(), address(std::span(soft_bits).subspan(5)));
    EXPECT_EQ(tail.size(), 4U);
}

TEST(Views, RefuseFormatsThatNumbersDoNotName) {
    std::array<std::byte, 32> bytes{};
    for (const int number : {-1, 4, 1000})
        phy_test::expect_unnamed("sample format", number, 3, [&] {
            static_cast<void>(SymbolSpan(static_cast<phy::SampleFormat>(number), bytes));
        });
    for (const int number : {-1, 3, 1000})
        phy_test::expect_unnamed("soft-bit format", number, 2, [&] {
            static_cast<void>(SoftBitSpan(static_cast<phy::SoftBitFormat>(number), bytes));
        });
}

TEST(Views, ThatCanBeWrittenAreReadAsTheyAre) {
    std::vector<ci16> symbols(9);
    const SymbolView view = SymbolSpan(symbols).subspan(4, 3);
    EXPECT_EQ(view.format(), phy::SampleFormat::ci16);
    EXPECT_EQ(view.data(), address(std::span(symbols).subspan(4)));
    EXPECT_EQ(view.size(), 3U);
}

TEST(Views, TakeUnalignedMemory) {
    std::array<std::byte, 32> bytes{};
    const SymbolView view(phy::SampleFormat::cf32, bytes.data() + 1, 3);
    EXPECT_EQ(view.subspan(1, 2).data(), bytes.data() + 9);
    const SoftBitSpan span(phy::SoftBitFormat::float32, bytes.data() + 3, 4);
    EXPECT_EQ(span.subspan(2, 1).data(), bytes.data() + 11);
}

/// Sizes whose bytes or bits are beyond 64 bits would fit arrays that have none.
TEST(Views, AreRefusedBeyondAnyMemory) {
    std::array<std::byte, 32> bytes{};
    for (const int shift : {57, 60, 61, 62, 63}) {
        const std::size_t many = std::size_t{1} << shift;
        for (const phy::SampleFormat format : phy::all_sample_formats)
            EXPECT_THROW(SymbolView(format, bytes.data(), many), phy::ArgumentError) << shift;
        for (const phy::SoftBitFormat format : phy::all_soft_bit_formats)
            EXPECT_THROW(SoftBitSpan(format, bytes.data(), many), phy::ArgumentError) << shift;
    }
    const std::span<const std::byte> lie(bytes.data(), std::size_t{1} << 63);
    EXPECT_THROW(SymbolView(phy::SampleFormat::cf32, lie), phy::ArgumentError);
    EXPECT_EQ(SymbolView(phy::SampleFormat::ci8, bytes.data(), std::size_t{1} << 56).size(),
              std::size_t{1} << 56);
}

}  // namespace
