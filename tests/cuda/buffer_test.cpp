#include "phy/cuda/buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "phy/core/error.hpp"
#include "phy/cuda/view.hpp"
#include "support/gpu.hpp"

namespace {

using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::DeviceSpan;
using phy::gpu::PinnedBuffer;
using phy::gpu::Stream;

// Sizes are looked at before anything else, so that no GPU is needed to see it.
TEST(CopyAsync, RefusesMemoriesOfDifferentSizes) {
    std::vector<float> three(3, 7.0F);
    const std::vector<float> four(4, 1.0F);
    EXPECT_THROW(phy::gpu::copy_async(three, four, nullptr), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::copy_async(three, std::span(four).first(2), nullptr), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::copy_async(three, DeviceSpan<const float>(), nullptr), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::copy_async(phy::gpu::device_span(three.data(), 3), four, nullptr),
                 phy::ArgumentError);
    EXPECT_EQ(three, std::vector<float>(3, 7.0F));
}

TEST(CopyAsync, SaysWhichSizesDiffer) {
    std::vector<float> three(3);
    try {
        phy::gpu::copy_async(three, std::vector<float>(4), nullptr);
        ADD_FAILURE() << "copied";
    } catch (const phy::ArgumentError& error) {
        EXPECT_STREQ(error.what(), "copy_async: the target has 3 elements: expected 4");
    }
}

TEST(CopyAsync, OfNothingNeedsNoDevice) {
    std::vector<float> nothing;
    EXPECT_NO_THROW(phy::gpu::copy_async(nothing, DeviceSpan<const float>(), nullptr));
    EXPECT_NO_THROW(phy::gpu::fill_async(DeviceSpan<float>(), 1, nullptr));
}

TEST(Buffers, AreEmptyByDefault) {
    const DeviceBuffer<float> device;
    EXPECT_EQ(device.data(), nullptr);
    EXPECT_EQ(device.size(), 0U);
    EXPECT_TRUE(device.span().empty());
    const PinnedBuffer<float> pinned;
    EXPECT_EQ(pinned.data(), nullptr);
    EXPECT_EQ(pinned.size(), 0U);
    EXPECT_EQ(pinned.begin(), pinned.end());
}

class BuffersOnDevice : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(BuffersOnDevice, GoThereAndBack) {
    const Device device;
    const Stream stream(device);
    constexpr std::size_t size = 100003;
    PinnedBuffer<std::uint32_t> sent(size);
    PinnedBuffer<std::uint32_t> received(size);
    DeviceBuffer<std::uint32_t> first(device, size);
    DeviceBuffer<std::uint32_t> second(device, size);
    EXPECT_EQ(first.size(), size);
    EXPECT_EQ(first.size_bytes(), 4 * size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 256, 0U);
    std::iota(sent.begin(), sent.end(), 7U);
    std::fill(received.begin(), received.end(), 0U);
    phy::gpu::copy_async(first, sent, stream);
    phy::gpu::copy_async(second, first, stream);
    phy::gpu::copy_async(received, second, stream);
    stream.synchronize();
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));

    std::vector<std::uint32_t> pageable(size);
    phy::gpu::fill_async(second.first(size - 1), 0xA5, stream);
    phy::gpu::copy_async(pageable, second, stream);
    stream.synchronize();
    EXPECT_EQ(std::count(pageable.begin(), pageable.end() - 1, 0xA5A5A5A5U),
              static_cast<std::ptrdiff_t>(size - 1));
    EXPECT_EQ(pageable.back(), sent.end()[-1]);
}

TEST_F(BuffersOnDevice, ConvertToViews) {
    const Device device;
    const DeviceBuffer<phy::cf32> symbols(device, 5);
    DeviceBuffer<std::int8_t> soft_bits(device, 10);
    const phy::gpu::SymbolView view(symbols);
    EXPECT_EQ(static_cast<const void*>(view.data()), symbols.data());
    EXPECT_EQ(view.size(), 5U);
    const phy::gpu::SoftBitSpan span(soft_bits);
    EXPECT_EQ(static_cast<const void*>(span.data()), soft_bits.data());
    EXPECT_EQ(span.size(), 10U);
}

TEST_F(BuffersOnDevice, OfNothingAndMovedOnesAreEmpty) {
    const Device device;
    const Stream stream(device);
    DeviceBuffer<float> nothing(device, 0);
    const PinnedBuffer<float> nothing_pinned(0);
    EXPECT_EQ(nothing.data(), nullptr);
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(nothing_pinned.data(), nullptr);
    phy::gpu::copy_async(nothing, nothing_pinned, stream);
    phy::gpu::fill_async(nothing, 1, stream);
    EXPECT_NO_THROW(stream.synchronize());

    DeviceBuffer<float> from(device, 3);
    float* const data = from.data();
    const DeviceBuffer<float> to(std::move(from));
    EXPECT_EQ(to.data(), data);
    EXPECT_EQ(to.size(), 3U);
    EXPECT_EQ(from.size(), 0U);  // NOLINT(bugprone-use-after-move): what is tested
}

TEST_F(BuffersOnDevice, TooLittleMemoryIsAnErrorThatPasses) {
    const Device device;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX / 4 + 2, std::size_t{1} << 50U}) {
        try {
            const DeviceBuffer<std::uint32_t> buffer(device, size);
            ADD_FAILURE() << size;
        } catch (const phy::gpu::CudaError& error) {
            EXPECT_TRUE(error.out_of_memory()) << error.what();
        }
    }
    EXPECT_THROW(PinnedBuffer<std::uint32_t>(SIZE_MAX / 4 + 2), phy::gpu::CudaError);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NO_THROW(DeviceBuffer<float>(device, 1000));
    EXPECT_NO_THROW(device.synchronize());
}

TEST_F(BuffersOnDevice, PartsCountInElements) {
    DeviceBuffer<std::uint32_t> buffer(Device(), 10);
    EXPECT_EQ(buffer.subspan(4, 3).data(), buffer.data() + 4);
    EXPECT_EQ(buffer.subspan(4, 3).size(), 3U);
    EXPECT_EQ(buffer.first(3).data(), buffer.data());
    EXPECT_EQ(std::as_const(buffer).first(3).size(), 3U);
}

TEST_F(BuffersOnDevice, PinnedMemoryHasOneAddressOnBothSides) {
    const Device device;
    const Stream stream(device);
    PinnedBuffer<std::uint32_t> pinned(1000);
    std::iota(pinned.begin(), pinned.end(), 3U);
    EXPECT_EQ(pinned.on_device().data(), pinned.data());
    EXPECT_EQ(pinned.on_device().size(), 1000U);
    void* seen_by_device = nullptr;
    phy::gpu::check(cudaHostGetDevicePointer(&seen_by_device, pinned.data(), 0));
    EXPECT_EQ(seen_by_device, pinned.data());
    phy::gpu::fill_async(pinned.on_device().first(999), 0x5A, stream);
    stream.synchronize();
    EXPECT_EQ(std::count(pinned.begin(), pinned.end(), 0x5A5A5A5AU), 999);
    EXPECT_EQ(pinned.end()[-1], 1002U);
}

}  // namespace
