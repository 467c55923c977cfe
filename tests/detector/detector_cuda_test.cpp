#include <gtest/gtest.h>

#include "detector/detector_cases.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/scrambling/gold_sequence.hpp"
#include "support/gpu.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::SoftBitFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

/// shift: bytes between the beginning of the memory and the soft bits.
Bytes detect_on_gpu(const phy::JointDetectorConfig& config, const std::vector<LayerPair>& pairs,
                    SoftBitFormat format, const std::vector<std::uint32_t>& signs, std::size_t shift,
                    const std::vector<std::int8_t>& priors = {}) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::JointDetector detector(device, config);
    Bytes llr(2 * pairs.size() * bits_per_symbol(config.modulation) * size_of(format));
    DeviceBuffer<LayerPair> on_device(device, pairs.size());
    DeviceBuffer<std::uint32_t> of_signs(device, signs.size());
    DeviceBuffer<std::byte> out(device, llr.size() + shift);
    copy_async(on_device, pairs, stream);
    DeviceBuffer<std::int8_t> of_priors(device, priors.size());
    if (!signs.empty()) copy_async(of_signs, signs, stream);
    if (!priors.empty()) copy_async(of_priors, priors, stream);
    detector(on_device, {format, out.subspan(shift, llr.size())}, stream, of_signs, of_priors);
    copy_async(llr, out.subspan(shift, llr.size()), stream);
    stream.synchronize();
    return llr;
}

TEST(GpuJointDetector, WritesTheBytesOfTheHost) {
    PHY_NEEDS_GPU();
    const unsigned seed = random_seed();
    for (const phy::Modulation modulation : two_layer_modulations) {
        const std::vector<LayerPair> pairs = awkward_pairs(modulation, 20'011, seed);
        for (const std::size_t count : {1U, 15U, 16U, 17U, 64U}) {
            const std::vector<LayerPair> few(pairs.begin(),
                                             pairs.begin() + static_cast<std::ptrdiff_t>(count));
            const std::vector<std::uint32_t> ones((2 * count * bits_per_symbol(modulation) + 31) / 32,
                                                  0xF0F0F0F0U);
            for (const SoftBitFormat format : phy::all_soft_bit_formats)
                EXPECT_TRUE(detect_on_gpu({.modulation = modulation}, few, format, ones, 1) ==
                            detect(phy::Host(), {.modulation = modulation}, few, format, ones))
                    << to_string(modulation) << ", " << count << " pairs";
        }
        std::vector<std::uint32_t> signs((2 * pairs.size() * bits_per_symbol(modulation) + 31) / 32);
        phy::gold_sequence(4711, 0, signs);
        const phy::JointDetectorConfig config = {.modulation = modulation};
        for (const SoftBitFormat format : phy::all_soft_bit_formats) {
            SCOPED_TRACE(std::string(to_string(modulation)) + ", " + std::string(to_string(format)));
            const Bytes plain = detect(phy::Host(), config, pairs, format);
            EXPECT_TRUE(detect_on_gpu(config, pairs, format, {}, 0) == plain);
            EXPECT_TRUE(detect_on_gpu(config, pairs, format, {}, 1) == plain);
            EXPECT_TRUE(detect_on_gpu(config, pairs, format, signs, 0) ==
                        detect(phy::Host(), config, pairs, format, signs));
            const std::vector<std::int8_t> priors =
                random_priors(2 * pairs.size() * bits_per_symbol(modulation), seed);
            for (const std::vector<std::uint32_t>& scrambling : {std::vector<std::uint32_t>(), signs})
                EXPECT_TRUE(detect_on_gpu(config, pairs, format, scrambling, 1, priors) ==
                            detect(phy::Host(), config, pairs, format, scrambling, priors));
        }
    }
}

}  // namespace
