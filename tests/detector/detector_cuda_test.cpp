#include "phy/detector/detector_cuda.hpp"

#include <gtest/gtest.h>

#include "detector/detector_cases.hpp"
#include "phy/core/error.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::Modulation;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

template <typename T>
DeviceBuffer<T> on_device(const phy::gpu::Device& device, const std::vector<T>& values,
                          const phy::gpu::Stream& stream) {
    DeviceBuffer<T> buffer(device, values.size());
    if (!values.empty()) copy_async(buffer, values, stream);
    return buffer;
}

/// shift: bytes between the beginning of the soft bits' memory and what is written.
std::vector<std::byte> detected_on_gpu(const SoftDetectorConfig& config, const Slots& slots,
                                       SampleFormat samples_format, const std::vector<std::byte>& samples,
                                       SoftBitFormat format, const std::vector<std::uint32_t>& signs,
                                       std::size_t shift) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::SoftDetector detect(device, config);
    const std::size_t bytes = slots.count * detect.soft_bits_per_slot() * size_of(format);
    const auto grid = on_device(device, samples, stream);
    const auto channel = on_device(device, slots.channel, stream);
    const auto estimates = on_device(device, slots.estimates, stream);
    const auto covariance = on_device(device, slots.covariance, stream);
    const auto words = on_device(device, signs, stream);
    DeviceBuffer<float> workspace(device,
                                  detect.workspace_size(slots.count, format, !slots.covariance.empty()));
    DeviceBuffer<std::byte> llr(device, bytes + shift + 1);
    std::vector<std::byte> out(bytes + shift + 1, std::byte{99});
    copy_async(llr, out, stream);
    detect({samples_format, grid.span()}, channel, estimates, {format, llr.subspan(shift, bytes)}, stream,
           words, covariance, workspace);
    copy_async(out, llr, stream);
    stream.synchronize();
    EXPECT_EQ(out.back(), std::byte{99});
    return {out.begin() + static_cast<std::ptrdiff_t>(shift), out.end() - 1};
}

void expect_same_as_host(const SoftDetectorConfig& config, const Slots& slots, SoftBitFormat format,
                         SampleFormat samples_format = SampleFormat::cf32, std::size_t shift = 0) {
    SCOPED_TRACE(name_of(config));
    const std::vector<std::byte> samples = stored(slots.grid, samples_format);
    const std::size_t words = phy::SoftDetector(phy::Host(), config).sign_words_per_slot();
    for (const auto& signs : {std::vector<std::uint32_t>(), random_words(slots.count * words)}) {
        const auto expected = detected_by_parts(config, slots, {samples_format, samples}, format, signs);
        EXPECT_TRUE(detected_on_gpu(config, slots, samples_format, samples, format, signs, shift) == expected)
            << to_string(format) << " from " << to_string(samples_format) << ", shift " << shift
            << (signs.empty() ? "" : ", signs");
    }
}

TEST(GpuSoftDetectorTest, EveryModulationAndShape) {
    PHY_NEEDS_GPU();
    for (const Modulation modulation : phy::all_modulations) {
        for (int layers = 1; layers <= 4; ++layers) {
            for (const int antennas : {layers, 2, 4, 7}) {
                if (antennas < layers) continue;
                for (const std::size_t shift : {0U, 1U}) {
                    const SoftDetectorConfig config = {scattered_config(layers, antennas),
                                                       {.modulation = modulation}};
                    expect_same_as_host(config, slots_to_detect(config.equalizer, 2), SoftBitFormat::int8,
                                        SampleFormat::cf32, shift);
                }
            }
        }
    }
}

TEST(GpuSoftDetectorTest, EveryFormatAndMethod) {
    PHY_NEEDS_GPU();
    for (const SoftBitFormat format : phy::all_soft_bit_formats) {
        for (const SampleFormat samples : phy::all_sample_formats) {
            for (const phy::Method method : {phy::Method::max_log, phy::Method::log_map}) {
                for (const bool with_covariance : {false, true}) {
                    SoftDetectorConfig config = {scattered_config(3, 4),
                                                 {.modulation = Modulation::qam64, .method = method}};
                    if (with_covariance) config.equalizer.method = phy::Equalization::zero_forcing;
                    expect_same_as_host(config, slots_to_detect(config.equalizer, 2, with_covariance), format,
                                        samples);
                    config.equalizer.method = phy::Equalization::mmse;
                    expect_same_as_host(config, slots_to_detect(config.equalizer, 2, with_covariance), format,
                                        samples);
                }
            }
        }
    }
}

/// Soft bits of a slot that fill whole words of signs and that do not, an odd number of symbols, and more
/// slots than a launch takes.
TEST(GpuSoftDetectorTest, ManySlotsWhereKernelsAreNotFused) {
    PHY_NEEDS_GPU();
    for (const Modulation modulation : {Modulation::pi2_bpsk, Modulation::qpsk, Modulation::qam256}) {
        for (const bool odd : {false, true}) {
            for (const std::size_t count : {1U, 64U, 131U}) {
                SoftDetectorConfig config = {plain_config(1, 2, 1),
                                             {.modulation = modulation, .method = phy::Method::log_map}};
                if (odd)
                    config.equalizer.allocation.reserved = {
                        {.symbols = {4}, .resource_blocks = {0, 1}, .subcarriers = {3}}};
                for (const SoftBitFormat format : {SoftBitFormat::int8, SoftBitFormat::float32})
                    expect_same_as_host(config, slots_to_detect(config.equalizer, count), format);
            }
        }
    }
}

TEST(GpuSoftDetectorTest, LargeBatches) {
    PHY_NEEDS_GPU();
    SoftDetectorConfig config = {plain_config(4, 4, 273), {.modulation = Modulation::qam256}};
    expect_same_as_host(config, slots_to_detect(config.equalizer, 20), SoftBitFormat::int8);
    config.equalizer.time_weights = linear_weights();
    expect_same_as_host(config, slots_to_detect(config.equalizer, 3), SoftBitFormat::int8);
}

TEST(GpuSoftDetectorTest, WrongArgumentsThrow) {
    PHY_NEEDS_GPU();
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const SoftDetectorConfig config = {plain_config(2, 2, 1), {.modulation = Modulation::qam16}};
    const phy::gpu::SoftDetector detect(device, config);
    const Dimensions size(config.equalizer);
    const DeviceBuffer<cf32> grid(device, size.grid());
    const DeviceBuffer<float> channel(device, size.channel());
    const DeviceBuffer<SlotEstimate> slots(device, 1);
    const DeviceBuffer<std::uint32_t> signs(device, detect.sign_words_per_slot() + 1);
    DeviceBuffer<std::int8_t> llr(device, detect.soft_bits_per_slot());
    DeviceBuffer<float> numbers(device, detect.soft_bits_per_slot());
    EXPECT_EQ(detect.workspace_size(1, SoftBitFormat::int8), 0U);
    EXPECT_THROW(detect(grid, channel, slots, llr.first(1), stream), phy::ArgumentError);
    EXPECT_THROW(detect(grid, channel, slots, llr, stream, signs), phy::ArgumentError);
    EXPECT_THROW(detect(grid, channel, slots, numbers, stream), phy::ArgumentError);
    EXPECT_THROW(detect(grid, channel.first(1), slots, llr, stream), phy::ArgumentError);
}

}  // namespace
