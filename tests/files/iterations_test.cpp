// Iterations of detection and decoding over recordings: blocks that fail without them hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "support/fewer_cases.hpp"
#include "support/random_allocation.hpp"
#include "support/random_seed.hpp"
#include "transport_blocks.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

class Iterations : public TransportBlocks {
protected:
    /// A block that holds without iterations is left as it is; those that hold are what was sent.
    void expect_no_block_lost(const phy::Reception& plain, const phy::Reception& done,
                              const AirCapture& capture) {
        const std::vector<std::byte> payload = written("/transport_blocks");
        const auto sent = std::as_bytes(std::span(capture.transport_blocks));
        const std::size_t bytes = payload.size() / done.slots;
        for (std::size_t i = 0; i < done.slots; ++i) {
            const phy::DecodedBlock& block = done.transport_blocks[i];
            if (plain.transport_blocks[i].crc == 1) {
                EXPECT_TRUE(block == plain.transport_blocks[i]);
            }
            if (block.crc == 1) {
                EXPECT_TRUE(std::ranges::equal(std::span(payload).subspan(i * bytes, bytes),
                                               sent.subspan(i * bytes, bytes)));
                EXPECT_LE(block.repeats, static_cast<std::uint32_t>(done.iterations));
            } else {
                EXPECT_EQ(block.repeats, static_cast<std::uint32_t>(done.iterations));
            }
        }
    }

    std::string error_of(const AirCapture& capture, const phy::Link& link, phy::ReceiveOptions options) {
        options.iterations = std::max(options.iterations, 1);
        try {
            received(capture, link, options);
        } catch (const phy::Error& error) {
            return error.what();
        }
        return "";
    }
};

TEST_F(Iterations, RecoverBlocksAndLoseNone) {
    const auto seed = random_seed();
    std::mt19937 random(seed);
    std::uint64_t without = 0;
    std::uint64_t after_one = 0;
    std::uint64_t after_three = 0;
    for (int trial = 0; trial < fewer_times(12); ++trial) {
        const AirCapture capture(two_layers(random));
        phy::ReceiveOptions options;
        options.writes_payload = true;
        options.format = phy::all_soft_bit_formats[random() % phy::all_soft_bit_formats.size()];
        options.pipeline.chunk = random() % 4;
        const phy::Reception plain = received(capture, capture.sent.link, options);
        const std::vector<std::byte> llr = written("/llr");
        const auto valid = [](const phy::Reception& done) { return done.valid_transport_blocks; };
        without += valid(plain);
        for (const int iterations : {1, 3}) {
            options.iterations = iterations;
            const phy::Reception done = received(capture, capture.sent.link, options);
            SCOPED_TRACE(std::to_string(iterations) + " iterations, trial " + std::to_string(trial) +
                         ", seed " + std::to_string(seed));
            (iterations == 1 ? after_one : after_three) += valid(done);
            EXPECT_TRUE(written("/llr") == llr);
            EXPECT_EQ(done.mean.evm, plain.mean.evm);
            expect_no_block_lost(plain, done, capture);
        }
    }
    if (!takes_fewer_cases()) {
        EXPECT_GT(after_one, without) << "seed " << seed;
    }
    EXPECT_GE(after_three, after_one) << "seed " << seed;
}

TEST_F(Iterations, AreRefusedWhereTheyChangeNothing) {
    std::mt19937 random(1);
    const AirCapture capture(two_layers(random));
    const phy::Link& link = capture.sent.link;
    EXPECT_EQ(error_of(capture, link, {}), "");
    phy::ReceiveOptions options;
    options.decodes = false;
    EXPECT_EQ(error_of(capture, link, options), "iterations: expected decodes too");
    options = {};
    options.iterations = 11;
    EXPECT_EQ(error_of(capture, link, options), "iterations 11: expected 0 to 10");
    options = {};
    options.joint_detection = false;
    const std::string needs_joint =
        "iterations: expected joint_detection too, which takes the decoder's priors";
    EXPECT_EQ(error_of(capture, link, options), needs_joint);
    options = {};
    options.equalization = phy::Equalization::zero_forcing;
    EXPECT_EQ(error_of(capture, link, options), needs_joint);
    options = {};
    options.llr.method = phy::Method::log_map;
    EXPECT_EQ(error_of(capture, link, options), "iterations: joint_detection with logmap: expected maxlog");
    phy::Link plain = link;
    plain.coding.reset();
    EXPECT_NE(error_of(capture, plain, {}).find("its link has no coding, which iterations need"),
              std::string::npos);
    phy::Link with_uci = link;
    with_uci.coding->uci = phy::LinkUci{.ack_bits = 5};
    EXPECT_NE(error_of(capture, with_uci, {}).find("iterations: the link has coding.uci: expected none"),
              std::string::npos);
    const AirCapture one_layer(coded_recording());
    EXPECT_EQ(error_of(one_layer, one_layer.sent.link, {}),
              "iterations: joint_detection with 1 layer: expected 2");
}

}  // namespace
