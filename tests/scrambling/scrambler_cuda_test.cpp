#include "phy/scrambling/scrambler_cuda.hpp"

#include <gtest/gtest.h>

#include <string>

#include "demapper/signals.hpp"
#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/scrambling/stage.hpp"
#include "scrambling/scrambling_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SoftBitFormat;
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

class GpuDescrambler : public testing::TestWithParam<SoftBitFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// What the GPU makes of soft bits that lie `shift` bytes behind a multiple of 256, and what it should.
    static void expect_descrambled(std::span<const std::uint32_t> c_init, std::size_t length,
                                   std::uint64_t first, std::size_t in_shift, std::size_t out_shift) {
        const SoftBitFormat format = GetParam();
        const Device device;
        const Stream stream(device);
        const std::vector<std::byte> bytes = random_bytes(c_init.size() * length * size_of(format));
        std::vector<std::byte> expected(bytes.size());
        phy::Descrambler{phy::Host()}(c_init, phy::SoftBitView(format, bytes),
                                      phy::SoftBitSpan(format, expected), first);
        const DeviceBuffer<std::uint32_t> numbers = on_device(device, c_init);
        DeviceBuffer<std::byte> in(device, bytes.size() + in_shift);
        DeviceBuffer<std::byte> out(device, bytes.size() + out_shift + 1);
        std::vector<std::byte> result(out.size(), std::byte{0xA5});
        copy_async(in.subspan(in_shift, bytes.size()), bytes, stream);
        copy_async(out, result, stream);
        const phy::gpu::Descrambler descramble(device);
        const phy::gpu::SoftBitSpan llr(format, out.subspan(out_shift, bytes.size()));
        descramble(numbers, phy::gpu::SoftBitSpan(format, in.subspan(in_shift, bytes.size())), llr, stream,
                   first);
        copy_async(result, out, stream);
        stream.synchronize();
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(),
                               result.begin() + static_cast<std::ptrdiff_t>(out_shift)))
            << c_init.size() << " codewords of " << length << " from " << first << ", shifts " << in_shift
            << " and " << out_shift << ", seed " << scrambling_seed;
        ASSERT_EQ(result.back(), std::byte{0xA5});
        descramble(numbers, llr, llr, stream, first);
        copy_async(result, out, stream);
        stream.synchronize();
        std::vector<std::byte> twice(bytes.size());
        phy::Descrambler{phy::Host()}(c_init, phy::SoftBitView(format, bytes),
                                      phy::SoftBitSpan(format, twice), first);
        phy::Descrambler{phy::Host()}(c_init, phy::SoftBitView(format, twice),
                                      phy::SoftBitSpan(format, twice), first);
        ASSERT_TRUE(
            std::equal(twice.begin(), twice.end(), result.begin() + static_cast<std::ptrdiff_t>(out_shift)))
            << "in place, length " << length;
    }
};

