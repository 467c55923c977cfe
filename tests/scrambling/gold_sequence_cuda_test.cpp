#include "phy/scrambling/gold_sequence.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "phy/core/error.hpp"
#include "phy/scrambling/signs.hpp"
#include "scrambling/scrambling_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::gpu::copy_async;
using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::Stream;

template <typename T>
DeviceBuffer<T> on_device(const Device& device, std::span<const T> values) {
    DeviceBuffer<T> buffer(device, values.size());
    const Stream stream(device);
    copy_async(buffer, values, stream);
    stream.synchronize();
    return buffer;
}

template <typename T>
std::vector<T> from_device(const Device& device, phy::gpu::DeviceSpan<const T> span) {
    std::vector<T> values(span.size());
    const Stream stream(device);
    device.synchronize();
    copy_async(values, span, stream);
    stream.synchronize();
    return values;
}

/// What the host writes, which other tests compare with the definition.
std::vector<std::uint32_t> words_of_host(std::span<const std::uint32_t> c_init, std::uint64_t first,
                                         std::size_t words) {
    std::vector<std::uint32_t> all(c_init.size() * words);
    for (std::size_t i = 0; i < c_init.size(); ++i)
        phy::gold_sequence(c_init[i], first, std::span(all).subspan(i * words, words));
    return all;
}

TEST(GpuGoldSequence, WordsAreThoseOfTheHost) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    const DeviceBuffer<std::uint32_t> c_init = on_device<std::uint32_t>(device, some_c_init);
    for (const std::size_t words : {1, 31, 127, 128, 129, 5000, 300'001}) {
        for (const std::uint64_t first :
             {std::uint64_t{0}, std::uint64_t{1'000'003}, std::uint64_t{1} << 40U}) {
            DeviceBuffer<std::uint32_t> out(device, c_init.size() * words);
            phy::gpu::gold_sequence(device, c_init, first, out, stream);
            ASSERT_TRUE(from_device<std::uint32_t>(device, out) == words_of_host(some_c_init, first, words))
                << words << " words from " << first;
            DeviceBuffer<std::uint32_t> of_one(device, words);
            phy::gpu::gold_sequence(device, some_c_init[4], first, of_one, stream);
            ASSERT_TRUE(from_device<std::uint32_t>(device, of_one) ==
                        words_of_host({&some_c_init[4], 1}, first, words))
                << words << " words from " << first;
        }
    }
}

TEST(GpuGoldSequence, WritesSignsFromAnyBitOn) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    constexpr std::size_t all = 100'000;
    for (const std::size_t length : {1, 33, 77, 1003, 20'011}) {
        std::vector<std::uint32_t> expected((all + 31) / 32);
        DeviceBuffer<std::uint32_t> signs(device, expected.size());
        fill_async(signs, 0, stream);
        for (std::size_t begin = 0; begin < all; begin += length) {
            const phy::detail::SignBits bits = {
                .begin = begin, .count = std::min(length, all - begin), .first = begin == 0 ? 7U : 0U};
            phy::detail::write_signs(phy::Host(), some_c_init[4], bits, expected);
            phy::detail::write_signs(device, some_c_init[4], bits, signs, stream);
        }
        ASSERT_TRUE(from_device<std::uint32_t>(device, signs) == expected) << "codewords of " << length;
    }
}

TEST(GpuGoldSequence, GraphsSeeNewNumbers) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    std::vector<std::uint32_t> numbers = {1, 2, 3, 4};
    DeviceBuffer<std::uint32_t> c_init = on_device<std::uint32_t>(device, numbers);
    DeviceBuffer<std::uint32_t> out(device, 4000);
    const phy::gpu::Graph graph(
        device, [&](cudaStream_t on) { phy::gpu::gold_sequence(device, c_init, 0, out, on); });
    numbers = {5, 6, 7, 0x7FFFFFFF};
    copy_async(c_init, numbers, stream);
    graph(stream);
    stream.synchronize();
    EXPECT_TRUE(from_device<std::uint32_t>(device, out) == words_of_host(numbers, 0, 1000));
}

TEST(GpuGoldSequence, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    DeviceBuffer<std::uint32_t> two(device, 2);
    DeviceBuffer<std::uint32_t> words(device, 3);
    EXPECT_THROW(phy::gpu::gold_sequence(device, two, 0, words, stream), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::gold_sequence(device, 0x80000000, 0, words, stream), phy::ArgumentError);
}

}  // namespace
