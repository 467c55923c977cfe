#include <algorithm>
#include <vector>

#include "coding/stage_items.hpp"
#include "phy/coding/uci_demultiplexer.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/device.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

class GpuTransportDecoderStageTest : public TransportDecoderStageTest {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(GpuTransportDecoderStageTest, TheBytesOfAHost) {
    const std::vector<phy::gpu::Device> devices = phy::gpu::Device::all();
    for (int trial = 0; trial < fewer_times(8); ++trial) {
        const DecoderCase decoded = random_case(random_);
        const int version = random_int(random_, 0, 3);
        const DecoderOutputs expected = decoded_by_call(decoded, version);
        for (const std::size_t chunk : {1, 2, 5})
            EXPECT_TRUE(decoded_by_stage(decoded, version, {devices.begin(), devices.end()},
                                         {.chunk = chunk, .buffer_sets = 2}) == expected)
                << text_of(decoded.decoder.block) << ", chunks of " << chunk;
    }
}

TEST_F(GpuTransportDecoderStageTest, SplitsUciAsAHostDoes) {
    for (int trial = 0; trial < fewer_times(40); ++trial) {
        const UciCase sent = random_uci_case(random_);
        const auto expected = outputs_by_calls(sent);
        for (const std::size_t chunk : {1, 2, 5})
            EXPECT_TRUE(outputs_of(sent, {phy::gpu::Device()}, {.chunk = chunk, .buffer_sets = 2}) ==
                        expected);
    }
}

/// More codewords than blocks of threads, and soft bits at any address.
TEST_F(GpuTransportDecoderStageTest, SplitsManyCodewordsAtAnyAddress) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    phy::UciConfig uci = {.ack_bits = 1, .csi1_bits = 3, .csi2_bits = 2, .code_block_bits = 200};
    uci.symbols = {{.elements = 12}, {.elements = 0, .has_dmrs = true}, {.elements = 12}};
    const phy::gpu::UciDemultiplexer split(device, uci);
    const phy::UciDemultiplexer on_host{phy::Host(), uci};
    constexpr std::size_t codewords = 70'000;
    const phy::UciMap& map = split.map();
    std::vector<float> llr(codewords * map.coded_bits());
    for (float& soft_bit : llr)
        soft_bit = static_cast<float>(random_());
    std::vector<float> parts[4];
    std::size_t bytes = 3;
    for (const phy::UciPart part : phy::all_uci_parts) {
        parts[static_cast<std::size_t>(part)].resize(codewords * map.coded_bits(part));
        bytes += 4 * codewords * map.coded_bits(part);
    }
    on_host(llr, {parts[0], parts[1], parts[2], parts[3]});
    phy::gpu::DeviceBuffer<std::byte> in(device, 4 * llr.size() + 1);
    phy::gpu::DeviceBuffer<std::byte> out(device, bytes);
    const auto llr_there = in.subspan(1, 4 * llr.size());
    phy::gpu::copy_async(llr_there, std::as_bytes(std::span(llr)), stream.get());
    phy::gpu::SoftBitSpan there[4];
    phy::gpu::DeviceSpan<std::byte> of_parts[4];
    std::size_t first = 3;
    for (std::size_t part = 0; part < 4; ++part) {
        of_parts[part] = out.subspan(first, 4 * parts[part].size());
        there[part] = {phy::SoftBitFormat::float32, of_parts[part]};
        first += of_parts[part].size();
    }
    split({phy::SoftBitFormat::float32, llr_there}, {there[0], there[1], there[2], there[3]}, stream.get());
    for (std::size_t part = 0; part < 4; ++part) {
        std::vector<std::byte> back(of_parts[part].size());
        phy::gpu::copy_async(back, of_parts[part], stream.get());
        stream.synchronize();
        EXPECT_TRUE(std::ranges::equal(back, std::as_bytes(std::span(parts[part])))) << part;
    }
}

}  // namespace
