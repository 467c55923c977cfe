#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <string>

#include "ofdm/ofdm_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/ofdm/transform_precoder.hpp"
#include "support/gpu.hpp"
#include "support/guarded_output.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::OfdmDemodulatorConfig;
using phy::OfdmSlots;
using phy::OfdmTiming;
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

/// What the GPU makes of samples that lie `shift` bytes behind a multiple of 256, and of a grid whose
/// elements lie 4 bytes behind one where `odd`.
std::vector<cf32> demodulated_on_gpu(const OfdmDemodulatorConfig& config, phy::SymbolView samples,
                                     const OfdmSlots& slots, std::size_t shift = 0, bool odd = false) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::OfdmDemodulator demodulate(device, config);
    const std::size_t elements =
        slots.count * static_cast<std::size_t>(config.ofdm.antennas) * demodulate.timing().slot_elements();
    DeviceBuffer<std::byte> in(device, samples.bytes().size() + shift);
    GuardedOutput grid(device, stream, elements, odd);
    copy_async(in.subspan(shift, samples.bytes().size()), samples.bytes(), stream);
    demodulate({samples.format(), in.subspan(shift, samples.bytes().size())}, slots, grid.span(), stream);
    return grid.read();
}

class GpuOfdmDemodulator : public testing::TestWithParam<SampleFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_P(GpuOfdmDemodulator, TheBytesOfACpu) {
    const SampleFormat format = GetParam();
    for (OfdmDemodulatorConfig config : ofdm_configs()) {
        if (format == SampleFormat::ci8) config.full_scale = 100.0F;
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmSlots slots = {.first = 1'000'003, .count = 5};
        const std::size_t count =
            static_cast<std::size_t>(config.ofdm.antennas) * samples_of(OfdmTiming(config.ofdm), slots);
        const Bytes samples = random_samples(format, count);
        const auto expected = bits_of(demodulated(phy::Host(), config, {format, samples}, slots));
        for (const std::size_t shift : {0U, 1U, 2U, 4U, 8U})
            ASSERT_TRUE(bits_of(demodulated_on_gpu(config, {format, samples}, slots, shift)) == expected)
                << "shift " << shift;
        ASSERT_TRUE(bits_of(demodulated_on_gpu(config, {format, samples}, slots, 0, true)) == expected);
    }
}

TEST_P(GpuOfdmDemodulator, CallsGiveTheBytesOfOneCall) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmTiming timing(config.ofdm);
        const OfdmSlots all = {.first = 6, .count = 4};
        const std::size_t stride = samples_of(timing, all) + 3;
        const Bytes bytes = random_samples(format, static_cast<std::size_t>(config.ofdm.antennas) * stride);
        const phy::SymbolView samples(format, bytes);
        const auto expected = bits_of(demodulated(
            phy::Host(), config, samples, {.first = all.first, .count = all.count, .stride = stride}));
        std::vector<cf32> grid;
        for (std::uint64_t slot = all.first; slot < all.first + all.count; ++slot) {
            const std::size_t first = timing.slot_start(slot) - timing.slot_start(all.first);
            const auto rows = demodulated_on_gpu(config, samples.subspan(first, samples.size() - first),
                                                 {.first = slot, .count = 1, .stride = stride});
            grid.insert(grid.end(), rows.begin(), rows.end());
        }
        EXPECT_TRUE(bits_of(grid) == expected);
    }
}

TEST_P(GpuOfdmDemodulator, SlotsApart) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmSlots apart = strided_slots(config.ofdm);
        const Bytes samples = random_samples(format, apart.count * *apart.slot_stride);
        EXPECT_TRUE(bits_of(demodulated_on_gpu(config, {format, samples}, apart)) ==
                    bits_of(demodulated(phy::Host(), config, {format, samples}, apart)));
    }
}

TEST_P(GpuOfdmDemodulator, SymbolsThatAreNotAskedForStayAsTheyAre) {
    const SampleFormat format = GetParam();
    for (const OfdmDemodulatorConfig& config : ofdm_configs()) {
        SCOPED_TRACE(name_of(config.ofdm));
        OfdmSlots slots = strided_slots(config.ofdm);
        const Bytes samples = random_samples(format, slots.count * *slots.slot_stride);
        const std::vector<cf32> whole = demodulated(phy::Host(), config, {format, samples}, slots);
        for (const std::uint32_t symbols : {0U, 1U, 1U << 2 | 1U << 11, 0x3FF0U, ~0U}) {
            slots.symbols = symbols;
            EXPECT_TRUE(bits_of(demodulated_on_gpu(config, {format, samples}, slots)) ==
                        bits_of(with_symbols(whole, OfdmTiming(config.ofdm), symbols,
                                             {GuardedOutput::filler, GuardedOutput::filler})))
                << symbols;
        }
    }
}

