#include "phy/compression/block_float.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compression/block_float_cases.hpp"
#include "phy/compression/stage.hpp"
#include "phy/core/error.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::BlockFloatConfig;
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

class GpuBlockFloat : public testing::TestWithParam<SampleFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// What the GPU makes of the bytes, which lie `shift` bytes behind a multiple of 256, and writes
    /// `out_shift` elements behind one; nothing else is written.
    static Bytes elements_of(const BlockFloatConfig& config, std::span<const std::byte> compressed,
                             std::size_t shift = 0, std::size_t out_shift = 0) {
        const std::size_t size = size_of(GetParam());
        const std::size_t count = 12 * (compressed.size() / bytes_per_block(config));
        const phy::gpu::Device device;
        const phy::gpu::Stream stream(device);
        DeviceBuffer<std::byte> in(device, compressed.size() + shift + 1);
        DeviceBuffer<std::byte> out(device, (count + out_shift + 1) * size);
        Bytes result((count + out_shift + 1) * size, std::byte{0x5A});
        copy_async(in.subspan(shift, compressed.size()), compressed, stream);
        copy_async(out, result, stream);
        const phy::gpu::BlockFloatDecompressor decompress(device, config);
        decompress(in.subspan(shift, compressed.size()),
                   {GetParam(), out.subspan(out_shift * size, count * size)}, stream);
        copy_async(result, out, stream);
        stream.synchronize();
        for (std::size_t i = 0; i < size; ++i) {
            EXPECT_EQ(result[result.size() - 1 - i], std::byte{0x5A});
            if (out_shift != 0) {
                EXPECT_EQ(result[i], std::byte{0x5A});
            }
        }
        const auto first = result.begin() + static_cast<std::ptrdiff_t>(out_shift * size);
        return {first, first + static_cast<std::ptrdiff_t>(count * size)};
    }
};

TEST_P(GpuBlockFloat, GivesTheBytesOfACpu) {
    for (const BlockFloatConfig& config : fewer_cases(compression_configs())) {
        SCOPED_TRACE(text_of(config));
        const Bytes compressed = any_blocks(config, 10'003);
        ASSERT_TRUE(elements_of(config, compressed) == expected_elements(config, compressed, GetParam()));
    }
}

TEST_P(GpuBlockFloat, EveryLengthAndAlignment) {
    for (const int width : {9, 14, 16}) {
        const BlockFloatConfig config = {.width = width};
        SCOPED_TRACE(text_of(config));
        for (const std::uint64_t blocks : fewer_indices(130)) {
            const Bytes compressed = any_blocks(config, blocks);
            const Bytes expected = expected_elements(config, compressed, GetParam());
            for (const std::size_t shift : {0U, 1U, 3U, 8U, 16U}) {
                for (const std::size_t out_shift : {0U, 1U})
                    ASSERT_TRUE(elements_of(config, compressed, shift, out_shift) == expected)
                        << blocks << " blocks, shifts " << shift << " and " << out_shift;
            }
        }
    }
}

TEST_P(GpuBlockFloat, PipelinesGiveTheSameBytes) {
    const BlockFloatConfig config = {.width = 9};
    const Bytes compressed = any_blocks(config, 20'011);
    const Bytes expected = expected_elements(config, compressed, GetParam());
    phy::DecompressStage stage({.compression = config, .output = GetParam()});
    std::vector<phy::Place> places;
    for (const phy::gpu::Device& device : phy::gpu::Device::all())
        places.emplace_back(device);
    for (const std::size_t chunk : {std::size_t{273}, std::size_t{50'000}}) {
        Bytes elements(expected.size());
        phy::Pipeline pipeline(places, stage, {.chunk = chunk});
        phy::MemorySource source(stage.inputs(), {compressed});
        phy::MemorySink sink(stage.outputs(), {elements});
        pipeline.run(source, sink);
        EXPECT_TRUE(elements == expected) << "chunks of " << chunk << ", " << text_of(config);
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuBlockFloat, testing::Values(SampleFormat::ci16, SampleFormat::cf32),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(GpuBlockFloatTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    EXPECT_THROW(phy::gpu::BlockFloatDecompressor(device, {.width = 17}), phy::ArgumentError);
    const phy::gpu::BlockFloatDecompressor decompress(device, {.width = 9});
    DeviceBuffer<std::byte> bytes(device, 28);
    DeviceBuffer<phy::ci16> elements(device, 12);
    DeviceBuffer<phy::ci16> more(device, 13);
    DeviceBuffer<phy::cf16> halves(device, 12);
    decompress(bytes.span(), elements, stream);
    stream.synchronize();
    EXPECT_THROW(decompress(bytes.subspan(0, 27), elements, stream), phy::ArgumentError);
    EXPECT_THROW(decompress(bytes.span(), more, stream), phy::ArgumentError);
    EXPECT_THROW(decompress(bytes.span(), halves, stream), phy::ArgumentError);
}

}  // namespace
