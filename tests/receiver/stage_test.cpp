// A receiver and a decoder as one stage.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/stage.hpp"
#include "receiver_cases.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::ReceiveAndDecodeStage;
using phy::ReceiverConfig;

/// Two layers of 16QAM on two antennas, in a grid.
ReceiveAndDecodeStage::Config iterating(phy::SoftBitFormat format, int iterations) {
    ReceiverConfig receiver = small_receiver(phy::ReceiverInput::grid, 2, 2);
    receiver.link.modulation = phy::Modulation::qam16;
    receiver.link.coding = {.code_rate = 0.6};
    receiver.joint_detection = true;
    receiver.format = format;
    return {.receive = {.receiver = receiver},
            .decode = {.decoder = {.block = transport_block_config(receiver.link), .format = format}},
            .iterations = iterations};
}

struct Decoded {
    std::vector<std::uint8_t> payload;
    std::vector<phy::DecodedBlock> results;

    friend bool operator==(const Decoded&, const Decoded&) = default;
};

/// By the operators. No block is one that was encoded: each iteration repeats all.
Decoded decoded_by_operators(const ReceiveAndDecodeStage::Config& config, const Transmission& sent) {
    phy::Receiver receiver(phy::Host(), config.receive.receiver);
    phy::TransportDecoder decode(phy::Host(), config.decode.decoder);
    Decoded decoded = {
        .payload = std::vector<std::uint8_t>(sent.slots * config.decode.decoder.block.size / 8),
        .results = std::vector<phy::DecodedBlock>(sent.slots)};
    std::vector<std::int8_t> extrinsic(sent.bits.size());
    const phy::SoftBitFormat format = config.decode.decoder.format;
    const Received first = receive(receiver, sent.input);
    decode({format, first.llr}, 0, decoded.payload, decoded.results, {}, extrinsic);
    for (int i = 0; i < config.iterations; ++i) {
        const Received again = receive(receiver, sent.input, 0, extrinsic);
        decode.decode_failed({format, again.llr}, 0, decoded.payload, decoded.results, extrinsic);
    }
    return decoded;
}

TEST(ReceiveAndDecodeStageTest, IteratesAsTheOperatorsDo) {
    const unsigned seed = phy_test::random_seed();
    for (const phy::SoftBitFormat format : {phy::SoftBitFormat::int8, phy::SoftBitFormat::float32}) {
        for (const int iterations : {0, 1, 3}) {
            const ReceiveAndDecodeStage::Config config = iterating(format, iterations);
            const Transmission sent = transmit(config.receive.receiver, {.snr_db = 14.0, .seed = seed}, 0, 7);
            const Decoded expected = decoded_by_operators(config, sent);
            phy::Receiver receiver(phy::Host(), config.receive.receiver);
            const Received received = receive(receiver, sent.input);
            for (const std::size_t chunk : {1U, 3U, 7U}) {
                ReceiveAndDecodeStage stage(config);
                phy::Pipeline pipeline({phy::Host()}, stage, {.chunk = chunk});
                Decoded got = {.payload = std::vector<std::uint8_t>(expected.payload.size()),
                               .results = std::vector<phy::DecodedBlock>(expected.results.size())};
                std::vector<std::byte> llr(received.llr.size());
                std::vector<phy::ReceivedSlot> slots(received.slots.size());
                phy::MemorySource source(stage.inputs(), {std::as_bytes(std::span(sent.input))});
                phy::MemorySink sink(stage.outputs(), {llr, std::as_writable_bytes(std::span(slots)),
                                                       std::as_writable_bytes(std::span(got.payload)),
                                                       std::as_writable_bytes(std::span(got.results))});
                pipeline.run(source, sink);
                EXPECT_TRUE(got == expected)
                    << iterations << " iterations, chunk " << chunk << ", seed " << seed;
                EXPECT_TRUE(llr == received.llr && slots == received.slots);
                EXPECT_EQ(got.results.front().repeats, static_cast<std::uint32_t>(iterations));
            }
        }
    }
}

TEST(ReceiveAndDecodeStageTest, RefusesWhatDoesNotFit) {
    const auto error_of = [](const ReceiveAndDecodeStage::Config& config) {
        try {
            const ReceiveAndDecodeStage stage(config);
        } catch (const phy::ArgumentError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto good = iterating(phy::SoftBitFormat::int8, 10);
    EXPECT_EQ(error_of(good), "");
    auto bad = good;
    bad.iterations = 11;
    EXPECT_EQ(error_of(bad), "iterations 11: expected 0 to 10");
    bad.iterations = -1;
    EXPECT_EQ(error_of(bad), "iterations -1: expected 0 to 10");
    bad = good;
    bad.receive.receiver.joint_detection = false;
    EXPECT_EQ(error_of(bad), "iterations without joint_detection, which takes the decoder's priors");
    bad.iterations = 0;
    EXPECT_EQ(error_of(bad), "");
    bad.decode.decoder.format = phy::SoftBitFormat::float16;
    EXPECT_EQ(error_of(bad), "decode.decoder.format: expected that of the receiver");
    bad = good;
    bad.receive.receiver.link.modulation = phy::Modulation::qam64;
    EXPECT_NE(error_of(bad).find("soft bits of a slot"), std::string::npos) << error_of(bad);
    bad = good;
    phy::Link with_uci = good.receive.receiver.link;
    with_uci.coding->uci = phy::LinkUci{.ack_bits = 5};
    bad.decode.decoder.block = transport_block_config(with_uci);
    bad.decode.uci = uci_config(with_uci);
    EXPECT_EQ(error_of(bad), "iterations with UCI: expected UL-SCH alone");
}

}  // namespace