/// Their kernel has a block for one transform or two: the last of an odd number leaves half of one empty.
TEST_P(GpuOfdmDemodulator, PowersOfTwo) {
    const SampleFormat format = GetParam();
    for (const std::size_t size : {512U, 1024U, 2048U, 4096U}) {
        const OfdmDemodulatorConfig config = {
            .ofdm = {.resource_blocks = std::min(275, static_cast<int>(size / 12)),
                     .sample_rate = 30000.0 * static_cast<double>(size),
                     .center_frequency = 3.5e9,
                     .frequency_shift = -1234.5,
                     .antennas = 3},
            .window_offset = 7,
            .full_scale = format == SampleFormat::ci8 ? phy::FullScale(100.0F) : phy::FullScale()};
        SCOPED_TRACE(name_of(config.ofdm));
        const OfdmTiming timing(config.ofdm);
        OfdmSlots slots = {.first = 1'000'003};
        const Bytes samples = random_samples(format, 3 * samples_of(timing, slots));
        const std::vector<cf32> whole = demodulated(phy::Host(), config, {format, samples}, slots);
        slots.symbols = 0x1FFF;
        const auto expected = bits_of(
            with_symbols(whole, timing, slots.symbols, {GuardedOutput::filler, GuardedOutput::filler}));
        for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, size_of(format)})
            EXPECT_TRUE(bits_of(demodulated_on_gpu(config, {format, samples}, slots, shift)) == expected)
                << "shift " << shift;
        EXPECT_TRUE(bits_of(demodulated_on_gpu(config, {format, samples}, slots, 0, true)) == expected);
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuOfdmDemodulator, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

TEST(GpuOfdmDemodulatorTest, EverySize) {
    PHY_NEEDS_GPU();
    for (const std::size_t size : fft_sizes()) {
        const OfdmDemodulatorConfig config = {
            .ofdm = {.resource_blocks = std::min(275, static_cast<int>(size / 12)),
                     .subcarrier_spacing = 15000.0,
                     .sample_rate = 15000.0 * static_cast<double>(size),
                     .center_frequency = 9.0e8,
                     .antennas = 3}};
        SCOPED_TRACE(name_of(config.ofdm));
        const std::vector<cf32> samples = random_numbers(3 * OfdmTiming(config.ofdm).slot_samples(0));
        EXPECT_TRUE(bits_of(demodulated_on_gpu(config, samples, {})) ==
                    bits_of(demodulated(phy::Host(), config, samples, {})));
    }
}

TEST(GpuOfdmDemodulatorTest, WhatIsNotFiniteIsTheSameNan) {
    PHY_NEEDS_GPU();
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (const double size : {256.0, 512.0}) {
        const OfdmDemodulatorConfig config = {
            .ofdm = {.resource_blocks = 20, .sample_rate = size * 30000.0, .antennas = 2}};
        std::vector<cf32> samples = random_numbers(2 * OfdmTiming(config.ofdm).slot_samples(0));
        const cf32 bad[] = {
            {std::numeric_limits<float>::quiet_NaN(), 0.0F}, {0.0F, -infinity}, {3e38F, -3e38F}};
        for (std::size_t i = 1000; i < samples.size(); i += 1000)
            samples[i] = bad[i / 1000 % 3];
        EXPECT_TRUE(bits_of(demodulated_on_gpu(config, samples, {})) ==
                    bits_of(demodulated(phy::Host(), config, samples, {})));
    }
}

TEST(GpuOfdmDemodulatorTest, InAGraph) {
    PHY_NEEDS_GPU();
    const OfdmDemodulatorConfig config = {.ofdm = {.resource_blocks = 273,
                                                   .sample_rate = 4096 * 30000.0,
                                                   .center_frequency = 3.5e9,
                                                   .frequency_shift = -1234.0,
                                                   .antennas = 4}};
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::OfdmDemodulator demodulate(device, config);
    const OfdmSlots slots = {.first = 17, .count = 2};
    const std::vector<cf32> samples = random_numbers(4 * samples_of(demodulate.timing(), slots));
    DeviceBuffer<cf32> in(device, samples.size());
    DeviceBuffer<cf32> out(device, 8 * demodulate.timing().slot_elements());
    copy_async(in, samples, stream);
    stream.synchronize();
    const phy::gpu::Graph graph(device, [&](cudaStream_t on) { demodulate(in, slots, out, on); });
    fill_async(out, 0xFF, stream);
    graph(stream);
    std::vector<cf32> grid(out.size());
    copy_async(grid, out, stream);
    stream.synchronize();
    EXPECT_TRUE(bits_of(grid) == bits_of(demodulated(phy::Host(), config, samples, slots)));
}

TEST(GpuOfdmDemodulatorTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    EXPECT_THROW(phy::gpu::OfdmDemodulator(device, {}), phy::ArgumentError);
    const OfdmDemodulatorConfig config = {.ofdm = {.resource_blocks = 20, .sample_rate = 256 * 30000.0}};
    const phy::gpu::OfdmDemodulator demodulate(device, config);
    DeviceBuffer<cf32> samples(device, demodulate.timing().slot_samples(0));
    DeviceBuffer<cf32> grid(device, demodulate.timing().slot_elements());
    EXPECT_THROW(demodulate(samples, {.count = 2}, grid, stream), phy::ArgumentError);
    EXPECT_THROW(demodulate(samples, {}, grid.subspan(1, grid.size() - 1), stream), phy::ArgumentError);
    EXPECT_THROW(demodulate(samples.subspan(1, samples.size() - 1), {}, grid, stream), phy::ArgumentError);
    EXPECT_NO_THROW(demodulate(samples.first(0), {.count = 0}, grid.first(0), stream));
}

std::vector<cf32> precoded_on_gpu(const phy::TransformPrecoderConfig& config, std::span<const cf32> in,
                                  bool in_place) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::TransformPrecoder precode(device, config);
    DeviceBuffer<cf32> there(device, in.size());
    DeviceBuffer<cf32> out(device, in.size());
    std::vector<cf32> result(in.size());
    copy_async(there, in, stream);
    if (in_place)
        precode(there, there, stream);
    else
        precode(there, out, stream);
    copy_async(result, in_place ? there : out, stream);
    stream.synchronize();
    return result;
}

TEST(GpuTransformPrecoderTest, TheBytesOfACpu) {
    PHY_NEEDS_GPU();
    for (const std::uint64_t i : fewer_indices(270)) {
        const phy::TransformPrecoderConfig config = {
            .subcarriers = 12 * (static_cast<int>(i) + 1),
            .direction = static_cast<phy::TransformPrecoderConfig::Direction>(i % 2)};
        const auto size = static_cast<std::size_t>(config.subcarriers);
        if (!phy::detail::has_small_factors(size)) continue;
        for (const std::size_t symbols : {1U, 14U, 100U}) {
            const std::vector<cf32> in = random_numbers(symbols * size);
            std::vector<cf32> expected(in.size());
            phy::TransformPrecoder(phy::Host(), config)(in, expected);
            EXPECT_TRUE(bits_of(precoded_on_gpu(config, in, symbols == 14)) == bits_of(expected))
                << size << " subcarriers, " << symbols << " symbols, seed " << ofdm_seed;
        }
    }
}

TEST(GpuTransformPrecoderTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    EXPECT_THROW(phy::gpu::TransformPrecoder(device, {.subcarriers = 84}), phy::ArgumentError);
    const phy::gpu::TransformPrecoder precode(device, {.subcarriers = 12});
    DeviceBuffer<cf32> numbers(device, 24);
    EXPECT_THROW(precode(numbers, numbers.first(12), stream), phy::ArgumentError);
    EXPECT_THROW(precode(numbers.first(13), numbers.first(13), stream), phy::ArgumentError);
    EXPECT_NO_THROW(precode(numbers.first(0), numbers.first(0), stream));
}

TEST(GpuTransformDeprecoderTest, TheBytesOfACpu) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    for (const int subcarriers : {12, 36, 300, 3240}) {
        for (const bool mmse : {true, false}) {
            const std::size_t count = std::size_t{14} * static_cast<std::size_t>(subcarriers);
            std::vector<cf32> symbols = random_numbers(count);
            std::vector<float> noise(count);
            for (std::size_t i = 0; i < count; ++i)
                noise[i] =
                    i % 7 == 3 ? std::numeric_limits<float>::infinity() : std::norm(symbols[(i * 5) % count]);
            for (std::size_t i = 3; i < count; i += 7)
                symbols[i] = {};
            DeviceBuffer<cf32> symbols_there(device, count);
            DeviceBuffer<float> noise_there(device, count);
            copy_async(symbols_there, symbols, stream);
            copy_async(noise_there, noise, stream);
            const phy::TransformDeprecoderConfig config = {.subcarriers = subcarriers, .mmse = mmse};
            phy::gpu::TransformDeprecoder(device, config)(symbols_there, noise_there, stream);
            std::vector<cf32> symbols_back(count);
            std::vector<float> noise_back(count);
            copy_async(symbols_back, symbols_there, stream);
            copy_async(noise_back, noise_there, stream);
            stream.synchronize();
            phy::TransformDeprecoder(phy::Host(), config)(symbols, noise);
            EXPECT_TRUE(bits_of(symbols_back) == bits_of(symbols)) << subcarriers << ", seed " << ofdm_seed;
            EXPECT_EQ(noise_back, noise) << subcarriers << ", seed " << ofdm_seed;
        }
    }
}

}  // namespace
