#include "phy/cuda/span.hpp"

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"

/// Arrays of a device, of which the host only says where they are: nothing here needs a GPU. What must not
/// compile is in tests/must_not_compile.
namespace {

using phy::cf32;
using phy::gpu::device_span;
using phy::gpu::DeviceBuffer;
using phy::gpu::DeviceSpan;
using phy::gpu::PinnedBuffer;

template <typename From, typename To>
constexpr bool converts = std::convertible_to<From, To>;

static_assert(converts<DeviceSpan<float>, DeviceSpan<const float>>);
static_assert(converts<DeviceBuffer<float>&, DeviceSpan<float>>);
static_assert(converts<DeviceBuffer<float>&, DeviceSpan<const float>>);
static_assert(converts<const DeviceBuffer<float>&, DeviceSpan<const float>>);
static_assert(!converts<const DeviceBuffer<float>&, DeviceSpan<float>>);
static_assert(!converts<DeviceSpan<const float>, DeviceSpan<float>>);
static_assert(!converts<DeviceSpan<float>, DeviceSpan<std::int32_t>>);
static_assert(!converts<std::vector<float>&, DeviceSpan<float>>);
static_assert(!converts<std::span<float>, DeviceSpan<float>>);
static_assert(!converts<PinnedBuffer<float>&, DeviceSpan<float>>);
static_assert(!converts<DeviceSpan<float>, std::span<float>>);

static_assert(converts<PinnedBuffer<float>&, std::span<float>>);
static_assert(converts<const PinnedBuffer<float>&, std::span<const float>>);
static_assert(!converts<const PinnedBuffer<float>&, std::span<float>>);
static_assert(std::ranges::contiguous_range<PinnedBuffer<float>>);
static_assert(!std::ranges::range<DeviceBuffer<float>>);
static_assert(!std::ranges::range<DeviceSpan<float>>);

// The formatted views of either memory.
static_assert(converts<DeviceBuffer<cf32>&, phy::gpu::SymbolSpan>);
static_assert(converts<const DeviceBuffer<cf32>&, phy::gpu::SymbolView>);
static_assert(!converts<const DeviceBuffer<cf32>&, phy::gpu::SymbolSpan>);
static_assert(!converts<DeviceBuffer<cf32>&, phy::SymbolView>);
static_assert(!converts<PinnedBuffer<cf32>&, phy::gpu::SymbolView>);
static_assert(converts<PinnedBuffer<cf32>&, phy::SymbolSpan>);
static_assert(!converts<const PinnedBuffer<cf32>&, phy::SymbolSpan>);
static_assert(!converts<phy::SymbolView, phy::gpu::SymbolView>);
static_assert(!converts<phy::gpu::SymbolView, phy::SymbolView>);
static_assert(converts<float, phy::gpu::NoiseVariance>);
static_assert(converts<DeviceBuffer<float>&, phy::gpu::NoiseVariance>);
static_assert(!converts<DeviceBuffer<float>&, phy::NoiseVariance>);
static_assert(!converts<std::vector<float>&, phy::gpu::NoiseVariance>);

TEST(DeviceSpan, IsEmptyByDefault) {
    const DeviceSpan<float> nothing;
    EXPECT_TRUE(nothing.empty());
    EXPECT_EQ(nothing.data(), nullptr);
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(nothing.size_bytes(), 0U);
}

TEST(DeviceSpan, SaysWhereItIs) {
    std::array<std::int32_t, 9> array{};
    const DeviceSpan<std::int32_t> span = device_span(array.data(), array.size());
    EXPECT_FALSE(span.empty());
    EXPECT_EQ(span.data(), array.data());
    EXPECT_EQ(span.size(), 9U);
    EXPECT_EQ(span.size_bytes(), 36U);
    const DeviceSpan<const std::int32_t> read_only = span;
    EXPECT_EQ(read_only.data(), array.data());
    EXPECT_EQ(read_only.size(), 9U);
}

TEST(DeviceSpan, PartsCountInElements) {
    std::array<std::int32_t, 9> array{};
    const auto span = device_span(array.data(), array.size());
    EXPECT_EQ(span.subspan(4, 3).data(), array.data() + 4);
    EXPECT_EQ(span.subspan(4, 3).size(), 3U);
    EXPECT_EQ(span.subspan(9, 0).size(), 0U);
    EXPECT_EQ(span.first(2).data(), array.data());
    EXPECT_EQ(span.first(2).size(), 2U);
}

TEST(DeviceSpan, IsBytesAndElementsAgain) {
    std::array<std::int32_t, 9> array{};
    const auto span = device_span(array.data(), array.size());
    const DeviceSpan<std::byte> bytes = as_bytes(span);
    EXPECT_EQ(static_cast<void*>(bytes.data()), array.data());
    EXPECT_EQ(bytes.size(), 36U);
    const DeviceSpan<const std::byte> read_only = as_bytes(DeviceSpan<const std::int32_t>(span));
    EXPECT_EQ(read_only.size(), 36U);
    const DeviceSpan<std::int32_t> back = phy::gpu::elements_of<std::int32_t>(bytes);
    EXPECT_EQ(back.data(), array.data());
    EXPECT_EQ(back.size(), 9U);
    const DeviceSpan<const std::int64_t> whole_ones = phy::gpu::elements_of<std::int64_t>(read_only);
    EXPECT_EQ(whole_ones.size(), 4U);
}

TEST(DeviceViews, KnowFormatPlaceAndSize) {
    std::array<phy::ci16, 9> array{};
    const phy::gpu::SymbolSpan span = device_span(array.data(), array.size());
    EXPECT_EQ(span.format(), phy::SampleFormat::ci16);
    EXPECT_EQ(static_cast<void*>(span.data()), array.data());
    EXPECT_EQ(span.size(), 9U);
    EXPECT_EQ(span.bytes().size(), 36U);
    const phy::gpu::SymbolView view = span;
    const phy::gpu::SymbolView part = view.subspan(4, 3);
    EXPECT_EQ(part.format(), phy::SampleFormat::ci16);
    EXPECT_EQ(static_cast<const void*>(part.data()), array.data() + 4);
    EXPECT_EQ(part.size(), 3U);
}

TEST(DeviceViews, TakeAFormatAndBytes) {
    std::array<std::byte, 32> bytes{};
    const phy::gpu::SoftBitSpan span(phy::SoftBitFormat::float32, device_span(bytes.data() + 3, 18));
    EXPECT_EQ(span.size(), 4U) << "whole ones";
    EXPECT_EQ(span.subspan(2, 1).data(), bytes.data() + 11);
}

TEST(DeviceNoiseVariance, IsOneForAllOrOneForEach) {
    const phy::gpu::NoiseVariance one = 0.5F;
    EXPECT_FALSE(one.is_per_symbol());
    EXPECT_EQ(one.scalar(), 0.5F);
    EXPECT_TRUE(one.values().empty());
    const std::array<float, 4> array{};
    const phy::gpu::NoiseVariance each = device_span(array.data(), array.size());
    EXPECT_TRUE(each.is_per_symbol());
    EXPECT_FALSE(each.scalar().has_value());
    EXPECT_EQ(each.values().data(), array.data());
    EXPECT_EQ(each.values().size(), 4U);
}

}  // namespace
