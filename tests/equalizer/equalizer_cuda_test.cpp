#include "phy/equalizer/equalizer.hpp"

#include <gtest/gtest.h>

#include "equalizer/equalizer_cases.hpp"
#include "phy/core/error.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

template <typename T>
DeviceBuffer<T> on_device(const phy::gpu::Device& device, const std::vector<T>& values,
                          const phy::gpu::Stream& stream) {
    DeviceBuffer<T> buffer(device, values.size());
    if (!values.empty()) copy_async(buffer, values, stream);
    return buffer;
}

/// shift: elements between the beginning of the outputs' memory and what is written.
Equalized equalize_on_gpu(const EqualizerConfig& config, const Slots& slots, SampleFormat format,
                          const std::vector<std::byte>& samples, std::size_t shift = 0) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::Equalizer equalizer(device, config);
    const std::size_t count = slots.count * equalizer.symbols_per_slot();
    const auto grid = on_device(device, samples, stream);
    const auto channel = on_device(device, slots.channel, stream);
    const auto estimates = on_device(device, slots.estimates, stream);
    const auto covariance = on_device(device, slots.covariance, stream);
    DeviceBuffer<std::byte> workspace(device,
                                      slots.covariance.empty() ? 0 : equalizer.workspace_bytes(slots.count));
    DeviceBuffer<cf32> symbols(device, count + shift + 1);
    DeviceBuffer<float> noise(device, count + shift + 1);
    Equalized out{std::vector<cf32>(count + shift + 1, cf32(7.0F)),
                  std::vector<float>(count + shift + 1, 7.0F)};
    copy_async(symbols, out.symbols, stream);
    copy_async(noise, out.noise, stream);
    std::vector<phy::LayerPair> of_elements(
        config.pairs ? slots.count * equalizer.elements_per_slot() : 0,
        phy::LayerPair{.matched = {}, .power = {-7.0F, -7.0F}, .cross = {}});
    auto pairs = on_device(device, of_elements, stream);
    equalizer({format, grid.span()}, channel, estimates, symbols.subspan(shift, count),
              noise.subspan(shift, count), stream, covariance, workspace, pairs);
    if (config.pairs) copy_async(of_elements, pairs, stream);
    copy_async(out.symbols, symbols, stream);
    copy_async(out.noise, noise, stream);
    stream.synchronize();
    EXPECT_EQ(out.symbols.back(), cf32(7.0F));
    EXPECT_EQ(out.noise.back(), 7.0F);
    const auto begin = static_cast<std::ptrdiff_t>(shift);
    return {{out.symbols.begin() + begin, out.symbols.end() - 1},
            {out.noise.begin() + begin, out.noise.end() - 1},
            of_elements};
}

void expect_same_as_host(const EqualizerConfig& config, const Slots& slots,
                         SampleFormat format = SampleFormat::cf32, std::size_t shift = 0) {
    const std::vector<std::byte> samples = stored(slots.grid, format);
    const Equalized expected = equalize(phy::Host(), config, slots, {format, samples});
    EXPECT_TRUE(equalize_on_gpu(config, slots, format, samples, shift) == expected)
        << to_string(format) << ", shift " << shift << ", seed " << equalizer_seed;
}

TEST(GpuEqualizerTest, EveryPairOfLayersAndAntennas) {
    PHY_NEEDS_GPU();
    for (int layers = 1; layers <= 4; ++layers) {
        for (int antennas = layers; antennas <= 16; ++antennas) {
            for (const auto method : {phy::Equalization::mmse, phy::Equalization::zero_forcing}) {
                for (const bool linear : {false, true}) {
                    SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) + ", method " +
                                 std::to_string(static_cast<int>(method)) + (linear ? ", linear" : ""));
                    EqualizerConfig config = plain_config(layers, antennas, 2);
                    config.method = method;
                    if (linear) config.time_weights = linear_weights();
                    expect_same_as_host(config, random_slots(config, 2, equalizer_seed));
                }
            }
        }
    }
}

TEST(GpuEqualizerTest, ScatteredAllocationsInEveryFormat) {
    PHY_NEEDS_GPU();
    for (int layers = 1; layers <= 4; ++layers) {
        for (const int antennas : {layers, 4, 5}) {
            for (const Covariance covariance : all_covariances) {
                SCOPED_TRACE(std::to_string(layers) + "x" + std::to_string(antennas) + ", covariance " +
                             std::to_string(static_cast<int>(covariance)));
                const EqualizerConfig config = scattered_config(layers, antennas);
                const Slots slots = random_slots(config, 3, equalizer_seed, covariance);
                for (const SampleFormat format : phy::all_sample_formats)
                    expect_same_as_host(config, slots, format);
                expect_same_as_host(config, slots, SampleFormat::cf32, 1);
            }
        }
    }
}

