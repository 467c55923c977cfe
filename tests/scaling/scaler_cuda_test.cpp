#include "phy/scaling/scaler_cuda.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/scaling/stage.hpp"
#include "scaling/scaling_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

class GpuSymbolScaler : public testing::TestWithParam<SampleFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// What the GPU makes of the bytes, which lie `shift` bytes behind a multiple of 256, and writes
    /// `out_shift` symbols behind one.
    static std::vector<std::uint32_t> scaled(std::span<const std::byte> stored, const ScalingConfig& config,
                                             std::size_t shift = 0, std::size_t out_shift = 0) {
        const SampleFormat format = GetParam();
        const std::size_t count = stored.size() / size_of(format);
        const phy::gpu::Device device;
        const phy::gpu::Stream stream(device);
        DeviceBuffer<std::byte> in(device, stored.size() + shift);
        DeviceBuffer<cf32> out(device, count + out_shift + 1);
        std::vector<cf32> result(count + out_shift + 1, cf32(7.0F));
        copy_async(in.subspan(shift, stored.size()), stored, stream);
        copy_async(out, result, stream);
        const phy::gpu::SymbolScaler scale(device, config);
        scale({format, in.subspan(shift, stored.size())}, out.subspan(out_shift, count), stream);
        copy_async(result, out, stream);
        stream.synchronize();
        EXPECT_EQ(result.back(), cf32(7.0F));
        if (out_shift > 0) {
            EXPECT_EQ(result.front(), cf32(7.0F));
        }
        return bits_of(std::span(result).subspan(out_shift, count));
    }
};

TEST_P(GpuSymbolScaler, RoundsOnceAsOnACpu) {
    for (const std::size_t count : {std::size_t{40'001}, std::size_t{3'000'000}}) {
        const std::vector<std::byte> stored = stored_symbols(GetParam(), count);
        for (const ScalingConfig& config : scaling_configs) {
            SCOPED_TRACE("gain " + std::to_string(config.gain) + ", seed " + std::to_string(scaling_seed));
            ASSERT_TRUE(scaled(stored, config) == expected_scaled(GetParam(), stored, config));
        }
    }
}

TEST_P(GpuSymbolScaler, EveryLengthAndAlignment) {
    const ScalingConfig config = {.gain = 3.0F};
    for (const std::uint64_t count : fewer_indices(70)) {
        const std::vector<std::byte> stored = stored_symbols(GetParam(), count);
        const std::vector<std::uint32_t> expected = expected_scaled(GetParam(), stored, config);
        for (const std::size_t shift : {0, 1, 2, 4, 8, 16})
            for (const std::size_t out_shift : {0, 1})
                ASSERT_EQ(scaled(stored, config, shift, out_shift), expected)
                    << count << " symbols, shifts " << shift << " and " << out_shift << ", seed "
                    << scaling_seed;
    }
}

TEST_P(GpuSymbolScaler, PipelinesGiveTheSameBytes) {
    const ScalingConfig config = {.gain = 0.3F};
    const std::vector<std::byte> stored = stored_symbols(GetParam(), 100'003);
    const std::vector<std::uint32_t> expected = expected_scaled(GetParam(), stored, config);
    phy::ScaleStage stage({.scaler = config, .input = GetParam()});
    std::vector<phy::Place> places;
    for (const phy::gpu::Device& device : phy::gpu::Device::all())
        places.emplace_back(device);
    for (const std::size_t chunk : {std::size_t{333}, std::size_t{200'000}}) {
        std::vector<cf32> out(100'003);
        phy::Pipeline pipeline(places, stage, {.chunk = chunk});
        phy::MemorySource source(stage.inputs(), {stored});
        phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(out))});
        pipeline.run(source, sink);
        EXPECT_TRUE(bits_of(out) == expected) << "chunks of " << chunk << ", seed " << scaling_seed;
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuSymbolScaler, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(GpuSymbolScalerTest, ScalesWhereSymbolsLie) {
    PHY_NEEDS_GPU();
    const std::vector<std::byte> stored = stored_symbols(SampleFormat::cf32, 300'001);
    const ScalingConfig config = {.gain = 0.7F};
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    std::vector<cf32> symbols(300'001);
    std::memcpy(symbols.data(), stored.data(), stored.size());
    DeviceBuffer<cf32> there(device, symbols.size());
    copy_async(there, symbols, stream);
    phy::gpu::SymbolScaler(device, config)(there, there, stream);
    copy_async(symbols, there, stream);
    stream.synchronize();
    EXPECT_TRUE(bits_of(symbols) == expected_scaled(SampleFormat::cf32, stored, config));
}

TEST(GpuSymbolScalerTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    EXPECT_THROW(phy::gpu::SymbolScaler(device, {.gain = 0.0F}), phy::ArgumentError);
    DeviceBuffer<cf32> three(device, 3);
    DeviceBuffer<cf32> four(device, 4);
    EXPECT_THROW(phy::gpu::SymbolScaler(device, {})(three, four, stream), phy::ArgumentError);
}

}  // namespace