TEST_P(GpuDescrambler, ManyCodewords) {
    std::mt19937 random(scrambling_seed);
    std::vector<std::uint32_t> c_init(64);
    for (std::uint32_t& number : c_init)
        number = random_c_init(random);
    expect_descrambled(c_init, 20'480, 0, 0, 0);
    expect_descrambled(c_init, 12'345, 0, 0, 0);
    expect_descrambled(std::span(c_init).first(3), 1'000'000, 123'457, 0, 0);
}

TEST_P(GpuDescrambler, EveryLengthAndAlignment) {
    for (const std::size_t length : {1, 2, 15, 16, 17, 31, 33, 4095, 4096, 4097, 8200})
        for (const std::size_t shift : {0U, 1U, 4U, 8U, 16U})
            expect_descrambled(std::span(some_c_init).last(3), length, 7 * length, shift, (5 * shift) % 17);
}

TEST_P(GpuDescrambler, PipelinesGiveTheSameBytes) {
    const SoftBitFormat format = GetParam();
    constexpr std::size_t items = 50'003;
    constexpr std::size_t of_item = 6;
    constexpr std::uint32_t c_init = 99'999'999;
    const std::vector<std::byte> bytes = random_bytes(items * of_item * size_of(format));
    const std::vector<std::byte> expected =
        expected_descrambled(format, bytes, gold_reference(c_init, items * of_item));
    phy::DescrambleStage stage({.c_init = c_init, .format = format, .soft_bits_of_item = of_item});
    std::vector<phy::Place> places;
    for (const Device& device : Device::all())
        places.emplace_back(device);
    for (const std::size_t chunk : {std::size_t{333}, std::size_t{100'000}}) {
        std::vector<std::byte> out(bytes.size());
        phy::Pipeline pipeline(places, stage, {.chunk = chunk});
        phy::MemorySource source(stage.inputs(), {bytes});
        phy::MemorySink sink(stage.outputs(), {out});
        pipeline.run(source, sink);
        EXPECT_TRUE(out == expected) << "chunks of " << chunk << ", seed " << scrambling_seed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuDescrambler, testing::ValuesIn(phy::all_soft_bit_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(GpuDescramblerTest, GraphsSeeNewNumbers) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    std::vector<std::uint32_t> numbers = {1, 2, 3, 4};
    DeviceBuffer<std::uint32_t> c_init = on_device<std::uint32_t>(device, numbers);
    const std::vector<std::byte> random = random_bytes(40'000);
    std::vector<std::int8_t> scrambled(random.size());
    std::memcpy(scrambled.data(), random.data(), random.size());
    const DeviceBuffer<std::int8_t> in = on_device<std::int8_t>(device, scrambled);
    DeviceBuffer<std::int8_t> out(device, scrambled.size());
    const phy::gpu::Descrambler descramble(device);
    const phy::gpu::Graph graph(device, [&](cudaStream_t on) { descramble(c_init, in, out, on); });
    numbers = {5, 6, 7, 0x7FFFFFFF};
    copy_async(c_init, numbers, stream);
    graph(stream);
    stream.synchronize();
    std::vector<std::int8_t> expected(scrambled.size());
    phy::Descrambler{phy::Host()}(numbers, scrambled, expected);
    EXPECT_TRUE(from_device<std::int8_t>(device, out) == expected);
}

TEST(GpuScramblerTest, AddsTheSequence) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    const DeviceBuffer<std::uint32_t> c_init = on_device<std::uint32_t>(device, some_c_init);
    for (const std::size_t length : {1, 4095, 20'000, 100'001}) {
        const std::vector<std::byte> random = random_bytes(c_init.size() * length);
        std::vector<std::uint8_t> bits(random.size());
        std::memcpy(bits.data(), random.data(), random.size());
        std::vector<std::uint8_t> expected(bits.size());
        phy::Scrambler{phy::Host()}(some_c_init, bits, expected, 17);
        const DeviceBuffer<std::uint8_t> in = on_device<std::uint8_t>(device, bits);
        DeviceBuffer<std::uint8_t> out(device, bits.size());
        phy::gpu::Scrambler{device}(c_init, in, out, stream, 17);
        ASSERT_TRUE(from_device<std::uint8_t>(device, out) == expected) << length;
    }
}

TEST(GpuScramblerTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const Device device;
    const Stream stream(device);
    DeviceBuffer<std::uint32_t> two(device, 2);
    DeviceBuffer<std::int8_t> three(device, 3);
    DeviceBuffer<std::int8_t> four(device, 4);
    DeviceBuffer<float> floats(device, 4);
    DeviceBuffer<std::uint8_t> bits(device, 3);
    DeviceBuffer<std::uint32_t> words(device, 3);
    const phy::gpu::Descrambler descramble(device);
    EXPECT_THROW(descramble(two, three, three, stream), phy::ArgumentError);
    EXPECT_THROW(descramble(two, four, three, stream), phy::ArgumentError);
    EXPECT_THROW(descramble(two, floats, four, stream), phy::ArgumentError);
    EXPECT_THROW(descramble(0x80000000, four, four, stream), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::Scrambler{device}(two, bits, bits, stream), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::gold_sequence(device, two, 0, words, stream), phy::ArgumentError);
}

}  // namespace