TEST(GpuEqualizerTest, PairsInEveryFormat) {
    PHY_NEEDS_GPU();
    for (const int antennas : {2, 3, 4, 8}) {
        for (const Covariance covariance : all_covariances) {
            SCOPED_TRACE(std::to_string(antennas) + " antennas, covariance " +
                         std::to_string(static_cast<int>(covariance)));
            EqualizerConfig config = scattered_config(2, antennas);
            config.pairs = true;
            const Slots slots = random_slots(config, 3, equalizer_seed, covariance);
            for (const SampleFormat format : phy::all_sample_formats)
                expect_same_as_host(config, slots, format);
        }
    }
}

TEST(GpuEqualizerTest, LargeBatches) {
    PHY_NEEDS_GPU();
    EqualizerConfig config = plain_config(4, 4, 273);
    expect_same_as_host(config, random_slots(config, 20, equalizer_seed));
    config.time_weights = linear_weights();
    expect_same_as_host(config, random_slots(config, 5, equalizer_seed));
}

TEST(GpuEqualizerTest, ErasesAsAHostDoes) {
    PHY_NEEDS_GPU();
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (int layers = 1; layers <= 4; ++layers) {
        for (const bool linear : {false, true}) {
            EqualizerConfig config = plain_config(layers, 4, 6);
            if (linear) config.time_weights = linear_weights();
            Slots slots = random_slots(config, 6, equalizer_seed);
            slots.estimates[4].time_set = 1;
            slots.estimates[5].time_set = -1;
            const float bad[] = {0.0F, nan, infinity, -infinity, 3e38F, 1e-42F, 1e-20F, 1e18F};
            for (std::size_t i = 0; i < slots.channel.size(); i += 7)
                slots.channel[i] = bad[i / 7 % std::size(bad)];
            for (std::size_t i = 0; i < slots.grid.size(); i += 11)
                slots.grid[i] = {1.0F, bad[i / 11 % std::size(bad)]};
            slots.estimates[1].noise_variance = nan;
            slots.estimates[2].phase[3] = {nan, 0.0F};
            slots.estimates[3].noise_variance = 1e-45F;
            slots.estimates[3].channel_error = 0.0F;
            config.pairs = layers == 2;
            SCOPED_TRACE(std::to_string(layers) + " layers");
            expect_same_as_host(config, slots);
        }
    }
}

TEST(GpuEqualizerTest, RunsInAGraph) {
    PHY_NEEDS_GPU();
    const EqualizerConfig config = plain_config(2, 4, 25);
    const Slots slots = random_slots(config, 1, equalizer_seed);
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::Equalizer equalizer(device, config);
    const auto grid = on_device(device, slots.grid, stream);
    const auto channel = on_device(device, slots.channel, stream);
    const auto estimates = on_device(device, slots.estimates, stream);
    DeviceBuffer<cf32> symbols(device, equalizer.symbols_per_slot());
    DeviceBuffer<float> noise(device, equalizer.symbols_per_slot());
    stream.synchronize();
    const phy::gpu::Graph graph(device, [&](cudaStream_t captured) {
        equalizer(grid, channel, estimates, symbols, noise, captured);
    });
    graph(stream);
    Equalized out{std::vector<cf32>(symbols.size()), std::vector<float>(noise.size())};
    copy_async(out.symbols, symbols, stream);
    copy_async(out.noise, noise, stream);
    stream.synchronize();
    EXPECT_TRUE(out == equalize(phy::Host(), config, slots, slots.grid));
}

TEST(GpuEqualizerTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    EqualizerConfig config = plain_config(2, 4, 1);
    const phy::gpu::Equalizer equalizer(device, config);
    const Dimensions size(config);
    const DeviceBuffer<cf32> grid(device, size.grid() + 1);
    const DeviceBuffer<float> channel(device, size.channel());
    const DeviceBuffer<SlotEstimate> slots(device, 1);
    DeviceBuffer<cf32> symbols(device, equalizer.symbols_per_slot());
    DeviceBuffer<float> noise(device, equalizer.symbols_per_slot());
    const DeviceBuffer<cf32> covariance(device, 16);
    EXPECT_THROW(equalizer(grid, channel, slots, symbols, noise, stream), phy::ArgumentError);
    const auto fits = grid.first(size.grid());
    EXPECT_THROW(equalizer(fits, channel, slots, symbols, noise.first(1), stream), phy::ArgumentError);
    EXPECT_THROW(equalizer(fits, channel, slots, symbols, noise, stream, covariance), phy::ArgumentError);
    const auto bytes = as_bytes(grid.span()).subspan(4, size.grid() * sizeof(cf32));
    EXPECT_THROW(equalizer({SampleFormat::cf32, bytes}, channel, slots, symbols, noise, stream),
                 phy::ArgumentError);
    config.antennas = 1;
    EXPECT_THROW(phy::gpu::Equalizer(device, config), phy::ArgumentError);
}

}  // namespace
