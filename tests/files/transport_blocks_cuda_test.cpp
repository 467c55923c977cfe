#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/gpu.hpp"
#include "support/random_allocation.hpp"
#include "support/random_seed.hpp"
#include "transport_blocks.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

TEST_F(TransportBlocks, GpuGivesTheBytesOfAHost) {
    PHY_NEEDS_GPU();
    phy::apps::Recording::Config config = coded_recording();
    config.snr_db = 14.0;
    const AirCapture capture(config);
    phy::ReceiveOptions options;
    options.writes_payload = true;
    options.places = {phy::Host()};
    const phy::Reception on_host = received(capture, config.link, options);
    const std::vector<std::byte> payload = written("/transport_blocks");
    options.places = {phy::gpu::Device()};
    options.pipeline.chunk = 3;
    const phy::Reception there = received(capture, config.link, options);
    EXPECT_TRUE(there.transport_blocks == on_host.transport_blocks);
    EXPECT_TRUE(written("/transport_blocks") == payload);
}

TEST_F(TransportBlocks, GpuIteratesAsAHostDoes) {
    PHY_NEEDS_GPU();
    const auto seed = random_seed();
    std::mt19937 random(seed);
    std::uint64_t repeats = 0;
    for (int trial = 0; trial < 10; ++trial) {
        SCOPED_TRACE("trial " + std::to_string(trial) + ", seed " + std::to_string(seed));
        const AirCapture capture(two_layers(random));
        phy::ReceiveOptions options;
        options.writes_payload = true;
        options.format = phy::all_soft_bit_formats[random() % phy::all_soft_bit_formats.size()];
        options.iterations = random_int(random, 1, 4);
        options.places = {phy::Host()};
        const phy::Reception on_host = received(capture, capture.sent.link, options);
        const std::vector<std::byte> payload = written("/transport_blocks");
        const std::vector<std::byte> llr = written("/llr");
        options.places = {phy::gpu::Device()};
        options.pipeline.chunk = random() % 5;
        const phy::Reception there = received(capture, capture.sent.link, options);
        EXPECT_TRUE(there.transport_blocks == on_host.transport_blocks);
        EXPECT_TRUE(written("/transport_blocks") == payload);
        EXPECT_TRUE(written("/llr") == llr);
        for (const phy::DecodedBlock& block : there.transport_blocks)
            repeats += block.repeats;
    }
    EXPECT_GT(repeats, 0U) << "seed " << seed;
}

TEST_F(TransportBlocks, GpuTakesPrecodedPtrsAsAHostDoes) {
    PHY_NEEDS_GPU();
    const auto seed = random_seed();
    std::mt19937 random(seed);
    int compared = 0;
    for (int trial = 0; trial < 12; ++trial) {
        phy::apps::Recording::Config config = precoded_recording(random, 15.0);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", trial " + std::to_string(trial) + ": " +
                     to_json(config.link));
        const AirCapture capture(config);
        phy::ReceiveOptions options;
        options.writes_symbols = true;
        options.places = {phy::Host()};
        const auto on_host = received_if_found(capture, config.link);
        if (!on_host) continue;
        received(capture, config.link, options);
        const std::vector<std::byte> llr = written("/llr");
        const std::vector<std::byte> symbols = written("/symbols");
        options.places = {phy::gpu::Device()};
        options.pipeline.chunk = random() % 4;
        received(capture, config.link, options);
        EXPECT_TRUE(written("/llr") == llr);
        EXPECT_TRUE(written("/symbols") == symbols);
        ++compared;
    }
    EXPECT_GT(compared, 6) << "seed " << seed;
}

TEST_F(TransportBlocks, GpuSplitsUciAsAHostDoes) {
    PHY_NEEDS_GPU();
    phy::apps::Recording::Config config = uci_recording();
    config.snr_db = 12.0;
    const AirCapture capture(config);
    for (const phy::SoftBitFormat format : phy::all_soft_bit_formats) {
        phy::ReceiveOptions options;
        options.format = format;
        options.writes_uci = options.writes_payload = options.writes_channel = true;
        options.places = {phy::Host()};
        const phy::Reception on_host = received(capture, config.link, options);
        std::vector<std::vector<std::byte>> datasets;
        const std::vector<std::string> all = {"/transport_blocks", "/uci_ack",        "/uci_ack_llr",
                                              "/uci_ack_margin",   "/uci_csi1",       "/uci_csi1_llr",
                                              "/uci_csi2_llr",     "/uci_csi1_margin"};
        for (const std::string& name : all)
            datasets.push_back(written(name));
        options.places = {phy::gpu::Device()};
        options.pipeline.chunk = 3;
        const phy::Reception there = received(capture, config.link, options);
        EXPECT_TRUE(there.uci == on_host.uci);
        EXPECT_TRUE(there.transport_blocks == on_host.transport_blocks);
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_TRUE(written(all[i]) == datasets[i]) << all[i];
    }
}

}  // namespace
